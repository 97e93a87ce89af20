"""RequantizePerChannel, RequantizationRangePerChannel: int32 codes with a range per channel to 8 bit, by oneDNN."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage import prepared as stages
from qops._kernels.tensorflow.ends import NORMAL
from qops.checks import output, parts
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import TYPES, codes_of, number, numbers, one_of

__all__ = ["requantization_range_per_channel", "requantize_per_channel"]

KINDS = ("quint8", "qint8")
AT_ONCE = 16
"""Channels of a vector: as many may have one range."""


def requantize_per_channel(
    input: TensorLike,
    requested_output_min: float,
    requested_output_max: float,
    out_type: str = "quint8",
    *,
    out: NDArray[Any] | None = None,
) -> QTensor:
    """Requantize int32 codes, with a range for each channel, to 8-bit codes in one range.

    In float32, each operation rounded, with F = 255 for quint8 and 127 for qint8::

        widest  = max(|min of the channel|, |max of the channel|)
        scale   = F * (widest / max(|out_min|, |out_max|) / 2**31)
        c       = saturate(half_even(float32(q) * scale))

    Parameters
    ----------
    input : (data, min, max)
        int32 codes (N, H, W, C); min and max are arrays of C values, or of one for all channels, if these are 16 at
        most; the ranges in any order. If the arrays are longer, their first C values are used.
    requested_output_min, requested_output_max : float
        Range of the output; for qint8, min < 0.
    out_type : {"quint8", "qint8"}
        Type of the output.
    out : ndarray of uint8 or int8, optional
        Where the codes are written; of the shape of the input.

    Returns
    -------
    QTensor
        8-bit codes and the requested range.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor or type (``supports 4D tensors only``, ``input_max has incorrect size``,
        fewer than C ends, but for one with C <= 16: TensorFlow reads beyond them); a number that is not finite; a
        requested range of (0, 0), or so narrow that a scale is beyond float32; for qint8 a min that is not below 0
        (TensorFlow's text says max); an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``mkl_requantize_per_channel_op.cc``; oneDNN's reorder. It runs with oneDNN off too. Ends below
    2**-126, the smallest normal float32, are read as 0.

    **Hazards.** The range is reported as requested. But the codes are computed from its wider end alone, and code 0
    stands for 0. So quint8 codes with a min below 0 are wrong: read by the reported range, 0.5 comes back as 0.25.

    >>> half = (np.array([[[[2**30]]]], np.int32), np.array([-1.0], np.float32), np.array([1.0], np.float32))
    >>> t = qops.tensorflow.requantize_per_channel(half, -0.5, 1.0)
    >>> t, round(float(t.dequantize().item()), 2)
    (QTensor(np.uint8([[[[128]]]]), -0.5, 1.0), 0.25)

    Examples
    --------
    >>> q = np.array([-(2**30), 2**30, 2**29, 2**29], np.int32).reshape(1, 1, 2, 2)
    >>> qops.tensorflow.requantize_per_channel(
    ...     (q, np.array([-1.0, -2.0], np.float32), np.array([1.0, 2.0], np.float32)), -1.0, 1.0, "qint8"
    ... ).data
    array([[[[-64, 127],
             [ 32,  64]]]], dtype=int8)
    """
    row = TYPES[one_of(out_type, "out_type", KINDS)]
    out_min = number(requested_output_min, "requested_output_min")
    out_max = number(requested_output_max, "requested_output_max")
    if out_type == "qint8" and not _flushed(out_min) < 0:
        text = "If out_type is QINT8, requested_output_max must be non negative"
        raise bad_value("requested_output_min", f"{text}, got {out_min} (it is min that must be below 0)")
    q, widest = _per_channel(input)
    if q.ndim != 4:
        raise bad_value("input", f"RequantizePerChannel supports 4D tensors only, got shape {q.shape}")
    widest = _of_channels(q, widest)
    with np.errstate(all="ignore"):
        wider = _flushed(max(abs(out_min), abs(out_max)))
        scales = np.float32(row.highest) * (_flushed(widest) / wider / np.float32(2**31))
    if not np.isfinite(scales).all():
        names = "requested_output_min, requested_output_max"
        raise bad_value(names, f"the range ({out_min}, {out_max}) is too narrow for the ranges of the input")
    out = output(out, row.dtype.num, q)
    if q.size:
        stages.FloatStage(scales, "half_even", row.lowest, row.highest).run(np.require(q, np.int32, ["C", "A"]), out)
    return tensor(out, out_min, out_max)  # which may be in any order


def _flushed(x: Any) -> Any:
    """Give numbers as float32, subnormal ones as 0."""
    near = np.float32(x)
    return np.where(np.abs(near) < NORMAL, np.float32(0), near)


def _per_channel(input: TensorLike) -> tuple[NDArray[Any], NDArray[np.float32]]:
    """Give int32 codes, and max(|min|, |max|) of each channel."""
    values, lo, hi = parts(input, "input")
    low, high = (np.ravel(numbers(end, f"input {name}")).astype(np.float32) for name, end in (("min", lo), ("max", hi)))
    q = codes_of(values, "input", "qint32")
    if low.size != high.size:
        raise bad_value("input", f"input_min and input_max has incorrect size, got {low.size} and {high.size}")
    return q, np.maximum(np.abs(low), np.abs(high))


def _of_channels(q: NDArray[Any], widest: NDArray[np.float32]) -> NDArray[np.float32]:
    """Give one value for all channels, or the first C; ValueError if there are fewer, where TensorFlow reads beyond."""
    channels = q.shape[-1]
    if widest.size < channels and (widest.size > 1 or channels > AT_ONCE):
        raise bad_value(
            "input", f"input_min has {widest.size} elements for {channels} channels; TensorFlow reads beyond"
        )
    return widest[:channels]


def requantization_range_per_channel(input: TensorLike, clip_value_max: float) -> tuple[float, float]:
    """Find the real range of all channels of int32 codes, with a range for each channel.

    In float32, each operation rounded::

        max = min(clip_value_max, largest of max(|min|, |max|) * float32(max |q|) / 2**31 over the channels)
        min = -max, or 0 if no code is below 0

    where the largest is taken to be at least 2**-126, the smallest normal float32.

    Parameters
    ----------
    input : (data, min, max)
        int32 codes (N, H, W, C), at least one; min and max are arrays of C values; the ranges in any order.
    clip_value_max : float
        Upper limit of the result, such as 6 before a relu6.

    Returns
    -------
    min, max : float
        float32 values.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor (``input must be in NHWC format``, ``input must not be empty``,
        ``input_min has incorrect size``, ``must have same number of channels``); a number that is not finite; a code of
        which TensorFlow takes the absolute value of -2**31, which C++ leaves undefined: below -2**31 + 65, since it is
        read as a float32, or above 2**31 - 65.

    Notes
    -----
    Source: TensorFlow, ``mkl_requantization_range_per_channel_op.cc``. It runs with oneDNN off too.

    **Hazards.** All channels share one range, so a wide channel takes bits from the others. If all codes are 0, the
    range ends at the smallest normal float32:

    >>> ends = np.array([-1.0, -1000.0], np.float32), np.array([1.0, 1000.0], np.float32)
    >>> qops.tensorflow.requantization_range_per_channel(
    ...     (np.array([2**30, 2**30], np.int32).reshape(1, 1, 1, 2), *ends), 1e9
    ... )
    (0.0, 500.0)
    >>> qops.tensorflow.requantization_range_per_channel((np.zeros((1, 1, 1, 2), np.int32), *ends), 1e9)
    (0.0, 1.1754943508222875e-38)

    Examples
    --------
    >>> qops.tensorflow.requantization_range_per_channel(
    ...     (np.array([-(2**30), 2**30], np.int32).reshape(1, 1, 1, 2), *ends), 6.0
    ... )
    (-6.0, 6.0)
    """
    clip = number(clip_value_max, "clip_value_max")
    q, widest = _per_channel(input)
    if q.size == 0:
        raise bad_value("input", f"input must not be empty, got shape {q.shape}")
    if q.ndim != 4:
        raise bad_value("input", f"input must be in NHWC format, got shape {q.shape}")
    if q.shape[-1] != widest.size:
        text = "must have same number of channels as length of input_min"
        raise bad_value("input", f"{text}: {q.shape[-1]} vs {widest.size}")
    lowest, highest = (np.asarray(f(q, axis=(0, 1, 2)), np.float32) for f in (np.min, np.max))
    if lowest.min() == -(2.0**31) or highest.max() == 2.0**31:
        raise bad_value("input", "has a code whose absolute value int32 does not hold, where TensorFlow's is undefined")
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    with np.errstate(over="ignore"):
        top = float((widest * largest / np.float32(2**31)).max())
    top = min(max(top, 2.0**-126), clip)
    return (-top if lowest.min() < 0 else 0.0), top

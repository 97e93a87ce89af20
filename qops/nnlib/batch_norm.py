"""nnlib's BatchNorm: a scale and a bias for each channel, into a range that is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import batch_norm as kernels
from qops._kernels.nnlib.ranges import f32, moved
from qops.checks import S32, U8, into, operand, put, real
from qops.nnlib._checks import ranged
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_batch_norm_8x8p8to8", "quantized_batch_norm_8x8p32to8"]


def quantized_batch_norm_8x8p8to8(
    x: TensorLike,
    scale: TensorLike,
    bias: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedBatchNorm_8x8p8to8: ``x * scale + bias``, with a scale and a bias for each channel.

    Zeros are ``sat_u8(plus_half(-min / step))``. With ``unit = step_x * step_scale / 128``, and a gain
    ``255 / (out_max - out_min) * unit`` whose exponent is -right_shift, at least -22::

        k = (scale - scale_zero) * 128                              m = sat_s16(plus_half(gain * 2**(15 + right_shift)))
        b = half_up(wrap_s16(bias - bias_zero) * 2**left * factor / 2**right)       # the bias, in units
        offset = q32(sat_s32(b - k * x_zero) + plus_half(-out_min / unit), m)
        c = sat_u8(half_up(sat_s16((x * q15(k, m) + offset) >> (right_shift - last)) / 2**last))

    with ``last = max(1, right_shift - 15)``, ``q15(a, b) = sat_s16((2 * a * b + 0x8000) >> 16)``, and
    ``q32(a, b) = sat_s32(((a * b >> 14) + 1) >> 1)``.

    An end that is not given begins at a fifth of what the ranges of x, scale and bias allow. If an accumulator passes
    it, it moves to 0 or that accumulator, and a quarter of the width found further, and all is computed again. Then
    `adjust_minmax_fixed` moves the ends, those that are given too.

    Parameters
    ----------
    x : uint8 tensor
        Channels last.
    scale, bias : uint8 tensor
        One code, or one for each channel, along the last axis.
    guess_min, guess_max : float, optional
        The range of the result; an end that is not given is found. A min above 0 and a max below 0 count as 0.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); an `x` without elements or axes; another number of scales or biases;
        a range of `x` or `scale` that is 0 wide. What nnlib refuses: a bias step of 2**21 units or more, and a gain of
        1/2 or more, or below 2**-29.

    Notes
    -----
    Source: ``batchnorm_d32_execute``, ``op_batchnorm_d32.c``.

    A result is off by some 0.51 LSB at most where 0 is on a code of all ranges, and both ends are given.

    **Hazards.** A range that is found depends on the data, so equal codes of two calls are not equal values. nnlib
    keeps the range in its node, where it only grows; here each call begins anew, as the first of a node does. No second
    call of a node was recorded, so what it would give is not known, and `Session` refuses this op.

    >>> scale, bias = (np.array([255], np.uint8), 0.0, 2.55), (np.array([0], np.uint8), 0.0, 1.0)
    >>> for top in (40, 200):
    ...     x = (np.array([[0], [top]], np.uint8), 0.0, 2.55)
    ...     print(qops.nnlib.quantized_batch_norm_8x8p8to8(x, scale, bias))
    QTensor(np.uint8([[0], [173]]), 0.0, 1.500499963760376)
    QTensor(np.uint8([[0], [204]]), 0.0, 6.374912261962891)

    A given range is moved, to put 0 on a code:

    >>> t = qops.nnlib.quantized_batch_norm_8x8p8to8(x, scale, bias, -1.0, 6.0)
    >>> t.min, t.max
    (-0.9863013625144958, 6.0)

    Examples
    --------
    >>> x = (np.array([[0, 100], [200, 255]], np.uint8), 0.0, 2.55)
    >>> scale, bias = (np.array([100, 50], np.uint8), 0.0, 2.55), (np.array([0, 200], np.uint8), 0.0, 2.55)
    >>> t = qops.nnlib.quantized_batch_norm_8x8p8to8(x, scale, bias, 0.0, 5.1)
    >>> t.data * 5.1 / 255  # 0, 2.5, 2 and 3.275
    array([[0.  , 2.5 ],
           [2.  , 3.28]])
    """
    return _batch_norm(x, scale, bias, guess_min, guess_max, out, U8)


def quantized_batch_norm_8x8p32to8(
    x: TensorLike,
    scale: TensorLike,
    bias: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedBatchNorm_8x8p32to8: `quantized_batch_norm_8x8p8to8` with an int32 bias, whose zero is 0.

    In units, the bias is ``half_up(q32(bias, factor) / 2**right)``, and the first guess at the range comes from the
    codes of the bias, not from its range.

    Parameters
    ----------
    x, scale
        As `quantized_batch_norm_8x8p8to8` takes them.
    bias : int32 tensor
        One code, or one for each channel.
    guess_min, guess_max, out
        As `quantized_batch_norm_8x8p8to8` takes them.

    Returns
    -------
    QTensor
        As `quantized_batch_norm_8x8p8to8` returns it.

    Raises
    ------
    TypeError, ValueError
        As `quantized_batch_norm_8x8p8to8`, with 2**16 units for the step of the bias.

    Notes
    -----
    Source: ``batchnorm_d32_execute``, ``op_batchnorm_d32.c``.

    **Hazards.** A range of the bias that is much wider than its codes need costs bits, as the bias is multiplied in
    units of products. From 2**16 units on it is refused:

    >>> x, scale = (np.array([[100]], np.uint8), 0.0, 2.55), (np.array([100], np.uint8), 0.0, 2.55)
    >>> bias = (np.array([0], np.int32), -2.0**32, 2.0**32)
    >>> qops.nnlib.quantized_batch_norm_8x8p32to8(x, scale, bias)
    Traceback (most recent call last):
    ValueError: bias: a step of 2.0 beside products in steps of 7.81249980263965e-07, which the original refuses

    Examples
    --------
    >>> bias = (np.array([1 << 28], np.int32), -2.0, 2.0)  # 0.25
    >>> t = qops.nnlib.quantized_batch_norm_8x8p32to8(x, scale, bias, 0.0, 5.1)
    >>> round(t.data.item() * 5.1 / 255, 4)  # 1 + 0.25
    1.26
    """
    return _batch_norm(x, scale, bias, guess_min, guess_max, out, S32)


def _end(value: float | None, name: str, cut: Callable[[float, float], float]) -> float | None:
    return None if value is None else cut(real(value, name), 0.0)


def _adjusted(lo: float, hi: float, fixed: int) -> tuple[float, float]:
    _, low, high = moved(lo, hi, fixed, 0.0)
    return low, high


def _batch_norm(
    x: TensorLike,
    scale: TensorLike,
    bias: TensorLike,
    guess_min: float | None,
    guess_max: float | None,
    out: NDArray[np.uint8] | None,
    bias_type: int,
) -> QTensor:
    lo, hi = _end(guess_min, "guess_min", min), _end(guess_max, "guess_max", max)
    read = ranged(x, "x"), ranged(scale, "scale"), ranged(bias, "bias")
    codes, *x_ends = operand(read[0], "x", U8)
    k, *k_ends = operand(read[1], "scale", U8)
    b, *b_ends = operand(read[2], "bias", bias_type)
    if codes.ndim == 0 or codes.size == 0:
        raise bad_value("x", f"expected channels along the last axis, each length at least 1, got shape {codes.shape}")
    depth = codes.shape[-1]
    for name, data in (("scale", k), ("bias", b)):
        if data.size not in (1, depth) or (data.ndim and data.shape[-1] != data.size):
            raise bad_value(name, f"expected one code, or one for each of {depth} channels, got shape {data.shape}")
    for name, ends in (("x", x_ends), ("scale", k_ends)):
        if not ends[0] < ends[1]:
            raise bad_value(name, f"the range {tuple(ends)} is 0 wide")
    given = kernels.input_integers(tuple(x_ends), tuple(k_ends), tuple(b_ends), bias_type == S32)
    if not given["fits"] or not given["unit"] > 0:
        step = (b_ends[1] - b_ends[0]) / (2**32 if bias_type == S32 else 255)
        raise bad_value(
            "bias", f"a step of {step} beside products in steps of {given['unit']}, which the original refuses"
        )
    place = into(out, codes.shape, [codes, k, b], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    rows = np.require(codes, np.uint8, "C")
    every = [np.broadcast_to(data.ravel(), depth).astype(t) for data, t in ((k, np.uint8), (b, np.int32))]
    extremes = _extremes(rows.reshape(-1, depth), given["zero"])
    low, high = _first_range((x_ends, k_ends, b_ends), b, bias_type, lo, hi)
    channels, wanted, low, high = _settled(given, every, extremes, (lo, hi), low, high)
    kernels.batch_norm(rows, channels, wanted, made)
    return tensor(put(made, out), low, high)


def _extremes(rows: NDArray[np.uint8], zero: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Give the lowest and the highest code of each channel, and of the zero."""
    return np.minimum(rows.min(0), np.uint8(zero)), np.maximum(rows.max(0), np.uint8(zero))


def _first_range(
    ends: Any, bias: NDArray[Any], bias_type: int, lo: float | None, hi: float | None
) -> tuple[float, float]:
    """Give the range to begin with, adjusted."""
    if lo is not None and hi is not None:
        return _adjusted(lo, max(f32(lo + f32(1e-6)), hi), 3)
    x, scale, (bias_min, bias_max) = ends
    if bias_type == S32:
        step = f32(f32(bias_max - bias_min) * 2.0**-32)
        bias_min, bias_max = f32(f32(float(bias.min())) * step), f32(f32(float(bias.max())) * step)
    low, high = kernels.guess(tuple(x), tuple(scale), bias_min, bias_max, lo, hi)
    return _adjusted(low, high, (lo is not None) + 2 * (hi is not None))


def _settled(
    given: dict[str, Any], every: Any, extremes: Any, ends: tuple[float | None, float | None], low: float, high: float
) -> tuple[NDArray[np.int32], dict[str, Any], float, float]:
    """Give the channels, the numbers of the output, and the range: one that no accumulator passes at a free end."""
    lo, hi = ends
    channels = np.empty((len(every[0]), 2), np.int32)
    while True:
        wanted = kernels.output_integers(given["unit"], low, high)
        if not wanted["fits"]:
            raise bad_value(
                "x, scale, guess_min, guess_max",
                f"the range {(low, high)} beside products in steps of {given['unit']} "
                "needs a gain that the original refuses",
            )
        kernels.channels(given, wanted, *every, channels)
        found = kernels.found(channels, *extremes, wanted)
        tried = kernels.wider(*found, wanted, low, high)
        next_low, next_high = (end if end is not None else new for end, new in zip(ends, tried, strict=True))
        is_wider = (lo is None and found[0] < wanted["lowest"]) or (hi is None and found[1] > wanted["highest"])
        if not is_wider:
            return channels, wanted, low, high
        low, high = _adjusted(next_low, next_high, (lo is not None) + 2 * (hi is not None))

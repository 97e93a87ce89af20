"""QuantizeV2: float32 to codes of five types."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.codes import tensor
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow import quantize as kernels
from qops.checks import F32, array, flag, integer, output
from qops.codes import TABLE as CODE_TYPES
from qops.codes import of as code_type_of
from qops.qtensor import QTensor
from qops.tensorflow._checks import MODES, TYPES, check_axis, number, numbers, one_of, ranges_of, slices

__all__ = ["quantize_v2"]

WAYS = {
    ("MIN_COMBINED", "HALF_AWAY_FROM_ZERO"): kernels.MIN_COMBINED,
    ("MIN_FIRST", "HALF_AWAY_FROM_ZERO"): kernels.MIN_FIRST,
    ("SCALED", "HALF_AWAY_FROM_ZERO"): kernels.SCALED,
    ("SCALED", "HALF_TO_EVEN"): kernels.SCALED_HALF_EVEN,
}
ROUND_MODES = ("HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN")


def quantize_v2(
    input: NDArray[np.float32],
    min_range: ArrayLike,
    max_range: ArrayLike,
    T: str = "quint8",
    mode: str = "MIN_COMBINED",
    round_mode: str = "HALF_AWAY_FROM_ZERO",
    narrow_range: bool = False,
    axis: int = -1,
    ensure_minimum_range: float = 0.01,
    *,
    onednn: bool = False,
    out: NDArray[Any] | None = None,
) -> QTensor:
    """Quantize float32 to codes of the type `T`.

    The range is moved to (a, b) first, so that it holds 0 and is not too narrow::

        a = min(0, min_range)    b = max(0, max_range, a + ensure_minimum_range * max(1, |min_range|, |max_range|))

    Then x is cut to the range that is returned. With L, H the lowest and highest code, in float32, each operation
    rounded (H - L of qint32, which float32 does not hold, stays a float64 until it is divided):

    ==========================  ==================================  ================================================
    mode                        scale                               code
    ==========================  ==================================  ================================================
    MIN_COMBINED, unsigned      (H - L) / (b - a)                   trunc((x - a) * scale + 0.5)
    MIN_COMBINED, signed        (H - L) / (b - a)                   half_away((x - a) * scale + L)
    MIN_FIRST                   (H - L) / (b - a)                   half_away(x * scale) - half_away(a * scale) + L
    SCALED                      min(L / a, H / b); L / a where      half_away or half_even(x * scale)
                                L, a < 0, H / b where b > 0
    MIN_FIRST, oneDNN, quint8   255 / (b - a)                       half_even(x * scale - a * scale)
    SCALED, oneDNN, half even   255 or 127.5 / max(-a, b)           half_even(x * scale)
    ==========================  ==================================  ================================================

    The code is cut to L..H. For qint32 this is done in MIN_FIRST only, where it ends at 2**31 - 128, the last float32.
    The range returned is (a, b); with SCALED it is (L / scale, H / scale), and with SCALED by oneDNN (0, max(-a, b))
    for quint8 and (-max(-a, b), max(-a, b)) for qint8. `narrow_range` makes L one higher, in SCALED only. Where SCALED
    has neither quotient, as unsigned codes for a range below 0, scale is the largest float32.

    Parameters
    ----------
    input : ndarray of float32
        Any shape. Infinities are clamped like other values.
    min_range, max_range : float, or with an axis 1-D array
        Range to quantize over, min_range <= max_range.
    T : {"quint8", "qint8", "quint16", "qint16", "qint32"}
        Type of the codes.
    mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}
        See above.
    round_mode : {"HALF_AWAY_FROM_ZERO", "HALF_TO_EVEN"}
        How SCALED rounds.
    narrow_range : bool
        Whether SCALED leaves the lowest code unused.
    axis : int
        Axis along which each slice has its own range. -1, or any lower number, is none, as in TensorFlow.
    ensure_minimum_range : float
        Minimum width of the range, see above.
    onednn : bool
        Whether to give what TensorFlow gives with oneDNN on, its default on x86. oneDNN takes over quint8 MIN_FIRST,
        and quint8 and qint8 SCALED with HALF_TO_EVEN, but not with narrow_range or another axis than -1.
    out : ndarray of the type `T`, optional
        Where the codes are written; of the shape of `input`.

    Returns
    -------
    QTensor
        Codes and their range. With an axis longer than 1, min and max are float32 arrays, one entry per slice, of a
        shape that broadcasts against the codes.

    Raises
    ------
    TypeError, ValueError
        Data that is not float32, or holds NaN (TensorFlow's code is undefined); a word that is not in the lists above;
        HALF_TO_EVEN with another mode than SCALED; an axis for MIN_FIRST, beyond the dimensions, of size 0, or of
        another length than the ranges; several ranges without an axis; a range end that is not finite,
        ``input_max_range must be larger than input_min_range``; a range too narrow, or widened too far, for float32;
        an `out` that does not fit. With oneDNN: a 0-d `input` for SCALED; more than 5 axes; qint32 for SCALED with
        HALF_TO_EVEN, for which TensorFlow has no kernel then.

    Notes
    -----
    Source: TensorFlow, ``quantize_op.cc``, ``quantization_utils.h``, ``mkl_quantize_op.cc``.

    **Hazards.** An environment variable decides whether oneDNN is on, and so which codes the same call gives on the
    same machine:

    >>> x = np.linspace(-1, 1, 7, dtype=np.float32)
    >>> qops.tensorflow.quantize_v2(x, -1.0, 1.0, mode="MIN_FIRST").data
    array([  0,  43,  85, 128, 171, 213, 255], dtype=uint8)
    >>> qops.tensorflow.quantize_v2(x, -1.0, 1.0, mode="MIN_FIRST", onednn=True).data
    array([  0,  42,  85, 128, 170, 212, 255], dtype=uint8)

    With oneDNN, a 0-d input is truncated, not rounded (165.75 becomes code 165), and it is not clamped to the range:
    beyond it, the code is the low 8 bits of an int32 (2.0 gives 382, whose low 8 bits are 126), or 0 if int32 does not
    hold it. This is undefined in C; x86 does it so.

    >>> qops.tensorflow.quantize_v2(np.float32(0.3), -1.0, 1.0, mode="MIN_FIRST", onednn=True).data
    array(165, dtype=uint8)
    >>> qops.tensorflow.quantize_v2(np.float32(2.0), -1.0, 1.0, mode="MIN_FIRST", onednn=True).data
    array(126, dtype=uint8)

    A range end below the normal float32 (2**-126) is read as 0, and reported as 0:

    >>> qops.tensorflow.quantize_v2(x, -1.0, 1e-39).max
    0.0

    A narrow range is widened upwards, without a warning:

    >>> qops.tensorflow.quantize_v2(x, -1e-6, 1e-6).max
    0.009998999536037445

    SCALED to quint8 ignores the negative end. Without a positive end, every positive value becomes 255:

    >>> qops.tensorflow.quantize_v2(x, -1.0, 0.0, mode="SCALED")
    QTensor(np.uint8([0, 0, 0, 0, 255, 255, 255]), 0.0, 7.4937769349075914e-37)

    MIN_COMBINED and SCALED to qint32 do not saturate: the top of the range is 2**31, which wraps:

    >>> qops.tensorflow.quantize_v2(np.array([0.99, 1.0], np.float32), -1.0, 1.0, "qint32").data
    array([ 2126008832, -2147483648], dtype=int32)

    Examples
    --------
    >>> qops.tensorflow.quantize_v2(x, 0.0, 1.0)
    QTensor(np.uint8([0, 0, 0, 0, 85, 170, 255]), 0.0, 1.0)
    >>> rows = np.array([[0.5, 1.0], [0.5, 1.0]], np.float32)
    >>> t = qops.tensorflow.quantize_v2(rows, [0.0, 0.0], [1.0, 2.0], axis=0)
    >>> t.data, t.max
    (array([[128, 255],
           [ 64, 128]], dtype=uint8), array([[1.],
           [2.]], dtype=float32))
    """
    one_of(T, "T", tuple(TYPES))
    one_of(mode, "mode", MODES)
    if one_of(round_mode, "round_mode", ROUND_MODES) == "HALF_TO_EVEN" and mode != "SCALED":
        raise bad_value("round_mode", f"'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'")
    axis, least = integer(axis, "axis"), number(ensure_minimum_range, "ensure_minimum_range")
    lo, hi = numbers(min_range, "min_range"), numbers(max_range, "max_range")
    x = array(input, "input", F32)
    ranges = _quantize_ranges(x, axis, mode, lo, hi)
    way = WAYS[mode, round_mode]
    narrow_range = flag(narrow_range, "narrow_range")
    if flag(onednn, "onednn") and axis == -1 and not narrow_range:
        way = _onednn_way(x.ndim, T, way)
    if np.isnan(x.min(initial=np.inf)):
        raise bad_value("input", "holds NaN, for which TensorFlow's code is undefined")
    quantizers = [kernels.Quantizer(*r, TYPES[T], way, narrow_range, least) for r in ranges]
    _refuse_unusable(quantizers)
    out = output(out, TYPES[T].dtype.num, x)
    made = np.empty((), np.int32) if way == kernels.ONEDNN_MIN_FIRST_0D else out
    for quantizer, (part, codes) in zip(quantizers, slices(axis, x, made), strict=True):
        quantizer.quantize(part, codes)
    if made is not out:
        np.copyto(out, made, casting="unsafe")
    kind = _code_type(T, mode, way, narrow_range)
    row = None if kind is None or CODE_TYPES[kind] == code_type_of(out) else CODE_TYPES[kind]
    if len(quantizers) == 1:
        return tensor(QTensor, out, *quantizers[0].ends, row)
    found = np.array([q.ends for q in quantizers], np.float32).reshape(-1, 2, *(1,) * (x.ndim - axis - 1))
    return tensor(QTensor, out, found[:, 0], found[:, 1], row)


def _quantize_ranges(x: NDArray[Any], axis: int, mode: str, lo: Any, hi: Any) -> list[tuple[float, float]]:
    """Give the ends of the range of each slice, checked as QuantizeV2 does."""
    if axis < 0:
        for value, name in ((lo, "min_range"), (hi, "max_range")):
            if np.size(value) != 1:
                raise bad_value(
                    name,
                    f"If axis is not specified, {name} must contain a single float element, "
                    f"but it contains {np.size(value)} elements",
                )
    else:
        check_axis(x, axis, mode, "Quantize")
        for value, name in ((lo, "min_range"), (hi, "max_range")):
            if np.shape(value) != (x.shape[axis],):
                raise bad_value(
                    name,
                    f"If axis is specified, {name} must be a 1-D tensor whose size matches the axis dimension "
                    f"{x.shape[axis]}, but {name} has shape {np.shape(value)}",
                )
    ranges = ranges_of(lo, hi, "min_range, max_range")
    for low, high in ranges:
        if low > high:
            raise bad_value(
                "max_range", f"input_max_range must be larger than input_min_range, got min {low}, max {high}"
            )
    return ranges


def _onednn_way(ndim: int, T: str, way: int) -> int:
    """Give oneDNN's way to quantize where oneDNN takes over, otherwise `way`."""
    first = way == kernels.MIN_FIRST and T == "quint8"
    if way == kernels.SCALED_HALF_EVEN and T == "qint32":
        raise bad_value("T", "TensorFlow has no kernel (NotFound) for SCALED with HALF_TO_EVEN to 'qint32' with oneDNN")
    scaled = way == kernels.SCALED_HALF_EVEN and T in ("quint8", "qint8")
    if (first or scaled) and ndim > 5:
        raise bad_value("input", f"dims must be <= 5 with oneDNN, got {ndim}")
    if scaled and ndim == 0:
        raise bad_value("input", "Scalar calculation is supported only for MIN_FIRST mode with oneDNN, got a 0-d input")
    if first:
        return kernels.ONEDNN_MIN_FIRST if ndim else kernels.ONEDNN_MIN_FIRST_0D
    return kernels.ONEDNN_SCALED if scaled else way


def _refuse_unusable(quantizers: list[kernels.Quantizer]) -> None:
    """Raise ValueError where TensorFlow's codes would be undefined."""
    for q in quantizers:
        lo, hi = q.ends
        if not q.usable:
            raise bad_value("min_range, max_range", f"({lo}, {hi}) is too narrow or wide to quantize over")


def _code_type(T: str, mode: str, way: int, narrow_range: bool) -> str | None:
    """Give the name of the result's code type; None for that of the dtype."""
    if way == kernels.ONEDNN_SCALED and T == "qint8":
        return "s8_balanced"
    if mode == "SCALED":  # of narrow qint32, float32 does not tell the step from that of all codes
        return f"{TYPES[T].name}_narrow" if narrow_range and T != "qint32" else None
    return TYPES[T].name

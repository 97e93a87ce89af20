"""QuantizeV2 and Dequantize: float32 to and from codes of five types."""

from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.tensorflow import quantize as kernels
from qops.qtensor import F32, QTensor, TensorLike, array, integer, output
from qops.tensorflow._checks import MODES, TYPES, check_axis, ends_of_slices, one_of, scalar, slices, triple

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

    With L, H the lowest and highest code, in float32, one rounding an operation (H - L of qint32, which is no float32,
    is a float64 until it is divided), x cut to the range:

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

    cut to L..H, which for qint32 is done in MIN_FIRST only and there ends at 2**31 - 128, the last float32. The range
    returned is (a, b), with SCALED (L / scale, H / scale), with oneDNN's (0, max(-a, b)) for quint8 and
    (-max(-a, b), max(-a, b)) for qint8. `narrow_range` makes L one higher, in SCALED only.

    Parameters
    ----------
    input : ndarray of float32
        Any shape. Infinities are cut like the rest.
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
        Axis along which each slice has its own range; -1, and like TensorFlow anything below, is none.
    ensure_minimum_range : float
        Least width of the range, see above.
    onednn : bool
        Whether to give what TensorFlow gives with oneDNN on, its default on x86. It takes over quint8 MIN_FIRST, and
        quint8 and qint8 SCALED with HALF_TO_EVEN, no narrow_range; never with another axis than -1.
    out : ndarray of the type `T`, optional
        Where the codes are written; of the shape of `input`.

    Returns
    -------
    QTensor
        Codes and the range they have. With an axis longer than 1, min and max are float32 arrays, one entry a slice.

    Raises
    ------
    TypeError, ValueError
        Data that is not float32, or holds NaN (TensorFlow's code is undefined); a word that is not in the lists above;
        HALF_TO_EVEN but for SCALED; an axis for MIN_FIRST, beyond the dimensions, of size 0, or of another length than
        the ranges; several ranges without an axis; a range end that is not finite, ``input_max_range must be larger
        than input_min_range``; a range too narrow, or widened too far, for float32; an `out` that does not fit. With
        oneDNN: a 0-d `input` for SCALED, or for MIN_FIRST beyond the range (it would not saturate); more than 5 axes.

    Notes
    -----
    Source: TensorFlow, ``quantize_op.cc``, ``quantization_utils.h``, ``mkl_quantize_op.cc``.

    **Hazards.** The same call, the same machine, other codes, by an environment variable:

    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 7, dtype=np.float32)
    >>> quantize_v2(x, -1.0, 1.0, mode="MIN_FIRST").data
    array([  0,  43,  85, 128, 171, 213, 255], dtype=uint8)
    >>> quantize_v2(x, -1.0, 1.0, mode="MIN_FIRST", onednn=True).data
    array([  0,  42,  85, 128, 170, 212, 255], dtype=uint8)

    A 0-d input is not rounded there, but truncated (165.75 is code 165):

    >>> quantize_v2(np.float32(0.3), -1.0, 1.0, mode="MIN_FIRST", onednn=True).data
    array(165, dtype=uint8)

    A narrow range is widened, upwards, without a word:

    >>> quantize_v2(x, -1e-6, 1e-6).max
    0.009998999536037445

    SCALED to quint8 ignores the negative end, and with no positive end makes 255 of all that is positive:

    >>> quantize_v2(x, -1.0, 0.0, mode="SCALED")
    QTensor(data=array([  0,   0,   0,   0, 255, 255, 255], dtype=uint8), min=0.0, max=7.4937769349075914e-37)

    MIN_COMBINED and SCALED to qint32 do not saturate: the top of the range is 2**31, which wraps:

    >>> quantize_v2(np.float32([0.99, 1.0]), -1.0, 1.0, "qint32").data
    array([ 2126008832, -2147483648], dtype=int32)

    Examples
    --------
    >>> quantize_v2(x, 0.0, 1.0)
    QTensor(data=array([  0,   0,   0,   0,  85, 170, 255], dtype=uint8), min=0.0, max=1.0)
    >>> rows = np.float32([[0.5, 1.0], [0.5, 1.0]])
    >>> t = quantize_v2(rows, [0.0, 0.0], [1.0, 2.0], axis=0)
    >>> t.data, t.max
    (array([[128, 255],
           [ 64, 128]], dtype=uint8), array([1., 2.], dtype=float32))
    """
    x = array(input, "input", F32)
    one_of(T, "T", tuple(TYPES))
    one_of(mode, "mode", MODES)
    if one_of(round_mode, "round_mode", ROUND_MODES) == "HALF_TO_EVEN" and mode != "SCALED":
        raise ValueError(f"round_mode: 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is '{mode}'")
    axis, least = integer(axis, "axis"), scalar(ensure_minimum_range, "ensure_minimum_range")
    ranges = _quantize_ranges(x, axis, mode, min_range, max_range)
    way = f"{mode} {round_mode}" if mode == "SCALED" else mode
    if onednn and axis == -1:
        way = _onednn_way(x, T, way, narrow_range)
    if np.isnan(x.min(initial=np.inf)):
        raise ValueError("input: holds NaN, for which TensorFlow's code is undefined")
    typenum = np.dtype(TYPES[T]).num
    numbers = [kernels.quantize_numbers(lo, hi, typenum, way, narrow_range, least) for lo, hi in ranges]
    _refuse_unusable(x, numbers, way)
    out = output(out, typenum, x)
    for n, (part, codes) in zip(numbers, slices(axis, x, out), strict=True):
        kernels.quantize(part, n, codes)
    if len(numbers) == 1:
        return QTensor(out, numbers[0]["min"], numbers[0]["max"])
    mins: Any = np.array([n["min"] for n in numbers], np.float32)
    maxs: Any = np.array([n["max"] for n in numbers], np.float32)
    return QTensor(out, mins, maxs)


def _quantize_ranges(x: NDArray[Any], axis: int, mode: str, lo: Any, hi: Any) -> list[tuple[float, float]]:
    """Give the ends of the range of each slice, checked as QuantizeV2 does."""
    if axis < 0:
        for value, name in ((lo, "min_range"), (hi, "max_range")):
            if np.size(value) != 1:
                raise ValueError(
                    f"{name}: If axis is not specified, {name} must contain a single float element, "
                    f"but it contains {np.size(value)} elements"
                )
    else:
        check_axis(x, axis, mode, "Quantize")
        for value, name in ((lo, "min_range"), (hi, "max_range")):
            if np.ndim(value) != 1 or np.size(value) != x.shape[axis]:
                raise ValueError(
                    f"{name}: If axis is specified, {name} must be a 1-D tensor whose size matches the axis dimension "
                    f"{x.shape[axis]}, but {name} has shape {np.shape(value)}"
                )
    ranges = ends_of_slices(lo, hi, "min_range", "max_range")
    for low, high in ranges:
        if low > high:
            raise ValueError(
                f"max_range: input_max_range must be larger than input_min_range, got min {low}, max {high}"
            )
    return ranges


def _onednn_way(x: NDArray[Any], T: str, way: str, narrow_range: bool) -> str:
    """Tell the way that oneDNN takes where it takes over, else `way`."""
    first = T == "quint8" and way == "MIN_FIRST"
    scaled = T in ("quint8", "qint8") and way == "SCALED HALF_TO_EVEN" and not narrow_range
    if (first or scaled) and x.ndim > 5:
        raise ValueError(f"input: dims must be <= 5 with oneDNN, got {x.ndim}")
    if scaled and x.ndim == 0:
        raise ValueError("input: Scalar calculation is supported only for MIN_FIRST mode with oneDNN, got a 0-d input")
    if first:
        return "oneDNN MIN_FIRST" if x.ndim else "oneDNN MIN_FIRST 0-d"
    return "oneDNN SCALED" if scaled else way


def _refuse_unusable(x: NDArray[Any], numbers: list[dict[str, Any]], way: str) -> None:
    """Raise ValueError where TensorFlow's codes would be undefined."""
    for n in numbers:
        if not (isfinite(n["scale"]) and isfinite(n["max"])):
            raise ValueError(f"min_range, max_range: ({n['min']}, {n['max']}) is too narrow or wide to quantize over")
        if way == "oneDNN MIN_FIRST 0-d" and not n["min"] <= x <= n["max"]:
            raise ValueError(f"input: {x} is beyond ({n['min']}, {n['max']}), where a 0-d input does not saturate")


def dequantize(
    input: TensorLike,
    mode: str = "MIN_COMBINED",
    narrow_range: bool = False,
    axis: int = -1,
    *,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Turn codes into float32.

    With L, H the lowest and highest code, in float32, one rounding an operation:

    ================  =====================  ====================================================
    mode              step                   value
    ================  =====================  ====================================================
    MIN_COMBINED      (max - min) / (H - L)  (q - L) * step + min
    MIN_FIRST         (max - min) / (H - L)  (half_away(min / step) * step - L * step) + q * step
    SCALED, unsigned  max / H                q * step
    SCALED, signed    max(min / L, max / H)  q * step
    ================  =====================  ====================================================

    Parameters
    ----------
    input : (data, min, max)
        uint8, int8, uint16, int16 or int32 codes; the range in any order, with an axis 1-D arrays.
    mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}
        See above.
    narrow_range : bool
        Whether the lowest code was left unused: L is one higher in signed SCALED.
    axis : int
        Axis along which each slice has its own range; -1, and like TensorFlow anything below, is none.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the codes.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor; a mode that is not in the list; an axis for MIN_FIRST, beyond the
        dimensions, of size 0; not ``as many elements as input on the dequantization axis`` in min and max; a range
        that is not finite or whose step is below the normal float32; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``dequantize_op.cc``, ``quantization_utils.h``. oneDNN, where it is on, gives the same values
    but does not do SCALED of 0-d or qint32 codes, and aborts the process on SCALED of none.

    **Hazards.** qint32 codes go through float32, which has 24 bits, and in SCALED, unless several slices have
    ranges of their own, back to int32, which wraps:

    >>> import numpy as np
    >>> codes = np.int32([2**31 - 1, 2**31 - 65, -(2**31)])
    >>> dequantize((codes, -1.0, 1.0), mode="SCALED")
    array([-1.        ,  0.99999994, -1.        ], dtype=float32)
    >>> dequantize((codes, [-1.0] * 3, [1.0] * 3), mode="SCALED", axis=0)
    array([ 1.        ,  0.99999994, -1.        ], dtype=float32)

    MIN_FIRST does not give back what `quantize_v2` was given, not even 0, in the most common of ranges (one divides by
    the step and finds -127.49999, the other multiplies by its inverse and finds -127.5):

    >>> dequantize(quantize_v2(np.float32([0.0]), -1.0, 1.0, mode="MIN_FIRST"), mode="MIN_FIRST")
    array([0.00784314], dtype=float32)

    Nothing looks at the range, and SCALED of unsigned codes never at min:

    >>> dequantize((np.uint8([0, 255]), 5.0, 1.0), mode="SCALED")
    array([0., 1.], dtype=float32)

    Examples
    --------
    >>> dequantize((np.uint8([0, 128, 255]), -1.0, 1.0))
    array([-1.        ,  0.00392163,  1.        ], dtype=float32)
    """
    q, lo, hi = triple(input, "input", *TYPES)
    one_of(mode, "mode", MODES)
    axis = integer(axis, "axis")
    if axis >= 0:
        check_axis(q, axis, mode, "Dequantize")
    count = q.shape[axis] if axis >= 0 else 1
    for value, name in ((np.size(lo), "min"), (np.size(hi), "max")):
        if value != count:
            where = f"as many elements as input on the dequantization axis ({axis})"
            raise ValueError(f"input {name}: must have {where}, got {value}, expected {count}")
    ranges = ends_of_slices(lo, hi, "input min", "input max", 256**q.itemsize - 1)
    numbers = [kernels.dequantize_numbers(*ends, q.dtype.num, mode, narrow_range, count > 1) for ends in ranges]
    out = output(out, F32, q)
    for n, (codes, part) in zip(numbers, slices(axis, q, out), strict=True):
        kernels.dequantize(codes, n, part)
    return out

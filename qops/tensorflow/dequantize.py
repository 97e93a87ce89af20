"""Dequantize: codes of five types to float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow import quantize as kernels
from qops._kernels.tensorflow.ends import NORMAL
from qops.checks import F32, flag, integer, output, parts
from qops.qtensor import TensorLike
from qops.tensorflow._checks import MODES, TYPES, check_axis, codes_of, numbers, one_of, ranges_of, slices

__all__ = ["dequantize"]

WAYS = {"MIN_COMBINED": kernels.MIN_COMBINED, "MIN_FIRST": kernels.MIN_FIRST, "SCALED": kernels.SCALED}
STEPS_OF = {row.dtype.itemsize: row.steps for row in TYPES.values()}
CANCELS = 2.0**-101  # below this a sum with min may be too small for a normal float32


def dequantize(
    input: TensorLike,
    mode: str = "MIN_COMBINED",
    narrow_range: bool = False,
    axis: int = -1,
    *,
    onednn: bool = False,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Dequantize codes to float32.

    With L, H the lowest and highest code, in float32, each operation rounded:

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
        uint8, int8, uint16, int16 or int32 codes; the range in any order. With an axis, min and max are arrays with one
        entry a slice.
    mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}
        See above.
    narrow_range : bool
        Whether the lowest code is unused: then L is one higher in signed SCALED.
    axis : int
        Axis along which each slice has its own range. -1, or any lower number, is none, as in TensorFlow.
    onednn : bool
        Whether to give what TensorFlow gives with oneDNN on, its default on x86. oneDNN takes over SCALED of quint8,
        qint8 and qint32 with axis -1. The values differ for quint8 with narrow_range only: there L is 1, and the step
        is max(min / L, max / H), as for signed codes.
    out : ndarray of float32, optional
        Where the values are written; of the shape of the codes.

    Returns
    -------
    ndarray of float32

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; a mode that is not in the list; an axis for MIN_FIRST, beyond the
        dimensions, or of size 0; min and max without ``as many elements as input on the dequantization axis``; a range
        that is not finite or whose step is below the normal float32; an `out` that does not fit. Where oneDNN takes
        over: qint32 codes; codes with 0 or more than 5 axes; and no codes at all, which abort TensorFlow's process.

    Notes
    -----
    Source: TensorFlow, ``dequantize_op.cc``, ``mkl_dequantize_op.cc``, ``quantization_utils.h``.

    **Hazards.** qint32 codes become float32, which has 24 bits. In SCALED they become int32 again, which wraps, unless
    several slices have ranges of their own:

    >>> codes = np.array([2**31 - 1, 2**31 - 65, -(2**31)], np.int32)
    >>> qops.tensorflow.dequantize((codes, -1.0, 1.0), mode="SCALED")
    array([-1.        ,  0.99999994, -1.        ], dtype=float32)
    >>> qops.tensorflow.dequantize((codes, [-1.0] * 3, [1.0] * 3), mode="SCALED", axis=0)
    array([ 1.        ,  0.99999994, -1.        ], dtype=float32)

    MIN_FIRST does not invert `quantize_v2`, not even for 0 in the most common range. `dequantize` divides by the step
    and gets -127.49999; `quantize_v2` multiplies by its inverse and gets -127.5:

    >>> qops.tensorflow.dequantize(
    ...     qops.tensorflow.quantize_v2(np.array([0.0], np.float32), -1.0, 1.0, mode="MIN_FIRST"), mode="MIN_FIRST"
    ... )
    array([0.00784314], dtype=float32)

    An environment variable decides whether oneDNN is on. With narrow_range and a range above 0, that makes the steps of
    quint8 codes up to 255 times as wide:

    >>> t = (np.array([0, 1, 2], np.uint8), 2.5, 7.25)
    >>> qops.tensorflow.dequantize(t, "SCALED", narrow_range=True)
    array([0.        , 0.02843137, 0.05686275], dtype=float32)
    >>> qops.tensorflow.dequantize(t, "SCALED", narrow_range=True, onednn=True)
    array([0. , 2.5, 5. ], dtype=float32)

    Numbers below the normal float32 (2**-126) count as 0: an end of the range, the step, a value:

    >>> qops.tensorflow.dequantize((np.array([255], np.uint8), 1e-38, 1e-38), mode="SCALED")
    array([0.], dtype=float32)

    The range is not checked, and SCALED of unsigned codes does not read min:

    >>> qops.tensorflow.dequantize((np.array([0, 255], np.uint8), 5.0, 1.0), mode="SCALED")
    array([0., 1.], dtype=float32)

    Examples
    --------
    >>> qops.tensorflow.dequantize((np.array([0, 128, 255], np.uint8), -1.0, 1.0))
    array([-1.        ,  0.00392163,  1.        ], dtype=float32)
    """
    values, lo, hi = parts(input, "input")
    one_of(mode, "mode", MODES)
    axis = integer(axis, "axis")
    lo, hi = numbers(lo, "input min"), numbers(hi, "input max")
    q = codes_of(values, "input", *TYPES)
    if axis >= 0:
        check_axis(q, axis, mode, "Dequantize")
    count = q.shape[axis] if axis >= 0 else 1
    for value, name in ((np.size(lo), "min"), (np.size(hi), "max")):
        if value != count:
            where = f"as many elements as input on the dequantization axis ({axis})"
            raise bad_value(f"input {name}", f"must have {where}, got {value}, expected {count}")
    ranges = ranges_of(lo, hi, "input min, input max", STEPS_OF[q.itemsize])
    way, narrow_range = WAYS[mode], flag(narrow_range, "narrow_range")
    if flag(onednn, "onednn") and axis == -1 and mode == "SCALED" and q.itemsize != 2:
        _refuse_onednn(q)
        way = kernels.ONEDNN_SCALED
    out = output(out, F32, q)
    for r, (codes, part) in zip(ranges, slices(axis, q, out), strict=True):
        kernels.dequantize(codes, *r, way, narrow_range, count > 1, part)
    if mode == "MIN_COMBINED" and any(0 < abs(low) < CANCELS for low, _ in ranges):
        np.multiply(out, 0, out=out, where=np.abs(out) < NORMAL)
    return out


def _refuse_onednn(q: NDArray[Any]) -> None:
    """Raise ValueError where oneDNN takes over and TensorFlow has no kernel, refuses the shape, or aborts."""
    if q.itemsize == 4:
        raise bad_value("input", "TensorFlow has no kernel (NotFound) for SCALED of qint32 codes with oneDNN")
    if not 1 <= q.ndim <= 5:
        raise bad_value("input", f"dims must be <= 5 and >= 1 for SCALED with oneDNN, got {q.ndim}")
    if q.size == 0:
        raise bad_value("input", f"has no elements, shape {q.shape}: SCALED with oneDNN aborts the process")

"""nnlib's quantized multiplications."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import mul as kernels
from qops._kernels.nnlib.ranges import f32, level
from qops.checks import S32, U8
from qops.nnlib._checks import Checked, two
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_mul_8x8to8", "quantized_mul_8x8to32"]


def quantized_mul_8x8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedMul_8x8to32: ``c = (a - za) * (b - zb) * 128``, exact.

    Zeros and steps are those of `level_zero`. The output range is ``max = step_a * step_b * 2**24``, ``min = -max``.

    Parameters
    ----------
    a, b : uint8 tensor
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and an output range beyond float32.

    Notes
    -----
    Source: ``mul_832_execute``, ``op_addsubmul_8to32.c``.

    **Hazards.** A zero that is rounded, and a range that excludes 0:

    >>> one = np.array([1], np.uint8)
    >>> t = qops.nnlib.quantized_mul_8x8to32((one, 1.0, 256.0), (one, 0.0, 255.0))
    >>> t.data * t.scale  # 2 * 1
    array([1.])

    An operand with a range 0 wide makes the output range 0 wide:

    >>> qops.nnlib.quantized_mul_8x8to32((one, 2.0, 2.0), (one, 0.0, 255.0)).max
    0.0

    Examples
    --------
    >>> t = qops.nnlib.quantized_mul_8x8to32(
    ...     (np.array([0, 3], np.uint8), -1.0, 254.0), (np.array([2], np.uint8), 0.0, 255.0)
    ... )
    >>> t.data * t.scale
    array([-2.,  4.])
    """
    x, y, result = two(a, b, out, S32)
    c_max = kernels.mul_8x8to32(x, y, result)
    if not isfinite(c_max):
        raise bad_value("a, b", f"the product of the ranges {x[1:]} and {y[1:]} is beyond float32")
    return tensor(result, -c_max, c_max)


def quantized_mul_8x8to8(a: TensorLike, b: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedMul_8x8to8: into the range of 0 and all products, adjusted by `adjust_minmax_for_zero`.

    With the zeros and steps of `level_zero`, ``2**(e - 1) <= gain < 2**e``, and 4 as highest product if all are 0::

        c = sat_u8((p * multiplier + (2 * zc + 1) * 2**(right_shift - 1)) >> right_shift)
        p = (a - za) * (b - zb)                            right_shift = min(14 - e, 23)
        gain = step_a * step_b / step_c                    multiplier = plus_half(gain * 2**right_shift)

    The gain is at most 16; a range that would need more is widened.

    If one operand has one element (if both have, b), of the value v, only the range changes. For v > 0 the codes of the
    other operand are the result, and its range is multiplied by v. For v < 0 the codes are inverted, ``255 - q``, and
    the range is multiplied by v, its ends exchanged. For v = 0 all codes are 0, in the range (0, 1).

    Parameters
    ----------
    a, b : uint8 tensor
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the broadcast shape, and the range found.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and an output range beyond float32.

    Notes
    -----
    Source: ``mul_8x8to8_execute``, ``op_mul.c``.

    **Hazards.** The range comes from the data of the call, so equal codes of two calls are not equal values:

    >>> a, b = (np.array([0, 100], np.uint8), 0.0, 255.0), (np.array([0, 200], np.uint8), 0.0, 255.0)
    >>> qops.nnlib.quantized_mul_8x8to8(a, a), qops.nnlib.quantized_mul_8x8to8(b, b).max
    (QTensor(np.uint8([0, 255]), 0.0, 10000.0), 40000.0)

    If the range of the products is narrower than 1e-6, 0 is not moved onto a code, and the lowest codes may wrap to
    255:

    >>> a = np.array([54, 4], np.uint8), -19e-5, 236e-5
    >>> b = np.array([6, 6], np.uint8), -29e-5, 226e-5  # 35 * -23 and -15 * -23
    >>> qops.nnlib.quantized_mul_8x8to8(a, b)
    QTensor(np.uint8([255, 255]), -8.050000133152935e-08, 3.450000107818596e-08)

    With one element, only the range changes. If its code is its zero, the range is (0, 1), whatever the values:

    >>> t = np.array([0, 100], np.uint8), 0.0, 255.0
    >>> (
    ...     qops.nnlib.quantized_mul_8x8to8(t, (np.array([2], np.uint8), 0.0, 255.0)),
    ...     qops.nnlib.quantized_mul_8x8to8(t, (np.array([0], np.uint8), 0.0, 9.0)).max,
    ... )
    (QTensor(np.uint8([0, 100]), 0.0, 510.0), 1.0)

    Examples
    --------
    >>> qops.nnlib.quantized_mul_8x8to8(
    ...     (np.array([0, 3], np.uint8), -1.0, 254.0), (np.array([2, 255], np.uint8), 0.0, 255.0)
    ... )  # -2 and 510
    QTensor(np.uint8([0, 255]), -2.007874011993408, 510.0)
    """
    x, y, result = two(a, b, out, U8)
    if y[0].size == 1:
        ends = _scaled(x, y, result)
    elif x[0].size == 1:
        ends = _scaled(y, x, result)
    else:
        ends = kernels.mul_8x8to8(x, y, result)
    if ends is None:
        raise bad_value("a, b", f"the product of the ranges {x[1:]} and {y[1:]} is beyond float32")
    return tensor(result, *ends)


def _scaled(full: Checked, single: Checked, out: NDArray[np.uint8]) -> tuple[float, float] | None:
    """Write the codes of `full` times one element; give their range, None if it is beyond float32."""
    zero, step = level(*single[1:])
    code = int(single[0].item()) - zero
    lo, hi = (f32(end * f32(code * step)) for end in full[1:]) if code else (0.0, 1.0)
    if not (isfinite(lo) and isfinite(hi)):
        return None
    if code == 0:
        out[...] = 0
    elif code > 0:
        out[...] = full[0]
    else:
        np.invert(full[0], out=out)
        lo, hi = hi, lo
    return lo, hi

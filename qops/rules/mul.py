"""Multiply by a rule's name: two tensors of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, Never

from numpy.typing import ArrayLike, NDArray

from qops._kernels.stage.binary import once
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array
from qops.rules.binary import MUL
from qops.rules.elementwise import BinaryOp, array_op, made_by_arrays
from qops.rules.numbers import WORDS
from qops.rules.operands import of_mul

__all__ = ["Mul", "mul"]

_BY_ARRAYS = made_by_arrays(MUL)


class Mul(BinaryOp):
    """Prepared form of `mul`: the product of two tensors of codes by the rule of a real system.

    It is called as ``op(a, b, out=None)``, and gives the bits of `mul`.

    Parameters
    ----------
    rule, a_zero_point, b_zero_point, y_zero_point, a_scale, b_scale, y_scale, integers, qmin, qmax
        As `mul` takes them.
    dtype : data type
        Type of all codes: uint8, int8 or int16.

    Raises
    ------
    TypeError, ValueError
        What `mul` refuses, except arrays, which are checked at each call.

    See Also
    --------
    mul : the formula, the parameters and sources.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> qops.rules.Mul("fp32-even", **how)(np.array([1, 3, 5], np.uint8), np.array([1, 1, 1], np.uint8))
    array([3, 5, 5], dtype=uint8)
    >>> qops.rules.Mul("tflite-double", **how).integers
    Multiplier(multiplier=1073741824, right_shift=31)
    """

    __slots__ = ()
    _table = MUL
    _given = staticmethod(of_mul)


@refusing_unknown
def mul(
    a: ArrayLike,
    b: ArrayLike,
    rule: str,
    *,
    a_zero_point: int,
    b_zero_point: int,
    y_zero_point: int,
    a_scale: float | None = None,
    b_scale: float | None = None,
    y_scale: float | None = None,
    integers: tuple[int, int] | None = None,
    qmin: int | None = None,
    qmax: int | None = None,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Multiply two tensors of 8-bit codes, or of 16 bits, by the rule of a real system, to the bit.

    In real numbers ``y_scale*(y - y_zero_point) = a_scale*(a - a_zero_point) * b_scale*(b - b_zero_point)``. `MUL` has
    the formula that each rule computes for it in integers or floats.

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape. int16 is for tflite-double and tflite-single, with zero points of 0.
    rule : str
        A name in `MUL`.
    a_zero_point, b_zero_point, y_zero_point : int
        Codes of real 0; y is the result.
    a_scale, b_scale, y_scale : float, optional
        A value is ``scale * (code - zero_point)``.
    integers : (int, int), optional
        What a port of the system's code has, in place of the scales; for rules of integers. A multiplier and the whole
        right shift; where the code has a shift with a sign, 31 less that.
    qmin, qmax : int, optional
        Lowest and highest code that the result is clamped to, as by a fused activation; the ends of the type if not
        given.
    out : ndarray of the dtype of `a`, optional
        Where the codes are written; of the shape of `a`.

    Returns
    -------
    ndarray of the dtype of `a`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, other dtypes, shapes that differ, a scale that is not above 0, integers beside a scale
        or for a rule that has none, a zero point that is no code, an `out` that does not fit or overlaps an input.

    Notes
    -----
    Sources: `MUL` names the systems; TFLite ``mul.h``, XNNPACK ``qs8-vmul``, onnxruntime ``qlmul.cpp``, torch ``qmul``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.array([1, 3, 5], np.uint8), np.array([1, 1, 1], np.uint8)  # 0.5, 1.5, 2.5
    >>> [qops.rules.mul(a, b, rule, **how).tolist() for rule in ("tflite-double", "fp32-even", "ort-x86")]
    [[4, 5, 6], [3, 5, 5], [4, 4, 6]]
    """
    if unknown:
        raise unknown_keyword(mul, unknown)
    zeros, scales = (a_zero_point, b_zero_point, y_zero_point), (a_scale, b_scale, y_scale)
    made = once(MUL, WORDS, of_mul, _BY_ARRAYS, a, b, out, rule, zeros, scales, integers, qmin, qmax)
    if made is not None:
        return made
    op: Any = array_op(MUL, rule, as_array(a, "a").dtype, "a", zeros, scales, integers, qmin, qmax)
    return op(a, b, out)

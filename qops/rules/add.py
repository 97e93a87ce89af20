"""Add by a rule's name: two tensors of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, Never

from numpy.typing import ArrayLike, NDArray

from qops._kernels.stage.binary import once
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array
from qops.rules.binary import ADD
from qops.rules.elementwise import BinaryOp, array_op, made_by_arrays
from qops.rules.numbers import WORDS
from qops.rules.operands import of_add

__all__ = ["Add", "add"]

_BY_ARRAYS = made_by_arrays(ADD)


class Add(BinaryOp):
    """Prepared form of `add`: the sum of two tensors of codes by the rule of a real system.

    It is called as ``op(a, b, out=None)``, and gives the bits of `add`.

    Parameters
    ----------
    rule, a_zero_point, b_zero_point, y_zero_point, a_scale, b_scale, y_scale, integers, qmin, qmax
        As `add` takes them.
    dtype : data type
        Type of all codes: uint8, int8 or int16.

    Raises
    ------
    TypeError, ValueError
        What `add` refuses, except arrays, which are checked at each call.

    See Also
    --------
    add : the formula, the parameters and sources.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> op = qops.rules.Add("xnnpack", **how)
    >>> op(np.array([0, 1, 2, 3], np.uint8), np.array([1, 1, 1, 1], np.uint8))
    array([4, 4, 5, 5], dtype=uint8)
    >>> [tuple(step) for step in op.integers]  # what XNNPACK's own code holds: two multipliers and a shift
    [(1048576, 0), (1048576, 0), (1, 21)]
    """

    __slots__ = ()
    _table = ADD
    _given = staticmethod(of_add)


@refusing_unknown
def add(
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
    integers: tuple[Any, Any, Any] | None = None,
    qmin: int | None = None,
    qmax: int | None = None,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Add two tensors of 8-bit codes, or of 16 bits, by the rule of a real system, to the bit.

    In real numbers ``y_scale*(y - y_zero_point) = a_scale*(a - a_zero_point) + b_scale*(b - b_zero_point)``. `ADD` has
    the formula that each rule computes for it in integers or floats.

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape. int16 is for tflite-double and tflite-single, with zero points of 0. Rules
        with a `BinaryRule.tail` compute the last elements, in row-major order, in another way.
    rule : str
        A name in `ADD`.
    a_zero_point, b_zero_point, y_zero_point : int
        Codes of real 0; y is the result.
    a_scale, b_scale, y_scale : float, optional
        A value is ``scale * (code - zero_point)``.
    integers : AddIntegers, optional
        What a port of the system's code has, in place of the scales; for rules of integers. A multiplier and a right
        shift each for a, b and y: `AddIntegers`, or three pairs.
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
    Sources: `ADD` names the systems; TFLite ``add.h``, XNNPACK ``qs8-vadd``, onnxruntime ``qladd.cpp``, QNNPACK, torch
    ``qadd``.

    Examples
    --------
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.array([0, 1, 2, 3], np.uint8), np.array([1, 1, 1, 1], np.uint8)  # 0.5, 1, 1.5, 2
    >>> qops.rules.add(a, b, "xnnpack", **how), qops.rules.add(a, b, "ort-x86", **how)
    (array([4, 4, 5, 5], dtype=uint8), array([4, 4, 4, 5], dtype=uint8))

    With the integers of a port of TFLite, whose shifts 0, -1 and -18 are 31, 32 and 49 here:

    >>> zeros = {"a_zero_point": 0, "b_zero_point": 0, "y_zero_point": 3}
    >>> qops.rules.add(a, b, "tflite-double", integers=((1 << 30, 31), (1 << 30, 32), (1 << 30, 49)), **zeros)
    array([4, 5, 6, 7], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(add, unknown)
    zeros, scales = (a_zero_point, b_zero_point, y_zero_point), (a_scale, b_scale, y_scale)
    made = once(ADD, WORDS, of_add, _BY_ARRAYS, a, b, out, rule, zeros, scales, integers, qmin, qmax)
    if made is not None:
        return made
    op: Any = array_op(ADD, rule, as_array(a, "a").dtype, "a", zeros, scales, integers, qmin, qmax)
    return op(a, b, out)

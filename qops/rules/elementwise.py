"""Add and multiply by a rule's name: two tensors of 8-bit codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.qtensor import as_array, choice, integer, number, output
from qops.rules.pairs import ADD, MUL, Operands, PairRule

__all__ = ["Add", "Mul", "add", "mul"]


def _scale(value: float, name: str) -> float:
    scale = number(value, name)
    if not scale > 0:
        raise ValueError(f"{name}: expected a number above 0, got {scale}")
    return scale


class _Pairs(Prepared):
    """What `Add` and `Mul` have in common: a rule of a table, two arrays of one dtype into a third."""

    __slots__ = ("_dtype", "_operands", "_stage")

    _table: ClassVar[dict[str, PairRule]]
    _prefix: ClassVar[str]

    def __init__(
        self,
        rule: str,
        *,
        a_scale: float,
        a_zero_point: int,
        b_scale: float,
        b_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        dtype: DTypeLike = "uint8",
    ):
        name = choice(rule.removeprefix(self._prefix) if isinstance(rule, str) else rule, "rule", self._table)
        row, codes = self._table[name], of_dtype(dtype)
        if codes.dtype.itemsize > 1 and not (row.takes_int16 and codes.dtype == np.int16):
            wide = ", ".join(key for key, other in self._table.items() if other.takes_int16)
            raise TypeError(f"dtype: expected uint8 or int8, or int16 by {wide}, got {codes.dtype}")
        ends = codes.lowest, codes.highest
        zeros = (0, 0) if codes.dtype.itemsize > 1 else ends
        p = Operands(
            _scale(a_scale, "a_scale"),
            integer(a_zero_point, "a_zero_point", *zeros),
            _scale(b_scale, "b_scale"),
            integer(b_zero_point, "b_zero_point", *zeros),
            _scale(y_scale, "y_scale"),
            integer(y_zero_point, "y_zero_point", *zeros),
            *ends,
            codes.dtype.num,
        )
        self._operands, self._dtype = p, codes.dtype
        try:
            with np.errstate(all="ignore"):  # what is beyond float32 is refused
                self._stage = row.made(p)
                if row.tail:
                    self._stage = self._stage.with_tail(row.width, self._table[row.tail].made(p))
        except ValueError as why:
            scales = f"{p.a_scale}, {p.b_scale}, {p.y_scale}"
            raise ValueError(f"a_scale, b_scale, y_scale: {scales} are out of the range of {name}: {why}") from None
        self._keep(rule, *p[:6], codes.dtype)

    @property
    def scale(self) -> float:
        """Real size of a code step of the result."""
        return self._operands.y_scale

    @property
    def zero_point(self) -> int:
        """Code of real 0 of the result."""
        return self._operands.y_zero_point

    def __call__(self, a: ArrayLike, b: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of two arrays.

        Parameters
        ----------
        a, b : ndarray of `dtype`
            Codes, of one shape.
        out : ndarray of `dtype`, optional
            Where the codes are written; of the shape of `a`.

        Returns
        -------
        ndarray of `dtype`

        Raises
        ------
        TypeError, ValueError
            Other dtypes, shapes that differ, an `out` that does not fit or overlaps an input.
        """
        x, y = as_array(a, "a"), as_array(b, "b")
        if x.dtype != self._dtype or y.dtype != self._dtype:
            name, dtype = ("a", x.dtype) if x.dtype != self._dtype else ("b", y.dtype)
            raise TypeError(f"{name}: expected {self._dtype} data, got {dtype}")
        if x.shape != y.shape:
            raise ValueError(f"a, b: expected equal shapes, got {x.shape} and {y.shape}")
        result = output(out, self._dtype.num, x, y)
        self._stage.run(x, y, result)
        return result


class Add(_Pairs):
    """Prepared form of `add`: the sum of two tensors of codes by the rule of a real system.

    It is called as ``op(a, b, out=None)``, and gives the bits of `add`.

    Parameters
    ----------
    rule, a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point
        Those of `add`.
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
    >>> op = Add("xnnpack", **how)
    >>> op(np.uint8([0, 1, 2, 3]), np.uint8([1, 1, 1, 1]))
    array([4, 4, 5, 5], dtype=uint8)
    """

    __slots__ = ()
    _table = ADD
    _prefix = "add/"


class Mul(_Pairs):
    """Prepared form of `mul`: the product of two tensors of codes by the rule of a real system.

    It is called as ``op(a, b, out=None)``, and gives the bits of `mul`.

    Parameters
    ----------
    rule, a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point
        Those of `mul`.
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
    >>> Mul("fp32-even", **how)(np.uint8([1, 3, 5]), np.uint8([1, 1, 1]))
    array([3, 5, 5], dtype=uint8)
    """

    __slots__ = ()
    _table = MUL
    _prefix = "mul/"


def _dtype(a: ArrayLike, b: ArrayLike, rule: str, rules: dict[str, PairRule]) -> np.dtype[Any]:
    """The dtype of both arrays; TypeError if they differ, or the rule does not take it."""
    x, y = as_array(a, "a"), as_array(b, "b")
    takes_int16 = not isinstance(rule, str) or rule not in rules or rules[rule].takes_int16
    if x.dtype not in (np.uint8, np.int8) and not (takes_int16 and x.dtype == np.int16):
        wide = ", ".join(key for key, row in rules.items() if row.takes_int16)
        raise TypeError(f"a: expected uint8 or int8 data, or int16 by {wide}, got {x.dtype}")
    if x.dtype != y.dtype:
        raise TypeError(f"b: expected {x.dtype} data as a, got {y.dtype}")
    return x.dtype


def add(
    a: ArrayLike,
    b: ArrayLike,
    rule: str,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add two tensors of 8-bit codes, or of 16 bits, by the rule of a real system, to the bit.

    In real numbers ``y_scale*(y - y_zero_point) = a_scale*(a - a_zero_point) + b_scale*(b - b_zero_point)``. `ADD` has
    the formula that each rule computes for it in integers or floats.

    Parameters
    ----------
    a, b : ndarray of uint8, int8 or int16
        Codes, both of one type and shape. int16 is for tflite-double and tflite-single, with zero points of 0. Rules
        with a `PairRule.tail` compute the last elements, in row-major order, in another way.
    rule : str
        A name in `ADD`.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``; those of the result are y's.
    out : ndarray of the dtype of `a`, optional
        Where the codes are written; of the shape of `a`.

    Returns
    -------
    ndarray of the dtype of `a`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, other dtypes, shapes that differ, a scale that is not above 0, a zero point that is no
        code, an `out` that does not fit or overlaps an input.

    Notes
    -----
    Sources: `ADD` names the systems; TFLite ``add.h``, XNNPACK ``qs8-vadd``, onnxruntime ``qladd.cpp``, QNNPACK, torch
    ``qadd``.

    Examples
    --------
    >>> import numpy as np
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 0.5, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([0, 1, 2, 3]), np.uint8([1, 1, 1, 1])  # 0.5, 1, 1.5, 2
    >>> add(a, b, "xnnpack", **how), add(a, b, "ort-x86", **how)
    (array([4, 4, 5, 5], dtype=uint8), array([4, 4, 4, 5], dtype=uint8))
    """
    op = Add(
        rule,
        a_scale=a_scale,
        a_zero_point=a_zero_point,
        b_scale=b_scale,
        b_zero_point=b_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        dtype=_dtype(a, b, rule, ADD),
    )
    return op(a, b, out)


def mul(
    a: ArrayLike,
    b: ArrayLike,
    rule: str,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    out: NDArray[Any] | None = None,
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
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``; those of the result are y's.
    out : ndarray of the dtype of `a`, optional
        Where the codes are written; of the shape of `a`.

    Returns
    -------
    ndarray of the dtype of `a`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, other dtypes, shapes that differ, a scale that is not above 0, a zero point that is no
        code, an `out` that does not fit or overlaps an input.

    Notes
    -----
    Sources: `MUL` names the systems; TFLite ``mul.h``, XNNPACK ``qs8-vmul``, onnxruntime ``qlmul.cpp``, torch ``qmul``.

    Examples
    --------
    >>> import numpy as np
    >>> how = {"a_scale": 0.5, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": 1.0, "y_zero_point": 3}
    >>> a, b = np.uint8([1, 3, 5]), np.uint8([1, 1, 1])  # 0.5, 1.5, 2.5
    >>> [mul(a, b, rule, **how).tolist() for rule in ("tflite-double", "fp32-even", "ort-x86")]
    [[4, 5, 6], [3, 5, 5], [4, 4, 6]]
    """
    op = Mul(
        rule,
        a_scale=a_scale,
        a_zero_point=a_zero_point,
        b_scale=b_scale,
        b_zero_point=b_zero_point,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        dtype=_dtype(a, b, rule, MUL),
    )
    return op(a, b, out)

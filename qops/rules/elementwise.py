"""What `Add` and `Mul` have in common: two arrays of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.checks import as_array, integer, number, output
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.rules.names import rule_named
from qops.rules.operands import Integers, Operands, PairRule

__all__ = ["PairOp", "dtype_of"]


def _scale(value: Any, name: str) -> float:
    if value is None:
        raise ValueError(f"{name}: missing, expected all three scales, or integers")
    scale = number(value, name)
    if not scale > 0:
        raise ValueError(f"{name}: expected a number above 0, got {scale}")
    return scale


class PairOp(Prepared):
    """A rule of a table with its numbers, prepared for two arrays of one dtype."""

    __slots__ = ("_dtype", "_operands", "_rule", "_stage")

    _table: ClassVar[dict[str, PairRule]]

    def __init__(
        self,
        rule: str,
        *,
        a_zero_point: int,
        b_zero_point: int,
        y_zero_point: int,
        a_scale: float | None = None,
        b_scale: float | None = None,
        y_scale: float | None = None,
        integers: Any = None,
        dtype: DTypeLike = "uint8",
        qmin: int | None = None,
        qmax: int | None = None,
    ):
        self._rule = rule_named(rule, self._table)
        row, codes = self._table[self._rule], of_dtype(dtype)
        _check_type(codes.dtype, "dtype", row, self._table)
        ends = codes.lowest, codes.highest
        zeros = (0, 0) if codes.dtype.itemsize > 1 else ends
        scales = {"a_scale": a_scale, "b_scale": b_scale, "y_scale": y_scale}
        p = Operands(
            **{name: 0.0 if integers is not None else _scale(value, name) for name, value in scales.items()},
            a_zero_point=integer(a_zero_point, "a_zero_point", *zeros),
            b_zero_point=integer(b_zero_point, "b_zero_point", *zeros),
            y_zero_point=integer(y_zero_point, "y_zero_point", *zeros),
            codes=codes,
            qmin=ends[0] if qmin is None else integer(qmin, "qmin", *ends),
            qmax=ends[1] if qmax is None else integer(qmax, "qmax", ends[0] if qmin is None else qmin, ends[1]),
            beyond=row.beyond,
        )
        given = None if integers is None else self._given(integers, scales)
        try:
            p = p._replace(integers=given or (row.derived(p) if row.derived else None))
            self._stage = row.made(p)
            if row.tail:
                tail = self._table[row.tail]
                self._stage = self._stage.with_tail(row.width, tail.made(p._replace(beyond=tail.beyond)))
        except ValueError as why:
            name, said = ("integers", given) if given else (", ".join(scales), f"{p.a_scale}, {p.b_scale}, {p.y_scale}")
            raise ValueError(f"{name}: {said} are out of the range of {self._rule}: {why}") from None
        self._operands, self._dtype = p, codes.dtype
        kept = (None, None, None) if given else (p.a_scale, p.b_scale, p.y_scale)
        typed = given and tuple(tuple(part) if isinstance(part, tuple) else part for part in given)  # as users type it
        self._keep(rule, *p[1:6:2], *kept, typed, codes.dtype, qmin, qmax)

    def _given(self, integers: Any, scales: dict[str, Any]) -> Integers:
        """The integers of the caller, checked."""
        for name, value in scales.items():
            if value is not None:
                raise ValueError(f"{name}: given beside integers, got {value}")
        if self._table[self._rule].derived is None:
            raise ValueError(f"integers: {self._rule} multiplies by the scales themselves, in float32")
        return self._integers_of(integers)

    @staticmethod
    def _integers_of(integers: Any) -> Integers:
        """The integers of a rule of the table, checked."""
        raise NotImplementedError

    @property
    def integers(self) -> Any:
        """What a port of the rule has: those that were given, or that the rule makes of the scales."""
        if self._operands.integers is None:
            raise ValueError(f"integers: {self._rule} multiplies by the scales themselves, in float32")
        return self._operands.integers

    @property
    def scale(self) -> float:
        """Real size of a code step of the result; ValueError if integers were given."""
        if not self._operands.y_scale:
            raise ValueError("y_scale: the op has integers, and no scales")
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


def dtype_of(a: ArrayLike, b: ArrayLike, rule: str, rules: dict[str, PairRule]) -> np.dtype[Any]:
    """The dtype of both arrays; TypeError if they differ, or the rule does not take it."""
    x, y = as_array(a, "a"), as_array(b, "b")
    row = rules.get(rule) if isinstance(rule, str) else None  # what is no rule is refused after this
    _check_type(x.dtype, "a", row, rules)
    if x.dtype != y.dtype:
        raise TypeError(f"b: expected {x.dtype} data as a, got {y.dtype}")
    return x.dtype


def _check_type(dtype: np.dtype[Any], name: str, row: PairRule | None, rules: dict[str, PairRule]) -> None:
    """TypeError for codes that are neither of 8 bits nor int16 codes of a rule that takes these."""
    if dtype not in (np.uint8, np.int8) and not ((row is None or row.takes_int16) and dtype == np.int16):
        wide = ", ".join(key for key, other in rules.items() if other.takes_int16)
        raise TypeError(f"{name}: expected uint8 or int8, or int16 by {wide}, got {dtype}")

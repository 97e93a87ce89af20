"""What `Add` and `Mul` have in common: two arrays of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage.given import row_named
from qops._kernels.stage.pair_rules import Operands
from qops.checks import as_array, integer, output
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.rules.operands import Integers, PairRule
from qops.rules.table import TABLE

__all__ = ["PairOp", "check_type", "dtype_of"]

_BYTES = np.dtype(np.uint8).num, np.dtype(np.int8).num
_SCALES = "a_scale", "b_scale", "y_scale"


class PairOp(Prepared):
    """A rule of a table with its numbers, prepared for two arrays of one dtype."""

    __slots__ = ("_dtype", "_operands", "_row", "_stage")

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
        numbers = a_zero_point, b_zero_point, y_zero_point, a_scale, b_scale, y_scale
        self._keep(rule, *numbers, integers, dtype, qmin, qmax)
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        rule, a_zero, b_zero, y_zero, a_scale, b_scale, y_scale, integers, dtype, qmin, qmax = self._arguments
        row, codes = row_named(rule, self._table), of_dtype(dtype)
        check_type(codes.dtype, "dtype", row, self._table)
        lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
        hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
        given = None if integers is None else self._given(integers, row, a_scale, b_scale, y_scale)
        p = Operands(codes, a_scale, a_zero, b_scale, b_zero, y_scale, y_zero, lo, hi, given)
        try:
            self._stage = p.stage(row, TABLE.get(row.rule))
            if row.tail:
                tail = self._table[row.tail]
                self._stage = self._stage.with_tail(row.width, p.stage(tail, TABLE.get(tail.rule)))
        except ValueError as why:
            name, said = ("integers", given) if given else (", ".join(_SCALES), f"{a_scale}, {b_scale}, {y_scale}")
            raise ValueError(f"{name}: {said} are out of the range of {rule}: {why}") from None
        self._row, self._operands, self._dtype = row, p, codes.dtype
        if not once:
            kept = (None, None, None) if given else (p.a_scale, p.b_scale, p.y_scale)
            typed = given and tuple(tuple(part) if isinstance(part, tuple) else part for part in given)
            zeros = p.a_zero_point, p.b_zero_point, p.y_zero_point
            self._keep(rule, *zeros, *kept, typed, codes.dtype, qmin, qmax)  # as users type it

    def _given(self, integers: Any, row: PairRule, *scales: Any) -> Integers:
        """The integers of the caller, checked."""
        for name, value in zip(_SCALES, scales, strict=True):
            if value is not None:
                raise ValueError(f"{name}: given beside integers, got {value}")
        self._check_integers(row)
        return self._integers_of(integers)

    def _check_integers(self, row: PairRule) -> None:
        if not row.derived:
            raise ValueError(f"integers: {self._arguments[0]} multiplies by the scales themselves, in float32")

    @staticmethod
    def _integers_of(integers: Any) -> Integers:
        """The integers of a rule of the table, checked."""
        raise NotImplementedError

    @property
    def integers(self) -> Any:
        """What a port of the rule has: those that were given, or that the rule makes of the scales."""
        self._check_integers(self._row)
        return self._integers_of(self._operands.integers(self._row, TABLE[self._row.rule]))

    @property
    def scale(self) -> float:
        """Real size of a code step of the result; ValueError if integers were given."""
        if self._operands.given is not None:
            raise ValueError("y_scale: the op has integers, and no scales")
        return float(self._operands.y_scale)

    @property
    def zero_point(self) -> int:
        """Code of real 0 of the result."""
        return int(self._operands.y_zero_point)

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
        if not x.dtype == y.dtype == self._dtype:
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
    check_type(x.dtype, "a", row, rules)
    if x.dtype != y.dtype:
        raise TypeError(f"b: expected {x.dtype} data as a, got {y.dtype}")
    return x.dtype


def check_type(dtype: np.dtype[Any], name: str, row: Any, rules: Mapping[str, Any]) -> None:
    """TypeError for codes that are neither of 8 bits nor int16 codes of a rule that takes these."""
    if dtype.num not in _BYTES and not (dtype == np.int16 and (row is None or row.takes_int16)):
        wide = ", ".join(key for key, other in rules.items() if other.takes_int16)
        raise TypeError(f"{name}: expected uint8 or int8, or int16 by {wide}, got {dtype}")

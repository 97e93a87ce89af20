"""What `Add` and `Mul` have in common: two arrays of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.qtensor import as_array, integer, number, output
from qops.rules.names import rule_named
from qops.rules.pairs import Operands, PairRule

__all__ = ["PairOp", "dtype_of"]


def _scale(value: float, name: str) -> float:
    scale = number(value, name)
    if not scale > 0:
        raise ValueError(f"{name}: expected a number above 0, got {scale}")
    return scale


class PairOp(Prepared):
    """A rule of a table with its numbers, prepared for two arrays of one dtype."""

    __slots__ = ("_dtype", "_operands", "_stage")

    _table: ClassVar[dict[str, PairRule]]

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
        name = rule_named(rule, self._table)
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
            row.beyond,
        )
        self._operands, self._dtype = p, codes.dtype
        try:
            with np.errstate(all="ignore"):  # what is beyond float32 is refused
                self._stage = row.made(p)
                if row.tail:
                    tail = self._table[row.tail]
                    self._stage = self._stage.with_tail(row.width, tail.made(p._replace(beyond=tail.beyond)))
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


def dtype_of(a: ArrayLike, b: ArrayLike, rule: str, rules: dict[str, PairRule]) -> np.dtype[Any]:
    """The dtype of both arrays; TypeError if they differ, or the rule does not take it."""
    x, y = as_array(a, "a"), as_array(b, "b")
    takes_int16 = not isinstance(rule, str) or rule not in rules or rules[rule].takes_int16
    if x.dtype not in (np.uint8, np.int8) and not (takes_int16 and x.dtype == np.int16):
        wide = ", ".join(key for key, row in rules.items() if row.takes_int16)
        raise TypeError(f"a: expected uint8 or int8 data, or int16 by {wide}, got {x.dtype}")
    if x.dtype != y.dtype:
        raise TypeError(f"b: expected {x.dtype} data as a, got {y.dtype}")
    return x.dtype

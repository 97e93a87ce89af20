"""What `Add` and `Mul` have in common: two arrays of codes, each with its scale and zero point, into a third."""

from __future__ import annotations

from typing import Any, ClassVar

from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.binary import BinaryKernel
from qops.codes import of_dtype
from qops.prepared import Prepared, direct
from qops.rules.binary_arrays import FORMS, ArrayBinary
from qops.rules.numbers import WORDS
from qops.rules.operands import BinaryRule

__all__ = ["BinaryOp", "array_op", "made_by_arrays"]


def made_by_arrays(table: dict[str, BinaryRule]) -> frozenset[str]:
    """Give the names of the rules of a table that have no loop, as `array_op` tells them."""
    return frozenset(name for name, row in table.items() if row.made in FORMS)


def array_op(
    table: dict[str, BinaryRule],
    rule: Any,
    dtype: Any,
    name: str,
    zeros: tuple[Any, ...],
    scales: tuple[Any, ...],
    *numbers: Any,
) -> ArrayBinary | None:
    """Give what computes a rule by numpy; None for rules that have a loop.

    Parameters
    ----------
    table : dict of str to BinaryRule
        `ADD` or `MUL`.
    rule : str
        What the caller gave; a name that is not there is refused elsewhere.
    dtype : dtype
        Type of the codes.
    name : str
        The caller's name of what has this type.
    zeros, scales : tuple
        Of a, b and y.
    *numbers
        integers, qmin, qmax, as `qops.rules.add` takes them.

    Returns
    -------
    ArrayBinary or None
    """
    row = table.get(rule) if isinstance(rule, str) else None
    return ArrayBinary(row, str(rule), dtype, name, zeros, scales, *numbers) if row and row.made in FORMS else None


class BinaryOp(Prepared):
    """A rule of a table with its numbers, prepared for two arrays of one dtype."""

    __slots__ = ("_kernel",)

    _table: ClassVar[dict[str, BinaryRule]]
    _given: ClassVar[Any]
    """The function that checks the integers of a port."""

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
        how, codes = (self._table, WORDS, self._given), of_dtype(dtype).dtype
        zeros, scales = (a_zero_point, b_zero_point, y_zero_point), (a_scale, b_scale, y_scale)
        by_arrays = array_op(self._table, rule, codes, "dtype", zeros, scales, integers, qmin, qmax)
        op = self._kernel = by_arrays or BinaryKernel(*how, codes, rule, zeros, scales, integers, qmin, qmax)
        own, given = op.operands, op.operands.given
        a_scale, b_scale, y_scale = (None, None, None) if given else (own.a_scale, own.b_scale, own.y_scale)
        a_zero_point, b_zero_point, y_zero_point = own.a_zero_point, own.b_zero_point, own.y_zero_point
        integers = given and tuple(tuple(part) if isinstance(part, tuple) else part for part in given)
        dtype = op.dtype
        self._keep(locals())  # as users type it

    @property
    def integers(self) -> Any:
        """The integers of a port: the given ones, or what the rule makes of the scales."""
        return self._kernel.integers

    @property
    def scale(self) -> float:
        """Real size of a code step of the result; ValueError if integers were given."""
        if self._kernel.operands.given is not None:
            raise bad_value("y_scale", "the op has integers, and no scales")
        return float(self._kernel.operands.y_scale)

    @property
    def zero_point(self) -> int:
        """Code of real 0 of the result."""
        return int(self._kernel.operands.y_zero_point)

    @direct
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
        return self._kernel(a, b, out)

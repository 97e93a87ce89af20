"""The base of ADD, SUB, MUL and other ops that make an array of codes of two that broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.binary_rules import Operands
from qops._kernels.stage.binary_stage import BinaryStage
from qops.checks import broadcast_shape, put
from qops.prepared import direct
from qops.rules.binary import ADD
from qops.rules.table import TABLE
from qops.tflite import _checks as check
from qops.tflite.arithmetic import Multiplier, named
from qops.tflite.op import PreparedOp
from qops.tflite.weights import stage

__all__ = ["Binary", "added", "multiplied", "named_factors"]


class Binary(PreparedOp):
    """A prepared op of two arrays. Its stage makes the codes; without a stage numpy does."""

    __slots__ = ("_block", "_block_by_one", "_kernel", "_stage", "_zeros")

    _data = "a"
    _stage: BinaryStage | None
    """The stage that makes codes of arrays of one shape; None if there is none."""
    _block: int
    """How many neighbours are computed together, by `_blocks`; 1 if each is computed by itself."""
    _block_by_one: int
    """The same, if one operand is a single number for all these neighbours."""

    def _fill(self, given: SimpleNamespace) -> None:
        self._stage, self._block = None, 1
        self._zeros = [getattr(given, f"{name}_zero_point", 0) for name in "aby"]

    def _prepare(self, once: bool) -> None:
        super()._prepare(once)
        self._kernel = self._stage if self._block == 1 else None

    @property
    def depends_on_place(self) -> bool:
        """Whether whole blocks of neighbours are computed otherwise than the codes behind them."""
        return self._block > 1

    def _plain(self, a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the codes, in int64."""
        raise NotImplementedError

    def _blocks(self, a: NDArray[np.int64], b: NDArray[np.int64], by_one: bool) -> NDArray[np.int64]:
        """Give the codes of elements that are computed together; `by_one`: with one number."""
        raise NotImplementedError

    @direct
    def __call__(self, a: ArrayLike, b: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of two arrays that broadcast, in `out` if it is given."""
        x, y = self._codes(a, "a"), self._codes(b, "b")
        if self._stage is not None and x.shape == y.shape:
            made: NDArray[Any] = self._stage(x, y, out)
            return made
        try:
            shape = broadcast_shape(x.shape, y.shape)
        except ValueError:
            raise bad_value("a, b", f"shapes {x.shape} and {y.shape} do not broadcast") from None
        check.out(out, self._dtype, shape, x, y)
        return put(self._in_numpy(x.astype(np.int64), y.astype(np.int64), shape), out)

    def _in_numpy(self, x: NDArray[np.int64], y: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[Any]:
        """Give the codes: whole blocks by `_blocks`, all others by `_plain`."""
        made = self._plain(x, y)
        section, by_one = sections(x.shape, y.shape) if self._block > 1 and made.size else (0, False)
        block = self._block_by_one if by_one else self._block
        if whole := section // block * block:
            first, second = (np.broadcast_to(one, shape).reshape(-1, section)[:, :whole] for one in (x, y))
            made = np.ascontiguousarray(made)
            made.reshape(-1, section)[:, :whole] = self._blocks(first, second, by_one)
        return made.astype(self._dtype)


def sections(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, bool]:
    """Give how many neighbours LiteRT's optimised kernels compute in one go, and whether by one number.

    They fold two shapes that broadcast into five axes. Both operands have the last axis, one of them alone has the
    fourth, both have the third, the other one alone has the second, and both have the first. Where the last is 1, the
    kernels go along the fourth. The answer is 0 for shapes that do not fold so: they have no blocks.

    Examples
    --------
    >>> from qops.tflite.binary import sections
    >>> sections((2, 3, 4), (3, 4)), sections((2, 3), (2, 1)), sections((2, 1, 2, 1, 2, 1), (1, 3, 1, 3, 1, 3))
    ((12, False), (3, True), (0, False))
    """
    count = max(len(a), len(b))
    axes = [*zip((1,) * (count - len(a)) + a, (1,) * (count - len(b)) + b, strict=True)]
    lengths = [1] * 5
    alone = next((0 if x == 1 else 1 for x, y in reversed(axes) if x != y), 0)
    for i, broadcast in enumerate((None, alone, None, 1 - alone, None)):
        while axes and (axes[-1][0] == axes[-1][1] if broadcast is None else axes[-1][broadcast] == 1):
            lengths[i] *= max(axes.pop())
    if axes:
        return 0, False
    return (lengths[0], False) if lengths[0] > 1 else (lengths[1], True)


def named_factors(factors: Iterable[Multiplier]) -> dict[str, int]:
    """Give multipliers and shifts of a, of b and of the result by their names."""
    return {key: value for name, by in zip("aby", factors, strict=False) for key, value in named(by, name).items()}


def operands(given: Any, ends: tuple[int, int], dtype: np.dtype[Any]) -> Operands | None:
    """Give scales and zero points as `qops.rules` takes them; None if a zero point is no code of 8 bits."""
    lowest, highest = check.ends(dtype)
    zeros = given.a_zero_point, given.b_zero_point, given.y_zero_point
    if dtype == np.int16 or not all(lowest <= zero <= highest for zero in zeros):
        return None
    a, b = (given.a_scale, zeros[0]), (given.b_scale, zeros[1])
    return Operands(dtype, *a, *b, given.y_scale, zeros[2], *ends)


def added(rule: str, given: Any, ends: tuple[int, int], dtype: np.dtype[Any]) -> BinaryStage | None:
    """Give the stage that adds codes by a rule of `qops.rules.ADD`; None if it cannot."""
    p, row = operands(given, ends, dtype), ADD[rule]
    if p is None:
        return None
    try:
        made = p.stage(row, TABLE.get(row.rule))
        if not row.tail:
            return made
        tail = ADD[row.tail]
        return made.with_tail(row.width, p.stage(tail, TABLE.get(tail.rule)))
    except ValueError:  # scales that are too far apart for a multiplier
        return None


def multiplied(rule: str, scale: float, given: Any, ends: tuple[int, int], dtype: np.dtype[Any]) -> BinaryStage | None:
    """Give what multiplies codes of 8 bits by a rule of `qops.rules.TABLE`."""
    p = operands(given, ends, dtype)
    return None if p is None else p.times(stage(rule, scale, given.y_zero_point, ends))

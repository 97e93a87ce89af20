"""The base of ADD, SUB, MUL and other ops that make an array of codes of two that broadcast."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.binary_rules import Operands
from qops._kernels.stage.binary_stage import BinaryStage
from qops.checks import broadcast_shape, put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.arithmetic import Multiplier, named
from qops.tflite.op import PreparedOp

__all__ = ["Binary", "Blocks", "Staged", "named_factors", "operands"]


class Binary(PreparedOp):
    """A prepared op of two arrays."""

    __slots__ = ("_kernel", "_of_one_shape", "_zeros")

    _data = "a"
    _kernel: BinaryStage | None
    """The stage that does all the work; None if there is more to do."""
    _of_one_shape: BinaryStage | None
    """The stage of arrays that have one shape; None if `_made` makes their codes."""

    def _fill(self, given: SimpleNamespace) -> None:
        self._kernel = self._of_one_shape = None
        self._zeros = [getattr(given, f"{name}_zero_point", 0) for name in "aby"]

    @direct
    def __call__(self, a: ArrayLike, b: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of two arrays that broadcast, in `out` if it is given."""
        x, y = self._codes(a, "a"), self._codes(b, "b")
        if self._of_one_shape is not None and x.shape == y.shape:
            codes: NDArray[Any] = self._of_one_shape(x, y, out)
            return codes
        try:
            shape = broadcast_shape(x.shape, y.shape)
        except ValueError:
            raise bad_value("a, b", f"shapes {x.shape} and {y.shape} do not broadcast") from None
        check.out(out, self._dtype, shape, x, y)
        return put(self._made(x, y, shape), out)

    def _made(self, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        """Give the codes of checked arrays, of the shape to which they broadcast."""
        raise NotImplementedError


class Blocks(NamedTuple):
    """What makes codes of neighbours together: how many, and the stage of the op for them."""

    size: int
    stage: BinaryStage


class Staged(Binary):
    """A prepared op whose stage makes all codes, but for whole blocks of neighbours in LiteRT's optimised kernels."""

    __slots__ = ("_blocks", "_blocks_by_one", "_stage")

    _stage: BinaryStage
    """What makes codes by themselves."""
    _blocks: Blocks | None
    """What makes those of whole blocks; None if there are no blocks."""
    _blocks_by_one: Blocks | None
    """What does that if one operand is a single number for all neighbours."""

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        self._blocks = self._blocks_by_one = None

    def _prepare(self, once: bool) -> None:
        super()._prepare(once)
        if self._blocks is None:
            self._kernel = self._of_one_shape = self._stage
        else:
            self._of_one_shape = self._blocks.stage.with_tail(self._blocks.size, self._stage)

    @property
    def depends_on_place(self) -> bool:
        """Whether whole blocks of neighbours are computed otherwise than the codes behind them."""
        return self._blocks is not None

    def _made(self, a: NDArray[Any], b: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
        made = np.empty(shape, self._dtype)
        x, y = np.broadcast_to(a, shape), np.broadcast_to(b, shape)
        section, by_one = sections(a.shape, b.shape) if made.size else (0, False)
        blocks = self._blocks_by_one if by_one else self._blocks
        whole = section // blocks.size * blocks.size if blocks else 0
        if blocks is None or not whole:
            self._stage.run(x, y, made)
            return made
        x, y, codes = (each.reshape(-1, section) for each in (x, y, made))
        blocks.stage.run(x[:, :whole], y[:, :whole], codes[:, :whole])
        self._stage.run(x[:, whole:], y[:, whole:], codes[:, whole:])
        return made


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


def operands(given: Any, ends: tuple[int, int], dtype: np.dtype[Any], **more: bool) -> Operands:
    """Give scales and zero points as `qops.rules` takes them."""
    a, b, y = ((getattr(given, f"{x}_scale"), getattr(given, f"{x}_zero_point")) for x in "aby")
    return Operands(dtype, *a, *b, *y, *ends, takes_any=True, **more)

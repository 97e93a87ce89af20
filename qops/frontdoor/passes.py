"""What the ops into 8 bits share that find their output range: guess, watch the results, write at most once more."""

from collections.abc import Callable
from typing import Literal, NamedTuple, Protocol, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor.passes import learn_info as _learn_info
from qops.qtensor import QTensor, TensorLike

__all__ = ["Ends", "InPasses", "Range", "RangeInfo", "typed"]

Ends: TypeAlias = tuple[float | None, float | None]
Range: TypeAlias = tuple[float, float]


class RangeInfo(NamedTuple):
    """How an op came to its output range.

    Attributes
    ----------
    passes : int
        1 or 2.
    found_min, found_max : float
        Range of the results that the first pass watched, rounded outward.
    """

    passes: int
    found_min: float
    found_max: float


_learn_info(RangeInfo)


class InPasses(Protocol):
    """An op of this kind, as type checkers see it: with ``return_info`` it gives two things."""

    @overload
    def __call__(
        self,
        a: TensorLike,
        b: TensorLike,
        guess: Ends | None = None,
        *,
        range: Range | None = None,
        out: NDArray[np.uint8] | None = None,
        return_info: Literal[False] = False,
    ) -> QTensor: ...
    @overload
    def __call__(
        self,
        a: TensorLike,
        b: TensorLike,
        guess: Ends | None = None,
        *,
        range: Range | None = None,
        out: NDArray[np.uint8] | None = None,
        return_info: Literal[True],
    ) -> tuple[QTensor, RangeInfo]: ...


def typed(op: Callable[..., QTensor | tuple[QTensor, RangeInfo]]) -> InPasses:
    """Give the op itself, with the types of `InPasses`."""
    return cast(InPasses, op)

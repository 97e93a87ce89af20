"""How an op on two tensors found the range of its result, and the signatures that these ops share."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._keywords import refusing_unknown
from qops._readable import shows_fields
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike

__all__ = ["IntoAny", "IntoUint8", "RangeInfo", "into_any", "into_uint8"]

Guess: TypeAlias = OpenRange | None
No: TypeAlias = Literal[False]
Out: TypeAlias = NDArray[np.uint8] | None
T: TypeAlias = TensorLike
Yes: TypeAlias = Literal[True]


@shows_fields
class RangeInfo(NamedTuple):
    """How an op found its output range.

    Attributes
    ----------
    passes : int
        1 or 2.
    found_min, found_max : float
        Range of the results of the first pass, rounded outward.
    """

    passes: int
    found_min: float
    found_max: float


class IntoAny(Protocol):
    """The type of `add`, `sub` and `mul`: `return_info` tells what they give."""

    @overload
    def __call__(
        self,
        a: T,
        b: T,
        *,
        dtype: DTypeLike = "uint8",
        guess: Guess = None,
        range: Range | None = None,
        out: NDArray[Any] | None = None,
        return_info: No = False,
    ) -> QTensor: ...
    @overload
    def __call__(
        self,
        a: T,
        b: T,
        *,
        dtype: DTypeLike = "uint8",
        guess: Guess = None,
        range: Range | None = None,
        out: NDArray[Any] | None = None,
        return_info: Yes,
    ) -> tuple[QTensor, RangeInfo]: ...


class IntoUint8(Protocol):
    """The type of the seed's ops into 8 bits."""

    @overload
    def __call__(
        self, a: T, b: T, guess: Guess = None, *, range: Range | None = None, out: Out = None, return_info: No = False
    ) -> QTensor: ...
    @overload
    def __call__(
        self, a: T, b: T, guess: Guess = None, *, range: Range | None = None, out: Out = None, return_info: Yes
    ) -> tuple[QTensor, RangeInfo]: ...


def into_any(op: Callable[..., Any]) -> IntoAny:
    """Give `op` itself, as `refusing_unknown` does; type checkers then know what each call gives."""
    return refusing_unknown(op)


def into_uint8(op: Callable[..., Any]) -> IntoUint8:
    """Give `op` itself, as `refusing_unknown` does; type checkers then know what each call gives."""
    return refusing_unknown(op)

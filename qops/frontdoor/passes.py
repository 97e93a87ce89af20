"""What the ops into 8 bits share that find their output range: guess, watch the results, write at most once more."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from qops.qtensor import QTensor

__all__ = ["Ends", "Range", "RangeInfo", "in_passes"]

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


def in_passes(
    kernel: Callable[..., Any], a: object, b: object, guess: object, range: object, out: object, return_info: bool
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Run a kernel of this kind, and give its tensor, or its tensor and `RangeInfo`."""
    if return_info:
        t, *info = kernel(a, b, guess, range, out, True)
        return t, RangeInfo(*info)
    codes: QTensor = kernel(a, b, guess, range, out, False)
    return codes

"""What the ops into 8 bits share that find their output range: guess, watch the results, write at most once more."""

from typing import NamedTuple, TypeAlias

__all__ = ["Ends", "Range", "RangeInfo"]

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

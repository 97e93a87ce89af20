"""What ops from 8 bits to 8 bits report of how they found their output range."""

from typing import NamedTuple, TypeAlias

__all__ = ["Ends", "Range", "RangeInfo"]

Ends: TypeAlias = tuple[float | None, float | None]
Range: TypeAlias = tuple[float, float]


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

"""The ends of the output range that a supernode is given."""

from __future__ import annotations

from typing import TypeAlias

from qops._kernels.arrays.refusal import bad_value
from qops.checks import real

__all__ = ["Ends", "Given", "given_ends"]

Ends: TypeAlias = tuple[float, float]
Given: TypeAlias = tuple[float | None, float | None]


def given_ends(
    lowest: float | None, highest: float | None, names: tuple[str, str] = ("guess_min", "guess_max")
) -> Given:
    """Check the ends that a node is given: 0 is between them, or one of them."""
    lo, hi = (None if end is None else real(end, name) for end, name in zip((lowest, highest), names, strict=True))
    if lo is not None and lo > 0:
        raise bad_value(names[0], f"expected at most 0, got {lo}")
    if hi is not None and hi < 0:
        raise bad_value(names[1], f"expected at least 0, got {hi}")
    if lo == hi == 0:
        raise bad_value(", ".join(names), f"expected a range, got {lo} and {hi}")
    return lo, hi

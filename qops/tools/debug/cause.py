"""`Cause`: what makes a device's integers differ."""

from typing import NamedTuple

__all__ = ["Cause"]


class Cause(NamedTuple):
    """What makes a device's integers differ.

    Attributes
    ----------
    words : str
        One sentence without its full stop.
    rules : list of str
        Rules that give all integers, once the cause is undone, or the runtimes that give them; empty if none is known.
    """

    words: str
    rules: list[str]

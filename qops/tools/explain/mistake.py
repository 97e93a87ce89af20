"""`Mistake`: what a port may have done wrong beside the rounding, and the dump as it would be without it."""

from typing import NamedTuple

from qops.tools.explain.op_dump import Dump

__all__ = ["Mistake"]


class Mistake(NamedTuple):
    """A mistake that may have been made, such as a zero point that was left out.

    Attributes
    ----------
    words : str
        What was done wrong.
    without : Dump
        The dump as it would be without the mistake: a rule that gives all its integers explains the device's.
    may_touch_one : bool
        Whether the mistake may well change one integer alone. Where a rule differs in one integer, only such mistakes
        are tried.
    """

    words: str
    without: Dump
    may_touch_one: bool = False

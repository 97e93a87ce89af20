"""`Candidate`: one way that the result of an op may have been made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import NDArray

from qops.tools.explain.op_dump import Dump

__all__ = ["Candidate"]


class Candidate(NamedTuple):
    """One way that the result may have been made.

    Attributes
    ----------
    rule : str
        Name of the rule, as in the tables of `qops.rules`.
    before : str
        A mistake that was made beside the rule, which its systems do not make; "" if none.
    codes : callable
        dump -> the codes that the candidate gives for this dump or for a part of it.
    """

    rule: str
    before: str
    codes: Callable[[Dump], NDArray[Any]]

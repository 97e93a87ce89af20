"""What `explain` found: rules that fit, verdicts on all others, and how they print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.tools.probes import Probe

__all__ = ["Explanation", "Verdict", "Witness"]

_NEAREST = 10


@dataclass(frozen=True)
class Witness:
    """An element that a rule gives otherwise.

    Attributes
    ----------
    index : tuple of int
        Where.
    acc : int, float or tuple
        What goes in.
    got : int
        What the device gave.
    wanted : int
        What the rule gives.
    """

    index: tuple[int, ...]
    acc: Any
    got: int
    wanted: int


class Verdict(NamedTuple):
    """How far one rule is from the integers.

    Attributes
    ----------
    rule : str
        Its name, as in the tables of `qops.rules`.
    before : str
        What was done before the rounding that its systems do not do; "" if nothing.
    differs : int
        Elements that differ.
    share : float
        Of all elements.
    largest : int
        Largest difference.
    first : Witness or None
        The first that differs.
    kind : str
        What the differences have in common: "tail only", "ties only", "saturation only", of which several may hold, as
        in "tail only, ties only"; else "positive only", "negative only", "zero only", or "" if nothing.
    """

    rule: str
    before: str
    differs: int
    share: float
    largest: int
    first: Witness | None
    kind: str

    @property
    def label(self) -> str:
        """The rule, and what was done before it."""
        return f"{self.rule} ({self.before})" if self.before else self.rule


@dataclass(frozen=True)
class Explanation:
    """What `explain` found.

    Attributes
    ----------
    size : int
        Integers that were explained.
    exact : list of str
        Rules that give all of them.
    excluded : list of Verdict
        All other rules, the nearest first.
    mistakes : list of Verdict
        What gives all integers once a mistake before the rounding is undone; looked for if no rule fits.
    indistinguishable : list of list of str
        Rules that are the same function on these data.
    separated : Probe or None
        Inputs to run on the device: they tell apart every two rules still possible, or else the nearest ones.
    refused : dict of str to str
        Rules that do not take these numbers, and why.
    """

    size: int
    exact: list[str]
    excluded: list[Verdict]
    mistakes: list[Verdict]
    indistinguishable: list[list[str]]
    separated: Probe | None = None
    refused: dict[str, str] = field(default_factory=dict)

    @property
    def probe(self) -> NDArray[Any] | None:
        """The inputs of `separated`: accumulators, values, or pairs of codes; at most 256."""
        if self.separated is None:
            return None
        parts = [v for name, v in self.separated.inputs.items() if name != "channel"]
        return np.stack(parts, -1) if len(parts) > 1 else parts[0]

    @property
    def nearest(self) -> list[Verdict]:
        """The ten that differ least, mistakes that give all first."""
        return [*self.mistakes, *self.excluded][:_NEAREST]

    def as_dict(self) -> dict[str, Any]:
        """Give what ``python -m qops explain --json`` prints.

        Returns
        -------
        dict
            ``exact``, ``nearest`` and ``indistinguishable``.
        """
        nearest = [
            {
                "rule": v.rule,
                **({"before": v.before} if v.before else {}),
                "differs": v.differs,
                "share": v.share,
                "largest": v.largest,
                "first": None if v.first is None else _plain(v.first),
            }
            for v in self.nearest
        ]
        return {"exact": self.exact, "nearest": nearest, "indistinguishable": self.indistinguishable}

    def __str__(self) -> str:
        lines = []
        if not self.exact:
            lines.append(f"no rule gives all {self.size:,} integers with the numbers that are given")
        elif len(self.exact) == 1:
            lines.append(f"{self.exact[0]}: all {self.size:,} integers")
        elif "\n" in (names := _names(self.exact)):
            same = f"{len(self.exact)} rules give all {self.size:,} integers (the same function on these data):"
            lines.append(same + names)
        else:
            lines.append(f"{names}: all {self.size:,} integers (the same function on these data)")
        by_words: dict[str, list[str]] = {}
        for v in self.mistakes:
            by_words.setdefault(v.before, []).append(v.rule)
        lines += [f"  all of them, with {words}: {_names(rules)}" for words, rules in by_words.items()]
        lines += [_line(v) for v in self.excluded[:_NEAREST]]
        if self.refused:
            lines.append(f"  do not take these numbers: {_names(self.refused)}")
        if self.separated is not None:
            lines.append(f"  probe: {self.separated}")
        return "\n".join(lines)


def _names(rules: Iterable[str]) -> str:
    """The rules in one line; where there are range rules, each on a line of its own with the rules that go with it."""
    by_range: dict[str, list[str]] = {}
    for rule in rules:
        chosen, _, then = rule.rpartition(", ")
        by_range.setdefault(chosen, []).append(then)
    lines = (f"\n    {chosen}: {', '.join(then)}" for chosen, then in by_range.items() if chosen)
    return ", ".join(by_range.get("", [])) + "".join(lines)


def _line(v: Verdict) -> str:
    return f"  {v.label}: {v.differs:,} differ ({v.share:.2%}), by {v.largest} at most{_said(v)}"


def _said(v: Verdict) -> str:
    if v.first is None:
        return ""
    w = v.first
    kind = f", {v.kind}" if v.kind else ""
    return f"{kind}; first at {list(w.index)}: {w.acc} gave {w.got}, the rule {w.wanted}"


def _plain(w: Witness) -> dict[str, Any]:
    return {"index": list(w.index), "acc": w.acc, "got": w.got, "wanted": w.wanted}

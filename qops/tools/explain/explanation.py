"""The result of `explain`: rules that fit, verdicts on all others, and how they print."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._pages.html import in_notebook, table
from qops._readable import fitted, shows_fields
from qops.tools.explain.fitting import Fit
from qops.tools.explain.probes import Probe

__all__ = ["Explanation", "Verdict", "Witness", "all_integers"]

_NEAREST = 10
_MOST_OF = 0.5  # a rule that differs in a larger share of the integers is not near
_TOO_FEW = 16  # integers
_LINES, _LABELS = 6, 4  # how many lines of excluded rules are printed, and how many rules in one


@shows_fields
@dataclass(frozen=True)
class Witness:
    """An element for which a rule gives another code than the device.

    Attributes
    ----------
    index : tuple of int
        Where it is in the result.
    acc : int, float or list
        The input: an accumulator, a value, or a pair of codes. None for a pool.
    got : int
        The code of the device.
    wanted : int
        The code of the rule.
    """

    index: tuple[int, ...]
    acc: Any
    got: int
    wanted: int


@shows_fields
class Verdict(NamedTuple):
    """How far one rule is from the integers.

    Attributes
    ----------
    rule : str
        Name of the rule, as in the tables of `qops.rules`.
    before : str
        A mistake that was made beside the rule, which its systems do not make; "" if none.
    differs : int
        How many elements differ.
    share : float
        Which share of all elements that is.
    largest : int
        Largest difference of the codes.
    first : Witness or None
        The first element that differs.
    kind : str
        What the differences have in common: "tail only", "ties only" (an exact result within 2**-16 of a half, and
        codes that are one apart), "saturation only", or several of these, as in "tail only, ties only"; else "positive
        only", "negative only" or "zero only", after the sign of the input; "" if they have none of these in common.
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
        """The name of the rule, and the mistake in brackets."""
        return f"{self.rule} ({self.before})" if self.before else self.rule


@dataclass(frozen=True)
class Explanation:
    """The result of `explain`. Printed, it is a summary in a few lines.

    Attributes
    ----------
    size : int
        How many integers were explained.
    exact : list of str
        Rules that give all of them.
    excluded : list of Verdict
        All other rules, the nearest first.
    mistakes : list of Verdict
        Rules that give all integers once a mistake is undone. They are looked for only if `exact` is empty.
    indistinguishable : list of list of str
        Groups of rules that are the same function on these data.
    separated : Probe or None
        Inputs to run on the device. They separate every two rules of `exact`, or of the nearest ones if it is empty.
    refused : dict of str to str
        Rules that do not take these numbers, and why.
    axis : int or None
        The axis of the channels, if each has a scale: as it was given, or the last one of x that has as many elements.
    fit : Fit or None
        Rules that were fitted, if that was asked for and no rule of a table gives all integers.
    systems : dict of str to str
        Who computes each rule of `exact`, and on which CPU that was run.
    notes : list of str
        Of a node of nnlib: in which channels a chip gives other codes, and which channels a V65 rescales.
    """

    size: int
    exact: list[str]
    excluded: list[Verdict]
    mistakes: list[Verdict]
    indistinguishable: list[list[str]]
    separated: Probe | None = None
    refused: dict[str, str] = field(default_factory=dict)
    axis: int | None = None
    fit: Fit | None = None
    systems: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def probe(self) -> NDArray[Any] | None:
        """The inputs of `separated`, at most 256: accumulators, values, pairs of codes, or images."""
        if self.separated is None:
            return None
        parts = [v for name, v in self.separated.inputs.items() if name != "channel"]
        return np.stack(parts, -1) if len(parts) > 1 else parts[0]

    @property
    def nearest(self) -> list[Verdict]:
        """Ten verdicts: first those on mistakes, which give all integers, then the rules that differ least.

        A rule that differs in most integers is not near, and is left out.
        """
        return [*self.mistakes, *(v for v in self.excluded if v.share <= _MOST_OF)][:_NEAREST]

    def as_dict(self) -> dict[str, Any]:
        """Give what ``python -m qops explain --json`` prints.

        Returns
        -------
        dict
            ``exact``, ``systems``, ``nearest`` and ``indistinguishable``; ``axis`` too if each channel has a scale, and
        ``notes`` if there are any.
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
        more: dict[str, Any] = {} if self.axis is None else {"axis": self.axis}
        if self.fit is not None:
            rules = [
                {"integers": _listed_integers(one.integers), "bias": _plain_number(one.bias), **one.rule._asdict()}
                for one in self.fit.found
            ]
            more |= {"fit": {"words": self.fit.words, "rules": rules}}
        more |= {"systems": self.systems} if self.systems else {}
        more |= {"notes": self.notes} if self.notes else {}
        return {"exact": self.exact, "nearest": nearest, "indistinguishable": self.indistinguishable, **more}

    def __repr__(self) -> str:
        count = len(self.exact)
        fits = self.exact[0] if count == 1 else f"{count or 'no'} rule{'s' if count else ''}"
        return fitted(f"<Explanation: {fits} give{'' if count > 1 else 's'} {all_integers(self.size)}>\n{self}")

    def _repr_html_(self) -> str:
        """Show the rules that fit, and a table of the nearest others, in a notebook."""
        heads = ("rule", "#differ", "#share", "#largest", "kind")
        rows = [(v.label, f"{v.differs:,}", f"{v.share:.2%}", f"{v.largest}", v.kind) for v in self.nearest]
        answer = str(self).split("\n")[0]
        return in_notebook(f"<p>{escape(answer)}</p>", table(heads, rows))

    def __str__(self) -> str:
        lines, every = [], all_integers(self.size)
        if not self.exact:
            lines.append(f"no rule gives {every} with the numbers that are given")
            if self.size < _TOO_FEW:
                lines.append(f"  {self.size} integers are too few: give {_TOO_FEW} or more, from all over the range")
            if not self.mistakes and self.excluded and self.excluded[0].share > _MOST_OF:
                lines.append("  no rule is near: each differs in most integers")
        elif len(self.exact) == 1:
            lines.append(f"{self.exact[0]}: {every}")
        elif "\n" in (names := _names(self.exact)):
            same = f"{len(self.exact)} rules give {every} (the same function on these data):"
            lines.append(same + names)
        else:
            lines.append(f"{names}: {every} (the same function on these data)")
        if len(self.exact) == 1 and self.systems:
            lines.append(f"  computed by: {self.systems[self.exact[0]]}")
        by_words: dict[str, list[str]] = {}
        for v in self.mistakes:
            by_words.setdefault(v.before, []).append(v.rule)
        lines += [f"  all of them, once a mistake is undone ({words}): {_names(of)}" for words, of in by_words.items()]
        if self.axis is not None:
            lines.append(f"  the scales are those of channels along axis {self.axis} of x")
        if self.fit is not None:
            lines += [f"  fit: {line}" if i == 0 else f"  {line}" for i, line in enumerate(str(self.fit).split("\n"))]
        lines += [f"  {note}" for note in self.notes]
        is_fitted = self.fit is not None and bool(self.fit.found)
        if self.nearest or not is_fitted:  # else none is near, which is said, and there is a rule
            lines += _lines(self.excluded)
        if self.refused:
            lines.append(f"  rules that do not take these numbers: {_names(self.refused)}")
        if self.separated is not None and not is_fitted:  # the fit says what would decide between its own rules
            lines.append(f"  probe: {self.separated}")
        return "\n".join(lines)


def all_integers(size: int) -> str:
    """Say "all 300 integers", or "the only integer"."""
    return f"all {size:,} integers" if size != 1 else "the only integer"


def _names(rules: Iterable[str]) -> str:
    """The rules in one line. With range rules, each has a line of its own, with the rules that go with it."""
    by_range: dict[str, list[str]] = {}
    for rule in rules:
        chosen, _, then = rule.rpartition(", ")
        by_range.setdefault(chosen, []).append(then)
    lines = (f"\n    {chosen}: {', '.join(then)}" for chosen, then in by_range.items() if chosen)
    return ", ".join(by_range.get("", [])) + "".join(lines)


def _lines(excluded: Iterable[Verdict]) -> list[str]:
    """Rules with the same differences and witness in one line; the nearest lines, and how many more rules there are."""
    alike: dict[str, list[str]] = {}
    for v in excluded:
        alike.setdefault(f"{v.differs:,} differ ({v.share:.2%}), by {v.largest} at most{_said(v)}", []).append(v.label)
    lines = [f"  {_listed(labels)}: {words}" for words, labels in alike.items()]
    more = sum(map(len, list(alike.values())[_LINES:]))
    return lines[:_LINES] + [f"  and {more} more"] * bool(more)


def _listed(labels: list[str]) -> str:
    """A few labels, and how many more."""
    more = len(labels) - _LABELS
    return ", ".join(labels[:_LABELS]) + f" and {more} more" * (more > 0)


def _said(v: Verdict) -> str:
    if v.first is None:
        return ""
    w = v.first
    kind = f", {v.kind}" if v.kind else ""
    source = "" if w.acc is None else f"{w.acc} "
    return f"{kind}; first at {list(w.index)}: {source}gave {w.got}, the rule {w.wanted}"


def _plain_number(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _listed_integers(pair: tuple[Any, Any] | None) -> list[Any] | None:
    return None if pair is None else [v.tolist() if np.ndim(v) else v for v in pair]


def _plain(w: Witness) -> dict[str, Any]:
    return {"index": list(w.index), "acc": w.acc, "got": w.got, "wanted": w.wanted}

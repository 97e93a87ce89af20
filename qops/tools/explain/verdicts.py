"""Verdicts on all rules for a dump: which give its integers, and the first integer that each other one gets wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain, zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.averages import AVERAGE_POOL
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.binary import ADD, MUL
from qops.rules.quantize_rules import QUANTIZE
from qops.rules.read_rules import READ_RULES
from qops.rules.table import BLOCKS, TABLE
from qops.tools.explain import candidates
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.explanation import Explanation, Verdict, Witness
from qops.tools.explain.fitting import fit as fitted
from qops.tools.explain.mistakes import undone
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.probes import Probe, probe_for
from qops.tools.explain.rule_mistakes import of_another_scale, of_the_other_side, that_wrap
from qops.tools.explain.sum_tables import sum_tables
from qops.tools.explain.tails import tails, without_tail

__all__ = ["explained", "rules_of", "systems_of"]

_TIE = 2.0**-16  # in code steps; an exact result this close to a tie counts as a tie
_TABLES: dict[str, dict[str, Any]] = {
    "requantize": {**TABLE, **BLOCKS, **REAL_BIAS, **READ_RULES},
    "add": {**ADD},
    "mul": {**MUL},
    "average_pool": {**AVERAGE_POOL},
    "quantize": {**QUANTIZE},
}
"""The rules of each kind of op, which say who computes them."""
_FIRST = 256  # how many differences are examined first
_NEAREST = 10
_WIDE = {1: np.int16, 2: np.int32, 4: np.int64}  # bytes of a code -> the type that holds every difference of codes


def _are_ties(dump: Dump, wanted: NDArray[Any], where: NDArray[np.intp]) -> bool:
    """Whether these are ties that went to the code on the other side."""
    real = dump.real(where)
    if real is None or not (np.abs(np.abs(real) % 1 - 0.5) < _TIE).all():
        return False
    codes = dump.y.reshape(-1)[where].astype(np.int64)
    return bool((np.abs(codes - wanted[where]) == 1).all())


def _first(differs: NDArray[np.bool_], most: int) -> NDArray[np.intp]:
    """Give where differences are, in the first part of the data that has any."""
    start = int(differs.argmax())
    return start + np.flatnonzero(differs[start : start + most])


def _common(dump: Dump, differs: NDArray[np.bool_], wanted: NDArray[Any]) -> str:
    """Say what all differences have in common. If the first ones lack a property, the others are not looked at."""
    x, y, few = dump.x.reshape(-1), dump.y.reshape(-1), _first(differs, _FIRST)
    where: list[NDArray[np.intp]] = []

    def everywhere(holds: Callable[[NDArray[np.intp]], bool]) -> bool:
        if not holds(few):
            return False
        where.extend([] if where else [np.flatnonzero(differs)])
        return holds(where[0])

    found: list[str] = []
    if any(few[0] >= x.size - tail for _, tail in tails(x.size)):
        found.append("tail only")
    if everywhere(lambda at: _are_ties(dump, wanted, at)):
        found.append("ties only")
    lo, hi = dump.ends
    if everywhere(lambda at: all(bool(((v[at] == lo) | (v[at] == hi)).all()) for v in (y, wanted))):
        found.append("saturation only")
    if not found and dump.kind in ("requantize", "quantize"):
        sign = int(np.sign(x[few[0]]))
        if everywhere(lambda at: bool((np.sign(x[at]) == sign).all())) and (np.sign(x) != sign).any():
            return {1: "positive only", -1: "negative only", 0: "zero only"}[sign]
    return ", ".join(found)


def _verdict(dump: Dump, c: Candidate, codes: NDArray[Any]) -> Verdict:
    y, wanted = dump.y.reshape(-1), codes.reshape(-1)
    differs = y != wanted
    inside = dump.is_by_place and dump.x.size == y.size
    i, count = int(differs.argmax()), int(np.count_nonzero(differs))
    if not count:
        return Verdict(c.rule, c.before, 0, 0.0, 0, None, "")
    acc = dump.x.reshape(-1)[i].item() if inside else None
    if dump.b is not None and inside:
        acc = [acc, dump.b.reshape(-1)[i].item()]
    index = tuple(int(k) for k in np.unravel_index(i, dump.y.shape))
    off = np.subtract(y, wanted, dtype=_WIDE[y.dtype.itemsize])
    largest = max(int(off.max()), -int(off.min()))
    kind = _common(dump, differs, wanted) if inside else ""
    first = Witness(index, acc, int(y[i]), int(wanted[i]))
    return Verdict(c.rule, c.before, count, count / y.size, largest, first, kind)


class _Tried(NamedTuple):
    """A verdict on each rule, by the best of its candidates; groups of rules that agree; why others refuse."""

    verdicts: list[Verdict]
    groups: list[list[str]]
    refused: dict[str, Exception]
    sums: set[int]  # of the codes of each candidate


def _tried(dump: Dump, rules: Iterable[Candidate], progress: Callable[[str], None]) -> _Tried:
    best: dict[str, Verdict] = {}
    alike: dict[bytes, tuple[Verdict, list[str]]] = {}
    refused: dict[str, Exception] = {}
    sums: set[int] = set()
    for c in rules:
        progress(c.rule)
        try:
            wanted = c.codes(dump)
        except (ValueError, TypeError) as why:  # a scale or type that this rule does not take
            refused[c.rule] = why
            continue
        made = sha256(np.ascontiguousarray(wanted).data).digest()
        if made not in alike:
            sums.add(int(wanted.sum(dtype=np.int64)))
            alike[made] = _verdict(dump, c, wanted), []
        verdict, group = alike[made]
        if c.rule not in best or verdict.differs < best[c.rule].differs:
            best[c.rule] = verdict._replace(rule=c.rule, before=c.before)
        if c.rule not in group:
            group.append(c.rule)
    groups = sorted(g for _, g in alike.values() if len(g) > 1)
    return _Tried(list(best.values()), groups, {rule: why for rule, why in refused.items() if rule not in best}, sums)


def _mistaken(dump: Dump, sums: set[int], nearest: int) -> Iterator[tuple[Dump, list[Candidate]]]:
    """Give the dump without each mistake, and the rules to try on it; `nearest` rules differ in so many integers."""
    for mistake in undone(dump, int(dump.y.sum(dtype=np.int64)) in sums):
        if nearest != 1 or mistake.may_touch_one:
            yield mistake.without, [c._replace(before=mistake.words) for c in candidates.of(mistake.without)]
    yield dump, [*of_another_scale(dump), *of_the_other_side(dump)]
    yield dump, list(that_wrap(dump))


def _mistakes(dump: Dump, sums: set[int], nearest: int, progress: Callable[[str], None]) -> list[Verdict]:
    """Find the rules and mistakes that together give every integer; a sample of the data excludes most others."""
    found: dict[str, list[Verdict]] = {}
    for seen, rules in _mistaken(dump, sums, nearest):
        parts = _parts(seen)
        for c in rules:
            progress(f"{c.before}: {c.rule}")
            if _gives_all(c, parts):
                found.setdefault(c.before, []).append(Verdict(c.rule, c.before, 0, 0.0, 0, None, ""))
    for words, body, tail in without_tail(dump):
        progress(words)
        parts = _parts(body)
        own = [c for c in candidates.of(body) if _gives_all(c, parts)]
        if own and _is_another(own[0], tail):
            found[words] = [Verdict(c.rule, words, 0, 0.0, 0, None, "") for c in own]
    return [v for row in zip_longest(*found.values()) for v in row if v]  # one rule for each mistake comes first


def _is_another(c: Candidate, tail: Dump) -> bool:
    """Whether the last elements are those of another rule, or at least half of them are wrong, as where none is made.

    One wrong integer of many is no matter of the tail.
    """
    wrong = int(np.count_nonzero(c.codes(tail) != tail.y))
    return 2 * wrong >= tail.y.size or (wrong > 1 and any(_gives(other, tail) for other in candidates.of(tail)))


def _parts(dump: Dump) -> list[Dump]:
    """Give a dump after smaller and smaller parts of it, the smallest first: most wrong rules fail on that."""
    small = dump.sample()
    return [*(part for part in (dump.of_one_channel(), small) if part is not dump), dump]


def _gives_all(c: Candidate, parts: list[Dump]) -> bool:
    """Whether a candidate gives every integer of the last of these parts; the others have no whole blocks and tails."""
    return all(_gives(c, part) for part in (parts[-1:] if c.rule in BLOCKS else parts))


def _gives(c: Candidate, dump: Dump) -> bool:
    try:
        codes = c.codes(dump)
    except (ValueError, TypeError):  # a mistake that cannot have been made
        return False
    return bool((codes == dump.y.reshape(codes.shape)).all())


def systems_of(kind: str, rule: str) -> str:
    """Give who computes a rule, and on which CPU that was run; "" if no table has it.

    Parameters
    ----------
    kind : str
        What was explained.
    rule : str
        Its name, behind the name of a range rule if there is one.

    Returns
    -------
    str
    """
    table = sum_tables() if kind == "accumulate" else _TABLES.get(kind, {})
    row = table.get(rule.rpartition(", ")[2])
    if row is None:
        return ""
    read = [other.systems for other in READ_RULES.values() if kind == "requantize" and other.rule == rule]
    return "; ".join([str(row.systems), *read])


def rules_of(dump: Dump) -> list[str]:
    """Give the rules that give every integer, and nothing on the others.

    Parameters
    ----------
    dump : Dump
        What the device gave.

    Returns
    -------
    list of str
    """
    with np.errstate(all="ignore"):  # scales beyond float32
        parts = _parts(dump)
        found = dict.fromkeys(c.rule for c in candidates.of(dump) if _gives_all(c, parts))
        return list(found) or [c.rule for c in candidates.by_hand(dump) if _gives_all(c, parts)]


def _by_names_given(dump: Dump, why: Exception) -> Exception:
    """Why no rule took the numbers. For a range, the error names its ends, not the scale that a range rule chose."""
    if "rmin" not in dump.numbers:
        return why
    lo, hi = dump.numbers["rmin"], dump.numbers["rmax"]
    return bad_value("rmin, rmax", f"no range rule gives {lo} to {hi} a scale that float32 holds")


def explained(
    dump: Dump,
    probe: bool = False,
    progress: Callable[[str], None] = lambda words: None,
    fit: bool = False,
    own: Sequence[Candidate] = (),
) -> Explanation:
    """Explain a dump; see `explain`.

    Parameters
    ----------
    dump : Dump
        What the device gave.
    probe : bool
        Whether to look for inputs that tell the rules apart.
    progress : callable
        Called with words that say what is tried next.
    fit : bool
        Whether to fit a rule by its parts if no rule of a table gives all integers.
    own : sequence of Candidate
        What an op of a system computes itself, in the place of its rule.

    Returns
    -------
    Explanation

    Raises
    ------
    TypeError, ValueError
        Numbers that no rule takes.
    """
    if probe and dump.kind == "accumulate":
        raise bad_value("probe", "expected False, no inputs are looked for that tell sums apart")
    with np.errstate(all="ignore"):  # scales beyond float32
        rules = (c for c in candidates.of(dump) if not any(one.rule.startswith(c.rule) for one in own))
        found, groups, refused, sums = _tried(dump, chain(own, rules), progress)
        if all(v.differs for v in found):
            by_hand = _tried(dump, candidates.by_hand(dump), progress)
            found, groups = found + by_hand.verdicts, groups + by_hand.groups
            refused, sums = refused | by_hand.refused, sums | by_hand.sums
        exact = [v.rule for v in found if v.differs == 0]
        is_final = bool(exact) or dump.kind == "accumulate"
        mistakes = [] if is_final else _mistakes(dump, sums, min((v.differs for v in found), default=0), progress)
    excluded = sorted((v for v in found if v.differs), key=lambda v: v.differs)
    if refused and not found and not mistakes:
        raise _by_names_given(dump, next(iter(refused.values())))
    separated: Probe | None = None
    if probe:
        again = {rule for group in groups for rule in group[1:]}  # the same function on these data
        separated = probe_for(dump, exact or [v.rule for v in excluded if v.rule not in again][:_NEAREST])
    reasons = {rule: str(why) for rule, why in refused.items()}
    axis = dump.numbers.get("axis", -1) if dump.is_by_channel else None
    more = None
    if fit and dump.kind == "requantize" and not exact:
        more = fitted(dump, progress, not dump.numbers.get("scale_is_seen", False), bool(mistakes))
    of = {rule: words for rule in exact if (words := systems_of(dump.kind, rule))}
    return Explanation(dump.y.size, exact, excluded, mistakes, groups, separated, reasons, axis, more, of)

"""A page for each requantization rule: its integers, its steps, its ties, its C, and the rules it differs from."""

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from qops import rules

SCALE = 0.0033
GIVEN = "gemmlowp-legacy"  # it has no rule for a scale, only integers
HALVES = np.arange(-5, 6, 2)  # times 0.5: ties
SITUATIONS = {
    "0.0033": (np.arange(-42_000, 42_001), 0.0033),
    "1/32": (np.arange(-4_400, 4_401), 2.0**-5),
    "0.7": (np.arange(-200, 201), 0.7),
    "3.3": (np.arange(-42, 43), 3.3),
    "large": (np.linspace(2**24, 2**31 - 1, 80_000).astype(np.int64), 2.0**-24 * 0.97),
}
"""Accumulators and their scale: all that int8 codes come from, and 80,000 beyond 2**24."""
ZERO_POINT = 3  # odd, so that a zero point inside the rounding shows


def integers(row: rules.Rule) -> str:
    """What becomes of a scale, in words."""
    if row.multiplier == "given":
        return "The integers are given; there is no rule that makes them of a scale."
    if row.is_stepwise:
        return "No integers: in float32 it multiplies by the scales one after another, if it is given three (`scales`)."
    if row.multiplier.startswith("float"):
        return f"No integers: it multiplies in {row.multiplier}."
    multiplier, shift = rules.integers(row.name, SCALE)
    off = multiplier / 2**shift / SCALE - 1
    error = f"{100 * off:+.2g} % off" if multiplier else "lost: the multiplier is 0"
    return f"{row.multiplier}. Of the scale {SCALE} it makes `{multiplier} / 2**{shift}`, {error}."


@cache
def codes() -> dict[str, dict[str, NDArray[np.int8]]]:
    """Situation -> rule -> codes; nothing of a rule that does not take the scale."""
    found: dict[str, dict[str, NDArray[np.int8]]] = {}
    for name, (acc, scale) in SITUATIONS.items():
        found[name] = {}
        for rule in rules.TABLE:
            try:
                found[name][rule] = rules.requantize(acc, rule, scale=scale, zero_point=ZERO_POINT)
            except ValueError:
                continue
    return found


def count(rule: str, other: str, situation: str) -> int | None:
    """How many codes of two rules differ; None if one of them refuses the scale."""
    made = codes()[situation]
    return int(np.count_nonzero(made[rule] != made[other])) if {rule, other} <= made.keys() else None


def microscope(text: str, **case: object) -> str:
    """A link to the page that shows a case bit by bit."""
    address = "&amp;".join(f"{key}={value}" for key, value in case.items())
    return f'<a href="../../microscope/index.html#{address}">{text}</a>'


def witness(rule: str, other: str) -> str:
    """The first accumulator that tells two rules apart, linked to the page that shows why."""
    for situation, (acc, scale) in SITUATIONS.items():
        if count(rule, other, situation):
            one, two = codes()[situation][rule], codes()[situation][other]
            i = int(np.flatnonzero(one != two)[0])
            text = f"{acc[i]} * {scale:.4g}: {one[i]}, not {two[i]}"
            return microscope(text, rule=rule, acc=acc[i], scale=scale, zero=ZERO_POINT, type="int8")
    return ""


def apart(rule: str) -> str:
    """The table of the rules that it differs from, and the list of those that it does not."""
    if rule == GIVEN:
        return "It takes no scale, so it is not compared here.\n"
    others = [name for name in rules.TABLE if name not in (rule, GIVEN)]
    counts = {other: [count(rule, other, name) for name in SITUATIONS] for other in others}
    same = [other for other in others if not any(counts[other])]
    differ = sorted((other for other in others if any(counts[other])), key=lambda name: sum(filter(None, counts[name])))
    head = " | ".join(f"{name}<br>of {len(acc):,}" for name, (acc, _) in SITUATIONS.items())
    rows = (
        f"| [{other}]({other}.md) | {' | '.join('-' if n is None else f'{n:,}' for n in counts[other])} | "
        f"{witness(rule, other)} |\n"
        for other in differ
    )
    none = "Every other rule differs somewhere."
    alike = f"No code differs from those of {', '.join(f'[{name}]({name}.md)' for name in same)}."
    text = (
        "How many int8 codes differ, by scale, over all accumulators that give them (*large*: accumulators beyond "
        f"2**24); zero point {ZERO_POINT}. A dash: one of the two rules refuses the scale. The last column has the "
        f"first accumulator that tells them apart: this rule's code, not the other's. {alike if same else none}\n\n"
    )
    return text + f"| rule | {head} | first |\n| --- |{' ---: |' * len(SITUATIONS)} --- |\n{''.join(rows)}"


def ties(rule: str) -> str:
    """The codes of ties, one step and many steps of the shift from the code, for an even and an odd zero point."""
    rows = []
    for shift in (1, 5):
        how: Mapping[str, object] = {"integers": (1, shift)} if rule == GIVEN else {"scale": 0.5**shift}
        for zero in (0, 3):
            found = rules.requantize(HALVES << (shift - 1), rule, zero_point=zero, **how) - zero
            rows.append(f"| 1/{2**shift} | {zero} | {' | '.join(map(str, found))} |\n")
    head = " | ".join(f"{value / 2:g}" for value in HALVES)
    table = f"| scale | zero point | {head} |\n| --- | --- |{' ---: |' * len(HALVES)}\n{''.join(rows)}"
    return f"The codes of exact halves, less the zero point:\n\n{table}"


def facts_of(row: rules.Rule) -> str:
    """The table of what a rule is."""
    rounding = f"{row.first}, then {row.second}" if row.second else row.first
    facts = {
        "computed by": row.systems,
        "scale": integers(row),
        "rounding": f"{rounding}. Zero point: {row.zero_point}.",
        "what wraps": row.wraps or "nothing; what does not fit saturates",
    }
    if row.beyond == "lowest":
        facts["what wraps"] = "nothing; what int32 does not hold becomes the lowest code, whatever its sign"
    return "".join(f"| {key} | {value} |\n" for key, value in facts.items())


def page(rule: str) -> str:
    """The page of one rule."""
    row = rules.TABLE[rule]
    given: dict[str, object] = {"multiplier": 1000, "shift": 16} if rule == GIVEN else {"scale": SCALE}
    seen = microscope("Every bit of it, in the microscope", rule=rule, acc=1000, **given, zero=ZERO_POINT, type="int8")
    return f"""# {rule}

`qops.rules.requantize(acc, "{rule}", scale=scale)`

```text
{row.formula}
```

{seen}

| | |
| --- | --- |
{facts_of(row)}
## Ties

{ties(rule)}
## In C

From `qops.rules.emit("{rule}")`. The tests compile it and compare it with the kernel.

```c
{rules.emit(rule).rstrip()}
```

## Rules that it differs from

{apart(rule)}
[Which rule made my integers?](../../tools/explain.md) --- [A few integers that prove a port](../../tools/vectors.md)
"""

"""The report of a layer that differs, ready to be filed at its vendor: Markdown."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Tensor
from qops.models.code.sums import AWAY
from qops.rules import TABLE
from qops.rules.c_binary import OPS, text_of
from qops.tools.debug.c_test import Elements, elements
from qops.tools.debug.case import Case, Smallest, apart
from qops.tools.debug.columns import WHOSE, ColumnFound
from qops.tools.debug.layer_row import First

__all__ = ["report"]

_SHOWN = 8  # elements in the table
_ENDS = ("output_offset", "output_zero_point", "activation_min", "activation_max", "output_min", "output_max")
_MOST_NUMBERS = 64  # inputs of the smallest case that are printed


def report(case: Case, small: Smallest | None, first: First, suffix: str, column: ColumnFound | None = None) -> str:
    """Write the report.

    Parameters
    ----------
    case : Case
        The layer.
    small : Smallest or None
        Its smallest case.
    first : First
        What is known of it.
    suffix : str
        What names of model files end with.
    column : ColumnFound or None
        Another runtime that gives every tensor of the device.

    Returns
    -------
    str
    """
    found = elements(case, small)
    parts = [
        _head(case, first, column),
        _table(case, found),
        _rules(found, first),
        _smallest(case, small, suffix),
        _reproduce(case, small, suffix),
        _versions(),
    ]
    return "\n".join(parts)


def _code(text: Any) -> str:
    """A name or number as Markdown shows it, whatever is in it."""
    plain = "".join(c if c.isprintable() and c != "`" else "?" for c in str(text))
    return f"`{plain}`"


def _whose(case: Case) -> str:
    return WHOSE.get(case.graph.runtime, case.graph.runtime)


def _head(case: Case, first: First, column: ColumnFound | None) -> str:
    off = apart(case.got, case.wanted)
    differ, size, most = int(np.count_nonzero(off)), off.size, float(off.max(initial=0))
    result = case.graph.tensors[case.output]
    tensors = [case.graph.tensors[name] for name in case.op.inputs]
    shapes = {name: x.shape for name, x in zip(case.op.reads, case.inputs, strict=True)}
    return "\n".join(
        [
            f"# {case.op.kind}: {differ:,} of {size:,} values differ from {_whose(case)}",
            "",
            f"The layer {_code(first.layer)} ({case.op.kind}) of {_code(case.graph.name)} was fed the same input on "
            f"the device and in {_whose(case)}. Of its {size:,} results {differ:,} differ ({differ / size:.2%}), by at "
            f"most {most:g}.",
            "",
            *([_text(f"Of the whole network, {column.words}."), ""] if column is not None else []),
            f"Cause, as far as it is known: {_text(first.cause)}.",
            "",
            *([f"Where: {_text('; '.join(first.where))}.", ""] if first.where else []),
            *(f"- reads {_tensor(t, shapes.get(t.name, t.shape))}" for t in tensors),
            f"- writes {_tensor(result, case.got.shape)}",
            "",
        ]
    )


def _text(words: str) -> str:
    """Words as Markdown shows them: what would be markup stands as it is."""
    plain = "".join(c if c.isprintable() else "?" for c in words)
    return "".join(f"\\{c}" if c in "\\`*_<>[]#|" else c for c in plain)


def _tensor(t: Tensor, shape: Sequence[int | None]) -> str:
    said = f"{_code(t.name)}: {t.dtype}, shape {tuple(shape)}"
    if t.scale is None or t.zero_point is None:
        return said
    if t.scale.ndim:
        return f"{said}, {t.scale.size} scales from {t.scale.min():.9g} to {t.scale.max():.9g}"
    return f"{said}, scale {float(t.scale):.9g}, zero point {int(t.zero_point)}"


def _table(case: Case, found: Elements) -> str:
    names = list(found.arguments)
    head = ["place", *names, "device", "expected"]
    rows = []
    for i, place in enumerate(found.places[:_SHOWN].tolist()):
        values = [str(tuple(place)), *(str(found.arguments[name][i]) for name in names)]
        rows.append([*values, str(found.got[i]), str(found.wanted[i])])
    lines = [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
    more = len(case.where) - len(rows)
    if more:
        lines += ["", f"and {more:,} more. `test.c` has {len(found.places)} of them all."]
    return "\n".join([*lines, ""])


def _rules(found: Elements, first: First) -> str:
    lines = ["## The rule", ""]
    expected = [words for rule in found.layer.rules for words in _expected(rule)]
    lines += [f"- expected: {words}" for words in expected]
    if not expected:
        lines.append(f"- expected: what {found.layer.op} computes there; it is no requantization of sums")
    fits = [_rule(rule) if rule in TABLE else _code(rule) for rule in first.rules]
    undone = "" if first.cause.startswith("rounded by another rule") else ", once the cause is undone"
    lines += [f"- gives every integer of the device{undone}: {words}" for words in fits]
    if not fits:
        lines.append("- no rule that is known gives the device's integers")
    if found.layer.arguments == ("sum", "channel"):
        lines += ["", *_numbers(found)]
    return "\n".join([*lines, ""])


def _expected(rule: str) -> list[str]:
    """Tell what the C of a layer calls: a rule, or a sum, a product or a mean, and the rules that it consists of."""
    if rule in TABLE:
        return [_rule(rule)]
    if rule == AWAY:
        return [f"{_rule('double-away')}; what int32 does not hold becomes the lowest integer and wraps"]
    op, _, name = rule.partition(" ")
    if op not in OPS:
        return []
    text = text_of(op, name)
    return [f"{op} by {_code(name)} ({text.system})", *(f"in it {_rule(need)}" for need in text.needs)]


def _rule(rule: str) -> str:
    row = TABLE[rule]
    steps = f"rounded {row.first}" + (f", then {row.second} (first part: {row.split})" if row.second else " once")
    kept = "a scale in" if row.multiplier.startswith("float") else "a multiplier of"
    return f"{_code(rule)}: {kept} {row.multiplier}, {steps}, zero point {row.zero_point} ({row.systems})"


def _numbers(found: Elements) -> list[str]:
    """The numbers of the channel of the first element."""
    own = found.layer.constants
    channel = int(found.arguments["channel"][0]) if "channel" in found.arguments else 0
    said = []
    for key in ("multiplier", "shift", "reduced_multiplier", "scale"):
        if key in own:
            value = np.asarray(own[key])
            said.append(f"{key} {value.reshape(-1)[channel if value.ndim else 0]!s}")
    said += [f"{key} {own[key]}" for key in _ENDS if key in own]
    return [f"Channel {channel}: {', '.join(said)}."]


def _smallest(case: Case, small: Smallest | None, suffix: str) -> str:
    lines = ["## The smallest case that still differs", ""]
    if small is None:
        return "\n".join(
            [*lines, f"No part of {case.op.kind} alone makes an element that differs: see `layer{suffix}`.", ""]
        )
    lines += [
        f"Element {small.place} of the result. {small.how[0].upper()}{small.how[1:]}.",
        f"`smallest{suffix}` makes it alone, and qops gives it the code of the whole layer. The device has not run "
        "this file yet: run it there first.",
        "",
    ]
    lines += [f"- {_code(name)} = {_values(x)}" for name, x in small.reads.items()]
    (op,) = small.graph.ops
    if op.layer is not None and op.layer.weights is not None:
        lines.append(f"- weights = {_values(op.layer.weights)}")
        if op.layer.bias is not None:
            lines.append(f"- bias = {int(op.layer.bias.reshape(-1)[0])}")
    at = small.place
    return "\n".join([*lines, f"- device: {case.got[at]}; expected: {case.wanted[at]}", ""])


def _values(x: NDArray[Any]) -> str:
    if x.size > _MOST_NUMBERS:
        return f"{x.size} values, shape {x.shape}, in `smallest_device.npz`"
    return f"{x.ravel().tolist()}, shape {x.shape}"


def _reproduce(case: Case, small: Smallest | None, suffix: str) -> str:
    runtime = "" if case.graph.runtime in ("reference", "onnx") else f" --runtime {case.graph.runtime}"
    lines = [
        "## To reproduce",
        "",
        "```sh",
        f"python -m pip install 'qops[{suffix.removeprefix('.')}]'",
        f"python -m qops debug layer{suffix} --device device.npz{runtime}",
    ]
    if small is not None:
        lines.append(f"python -m qops debug smallest{suffix} --device smallest_device.npz{runtime}")
    lines += [
        "cc -std=c99 -Wall -Werror test.c -o test -lm && ./test   # 1: the device's numbers differ",
        "```",
        "",
        f"On the device: run `layer{suffix}` on the inputs in `device.npz`, and compare its result with that in "
        "`expected.npz`; the names of the arrays are those of the tensors.",
        "",
    ]
    return "\n".join(lines)


def _versions() -> str:
    of = f"qops {sys.modules['qops'].__version__}, numpy {np.__version__}"
    return f"## Versions\n\n{of}, Python {platform.python_version()}, {sys.platform} {platform.machine()}\n"

"""Candidates for a requantization: every rule of `qops.rules` with each scale that its systems form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from qops.rules.bias_rules import REAL_BIAS, BiasRule
from qops.rules.read_rules import READ_RULES
from qops.rules.requantize import requantize
from qops.rules.scales import Derivation
from qops.rules.table import BLOCKS, TABLE, BlockRule
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.op_dump import Dump

__all__ = ["FORMED", "by_rule", "derivations", "of_sources", "requantized"]

FORMED = {
    rule: cast("list[Derivation]", ["double"] if row.is_stepwise else row.scales.split(", "))
    for rule, row in TABLE.items()
    if row.multiplier != "given"
}
"""How the systems of a rule form the scale; one of the ways where they form none."""


def derivations(rule: str, dump: Dump) -> list[Derivation]:
    """How the systems of a rule form the scale; one of the ways where the dump has it already."""
    return FORMED[rule] if "in_scale" in dump.numbers else ["double"]


def by_rule(rule: str, derive: Derivation) -> Callable[[Dump], NDArray[Any]]:
    """Give the codes of a dump by a rule, with the scale that is formed in one of the ways."""
    is_stepwise = rule in TABLE and TABLE[rule].is_stepwise

    def codes(d: Dump) -> NDArray[Any]:
        n, how = d.numbers, d.how
        if "integers" in n:
            return requantize(d.acc, rule, dtype=d.y.dtype, integers=n["integers"], **how)
        if is_stepwise and n.get("scale") is None:
            scales = n["in_scale"], n["w_scale"], n["out_scale"]
            return requantize(d.acc, rule, dtype=d.y.dtype, scales=scales, **how)
        return requantize(d.acc, rule, dtype=d.y.dtype, scale=d.scales[derive], **how)

    return codes


def requantized(dump: Dump) -> Iterator[Candidate]:
    """Give every candidate for a requantization, but those `of_sources`."""
    scales = {derive: np.asarray(scale).tobytes() for derive, scale in dump.scales.items()}
    for rule in FORMED:
        for derive in {scales[derive]: derive for derive in derivations(rule, dump)}.values():
            yield Candidate(rule, "", by_rule(rule, derive))
    if "integers" in dump.numbers:
        for rule in (rule for rule, row in TABLE.items() if row.multiplier == "given"):
            yield Candidate(rule, "", by_rule(rule, "double"))
    for name, row in BLOCKS.items():
        if _has_blocks_and_tail(row, dump):
            for derive in derivations(row.whole, dump):
                yield Candidate(name, "", by_rule(name, derive))
    for name, biased in REAL_BIAS.items():
        if _takes_numbers_of(biased, name, dump):
            yield Candidate(name, "", _biased_by(name))


def _takes_numbers_of(row: BiasRule, rule: str, dump: Dump) -> bool:
    """Whether a rule with a real bias takes what a dump has."""
    n = dump.numbers
    given = {"bias": "bias" in n, "range": "rmin" in n, "w_sums": "w_sums" in n}
    if "in_scale" not in n or given["bias"] != ("bias" in row.takes) or not all(given[word] for word in row.takes):
        return False
    return np.ndim(n["w_scale"]) == 0 or rule != "openvino-one-channel"


def _biased_by(rule: str) -> Callable[[Dump], NDArray[Any]]:
    takes = REAL_BIAS[rule].takes

    def codes(d: Dump) -> NDArray[Any]:
        n, has_range = d.numbers, "range" in takes
        how: dict[str, Any] = {name: value for name, value in d.how.items() if name != "zero_point"}
        how |= {name: n[name] for name in ("bias", "w_sums") if name in takes}
        if has_range:
            how["range"] = n["rmin"], n["rmax"]
        elif n.get("zero_point"):
            how["zero_point"] = n["zero_point"]
        if "w_sums" in takes:
            how["x_zero_point"] = n.get("x_zero_point", 0)
        scales = n["in_scale"], n["w_scale"], None if has_range else n["out_scale"]
        return requantize(d.x, rule, scales=scales, dtype=d.y.dtype, **how)

    return codes


def _has_blocks_and_tail(row: BlockRule, dump: Dump) -> bool:
    """Whether the rule is not that of its blocks, or of its tail, on all of a dump."""
    axis = dump.numbers.get("axis", -1)
    size = dump.x.size if row.of == "elements" else dump.x.shape[-1 if axis is None else axis]
    return size > row.size and size % row.size > 0 and not (row.of == "elements" and dump.is_by_channel)


def _read_by(rule: Any) -> Callable[[Dump], NDArray[Any]]:
    def codes(d: Dump) -> NDArray[Any]:
        factor = {"integers": d.numbers["integers"]} if "integers" in d.numbers else {"scale": d.scales["double"]}
        return requantize(d.acc, rule, dtype=d.y.dtype, **factor, **d.how)

    return codes


def of_sources() -> list[Candidate]:
    """Give the rules that were read in sources, and that no system which was run has."""
    return [Candidate(name, "", _read_by(row.rule)) for name, row in READ_RULES.items() if row.rule not in TABLE]

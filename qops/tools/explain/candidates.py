"""The candidates for a dump: every rule of its kind, with each real scale that the systems of the rule form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.add import add
from qops.rules.averages import AVERAGE_POOL
from qops.rules.bias_rules import REAL_BIAS, BiasRule
from qops.rules.binary import ADD, MUL
from qops.rules.mul import mul
from qops.rules.numbers import FLOATS, SINGLES, Numbers
from qops.rules.operands import BinaryRule
from qops.rules.pooling import average_pool
from qops.rules.quantize import quantize
from qops.rules.quantize_rules import QUANTIZE
from qops.rules.range_rules import RANGE_RULES
from qops.rules.ranges import choose_range
from qops.rules.read_rules import READ_RULES
from qops.rules.requantize import requantize
from qops.rules.scales import Derivation
from qops.rules.table import BLOCKS, TABLE, BlockRule, Rule
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.sum_tables import SumTable, sum_tables

__all__ = ["Candidate", "by_hand", "choices", "of", "of_another_scale", "of_the_other_side", "that_wrap"]


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


def of(dump: Dump) -> Iterator[Candidate]:
    """Give every candidate for a dump, but those `by_hand`."""
    for c in _RULES[dump.kind](dump):
        if _is_by_hand(dump, c):
            continue
        yield c._replace(codes=_clamped(c.codes)) if dump.is_clamped_after else c


def _clamped(codes: Callable[[Dump], NDArray[Any]]) -> Callable[[Dump], NDArray[Any]]:
    return lambda d: np.clip(codes(d), *d.ends)


def of_another_scale(dump: Dump) -> Iterator[Candidate]:
    """Give rules of requantize with a scale that the systems of the rule would not form."""
    if dump.kind == "requantize" and dump.numbers.get("scale") is None and "integers" not in dump.numbers:
        scales = dump.scales
        for rule in _FORMED:
            if TABLE[rule].is_stepwise:  # with one scale it is fp32-even-zp-inside
                continue
            own = [scales[derive] for derive in _derivations(rule, dump)]
            for derive in scales:
                if not any(np.array_equal(scales[derive], other) for other in own):
                    yield Candidate(rule, f"scale {derive}", _requantized_by(rule, derive))


def of_the_other_side(dump: Dump) -> Iterator[Candidate]:
    """Give rules with the zero point on the other side of the rounding.

    Rules that round half up, or down, are left out, as they give the same codes then. So is fp32-even, as that is a
    rule of its own then.
    """
    if dump.kind == "requantize" and dump.numbers.get("zero_point"):
        for rule in _MOVES_TIES:
            side = "outside" if TABLE[rule].zero_point == "inside" else "inside"
            for derive in _derivations(rule, dump):
                yield Candidate(rule, f"zero_point {side} of the rounding", _on_the_other_side(rule, derive))


def that_wrap(dump: Dump) -> Iterator[Candidate]:
    """Give rules of requantize whose codes keep their low bits where they should saturate."""
    info = np.iinfo(dump.y.dtype)
    if dump.kind == "requantize" and dump.ends == (info.min, info.max) and info.bits < 32:
        for c in _requantized(dump):
            if c.rule in TABLE:
                yield Candidate(c.rule, "codes wrap instead of saturating", _with_low_bits(c.codes))


def _with_low_bits(codes: Callable[[Dump], NDArray[Any]]) -> Callable[[Dump], NDArray[Any]]:
    def wrapped(d: Dump) -> NDArray[Any]:
        wide = replace(d, y=d.y.astype(np.int32)).but(qmin=None, qmax=None)
        return codes(wide).astype(d.y.dtype)

    return wrapped


_TAILS = {
    ("add", "torch-tail"),
    ("add", "torch-acl-tail"),
    ("quantize", "double-div-away"),
}
"""Rows by which systems only compute the last elements of others."""
_MOVES_TIES = ["tflite-double", "q31", "rndna", "shift-toward-zero"]
_MOVES_TIES += ["double-away", "fp32-away", "tosa-inexact", "double-even-zp-inside"]
_ROUND: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {  # real values
    "half_even": np.rint,
    "half_away": lambda v: np.trunc(v) + np.trunc(2 * (v - np.trunc(v))),
}


def _on_the_other_side(rule: str, derive: Derivation) -> Callable[[Dump], NDArray[Any]]:
    row = TABLE[rule]

    def codes(d: Dump) -> NDArray[Any]:
        x = d.acc.astype(np.int64) - d.numbers.get("in_zero_point", 0)
        scale = d.scales[derive]
        if row.multiplier in FLOATS:
            found = _in_floats(row, d.along_axis(scale), x, d.numbers["zero_point"])
        else:
            given = d.numbers.get("integers", scale)
            m, n = (d.along_axis(v) for v in Numbers(row, given, 0, 0, 0).integers)
            found = _in_integers(row, m, n, x, d.numbers["zero_point"])
        return np.asarray(np.clip(found, *d.ends))

    return codes


def _in_floats(row: Rule, scale: Any, x: NDArray[Any], zero: int) -> NDArray[Any]:
    real = np.float32 if row.multiplier in SINGLES else np.float64
    near = np.asarray(scale) if row.multiplier == "float64" else np.asarray(scale).astype(np.float32)
    product = x.astype(real) * near.astype(real)
    if row.zero_point == "inside":
        return _ROUND[row.first](product) + zero
    return _ROUND[row.first](product + real(zero))


def _in_integers(row: Rule, m: Any, n: Any, x: NDArray[Any], zero: int) -> NDArray[Any]:
    if int(np.max(n)) + zero.bit_length() > 61:
        raise bad_value("zero_point", "64 bits do not hold it times 2**right_shift")
    if row.second and (x.min() < -(2**31) or x.max() >= 2**31):
        raise bad_value("x", f"32 bits do not hold its values, {x.min()} to {x.max()}")
    left, rest = (np.maximum(31 - n, 0), np.maximum(n - 31, 0)) if row.second else (0, n)
    high = (x << left).astype(np.int32).astype(np.int64) * m if row.second else x * m
    total = ((high + 2**30) >> 31 if row.second else high) + (np.int64(zero) << rest)
    half = 0 if row.first == "truncate" else np.left_shift(1, rest) >> 1
    return np.asarray(np.sign(total) * ((np.abs(total) + half) >> rest))


_FORMED = {
    rule: cast("list[Derivation]", ["double"] if row.is_stepwise else row.scales.split(", "))
    for rule, row in TABLE.items()
    if row.multiplier != "given"
}
"""How the systems of a rule form the scale; one of the ways where they form none."""


def _derivations(rule: str, dump: Dump) -> list[Derivation]:
    """How the systems of a rule form the scale; one of the ways where the dump has it already."""
    return _FORMED[rule] if "in_scale" in dump.numbers else ["double"]


def _requantized_by(rule: str, derive: Derivation) -> Callable[[Dump], NDArray[Any]]:
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


def _requantized(dump: Dump) -> Iterator[Candidate]:
    scales = {derive: np.asarray(scale).tobytes() for derive, scale in dump.scales.items()}
    for rule in _FORMED:
        for derive in {scales[derive]: derive for derive in _derivations(rule, dump)}.values():
            yield Candidate(rule, "", _requantized_by(rule, derive))
    if "integers" in dump.numbers:
        for rule in (rule for rule, row in TABLE.items() if row.multiplier == "given"):
            yield Candidate(rule, "", _requantized_by(rule, "double"))
    for name, row in BLOCKS.items():
        if _has_blocks_and_tail(row, dump):
            for derive in _derivations(row.whole, dump):
                yield Candidate(name, "", _requantized_by(name, derive))
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


_OF_PAIRS = ("integers", *(f"{name}_{word}" for name in "aby" for word in ("scale", "zero_point")))


def _pairs(table: dict[str, BinaryRule], call: Callable[..., NDArray[Any]]) -> Callable[[Dump], Iterator[Candidate]]:
    def codes_by(rule: str) -> Callable[[Dump], NDArray[Any]]:
        def codes(d: Dump) -> NDArray[Any]:
            return call(d.x, d.b, rule, **{name: d.numbers[name] for name in _OF_PAIRS if name in d.numbers})

        return codes

    def rules(dump: Dump) -> Iterator[Candidate]:
        for rule in table:
            yield Candidate(rule, "", codes_by(rule))

    return rules


_BY_HAND = "code by hand"
_WITH_RANGES = "div-away", "inv-even", "tflite-opt", "div-even", "fma-zp-inside", "inv-even-wraps"
"""Quantizers that are tried with each range rule."""


def _is_by_hand(dump: Dump, c: Candidate) -> bool:
    """Whether no system computes whole tensors so."""
    tables: dict[str, dict[str, Any]] = {"quantize": {**QUANTIZE}, "average_pool": {**AVERAGE_POOL}}
    of = tables.get(dump.kind, {})
    return (dump.kind, c.rule) in _TAILS or (c.rule in of and of[c.rule].systems == _BY_HAND)


def by_hand(dump: Dump) -> Iterator[Candidate]:
    """Give candidates that no system which was run computes for whole tensors, but code by hand, or a source.

    `of` leaves them out: they are for data that no rule of a system gives.
    """
    if dump.kind == "requantize":
        found = [Candidate(name, "", _read_by(row.rule)) for name, row in READ_RULES.items() if row.rule not in TABLE]
    else:
        found = [c for c in _RULES[dump.kind](dump) if _is_by_hand(dump, c)]
    for c in found:
        yield c._replace(codes=_clamped(c.codes)) if dump.is_clamped_after else c


def _read_by(rule: Any) -> Callable[[Dump], NDArray[Any]]:
    def codes(d: Dump) -> NDArray[Any]:
        factor = {"integers": d.numbers["integers"]} if "integers" in d.numbers else {"scale": d.scales["double"]}
        return requantize(d.acc, rule, dtype=d.y.dtype, **factor, **d.how)

    return codes


def _quantized_by(rule: str) -> Callable[[Dump], NDArray[Any]]:
    def codes(d: Dump) -> NDArray[Any]:
        n = d.numbers
        how = {name: n[name] for name in ("scale", "zero_point", "axis") if name in n}
        return quantize(d.x, rule, dtype=d.y.dtype, **how)

    return codes


def _quantized_in(range_rule: str, rule: str) -> Callable[[Dump], NDArray[Any]]:
    def codes(d: Dump) -> NDArray[Any]:
        scale, zero_point, _ = choose_range(d.numbers["rmin"], d.numbers["rmax"], range_rule, dtype=d.y.dtype)
        return quantize(d.x, rule, scale=scale, zero_point=zero_point, dtype=d.y.dtype)

    return codes


def choices(dump: Dump) -> set[tuple[float, int]]:
    """Give the scales and zero points that range rules choose for the ``rmin`` and ``rmax`` of a dump."""
    found: set[tuple[float, int]] = set()
    for rule in RANGE_RULES:
        with suppress(ValueError):  # a range that has no scale by this rule
            scale, zero_point, _ = choose_range(dump.numbers["rmin"], dump.numbers["rmax"], rule, dtype=dump.y.dtype)
            found.add((scale, zero_point))
    return found


def _quantized(dump: Dump) -> Iterator[Candidate]:
    if "scale" in dump.numbers:
        for rule, row in QUANTIZE.items():
            if row.product != "range":
                yield Candidate(rule, "", _quantized_by(rule))
        return
    for rule in _WITH_RANGES:
        for choice in RANGE_RULES:
            yield Candidate(f"{choice}, {rule}", "", _quantized_in(choice, rule))
    ends = dump.numbers["rmin"], dump.numbers["rmax"]
    yield Candidate("openvino", "", lambda d: quantize(d.x, "openvino", range=ends, dtype=d.y.dtype))


_OF_WINDOWS = ("kernel", "stride", "padding", "count_padding", "zero_point", "x_scale")


def _pooled(dump: Dump) -> Iterator[Candidate]:
    n = dump.numbers
    rescaled = n.get("y_scale") is not None
    kept = not rescaled or (n["y_scale"], n["y_zero_point"]) == (n["x_scale"], n["zero_point"])

    def codes_by(rule: str) -> Callable[[Dump], NDArray[Any]]:
        def codes(d: Dump) -> NDArray[Any]:
            n = d.numbers
            how = {name: n[name] for name in _OF_WINDOWS if name in n}
            if AVERAGE_POOL[rule].rescales:
                how |= {"y_scale": n["y_scale"], "y_zero_point": n["y_zero_point"]}
            found = average_pool(d.x, rule, **how)
            if found.size != d.y.size:
                raise bad_value("y", f"shape {d.y.shape}, a kernel of {n['kernel']} makes {found.shape} of x, NHWC")
            return found

        return codes

    for name, rule in AVERAGE_POOL.items():
        if rescaled if rule.rescales else kept:
            yield Candidate(name, "", codes_by(name))


def _summed_by(row: SumTable) -> Callable[[Dump], NDArray[Any]]:
    def sums(d: Dump) -> NDArray[Any]:
        assert d.b is not None  # the weights, which were checked
        x, w = d.x.reshape(-1, len(d.b)), d.b
        x_zero, w_zero = (d.numbers.get(f"{name}_zero_point", 0) for name in "xw")
        total = row.sums(x, w).astype(np.int64) + len(w) * x_zero * w_zero
        total -= x_zero * w.sum(0, dtype=np.int64) + w_zero * x.sum(1, dtype=np.int64)[:, np.newaxis]
        return total.astype(np.int32).reshape(d.y.shape)

    return sums


def _summed(dump: Dump) -> Iterator[Candidate]:
    for name, row in sum_tables().items():
        yield Candidate(name, "", _summed_by(row))


_RULES: dict[str, Callable[[Dump], Iterator[Candidate]]] = {
    "requantize": _requantized,
    "add": _pairs(ADD, add),
    "mul": _pairs(MUL, mul),
    "quantize": _quantized,
    "average_pool": _pooled,
    "accumulate": _summed,
}

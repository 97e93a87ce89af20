"""The candidates for a dump: every rule of its kind, with each real scale that the systems of the rule form."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.add import add
from qops.rules.averages import AVERAGE_POOL
from qops.rules.binary import ADD, MUL
from qops.rules.mul import mul
from qops.rules.operands import BinaryRule
from qops.rules.pooling import average_pool
from qops.rules.quantize import quantize
from qops.rules.quantize_rules import QUANTIZE
from qops.rules.range_rules import RANGE_RULES
from qops.rules.ranges import choose_range
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.requantize_candidates import of_sources, requantized
from qops.tools.explain.sum_tables import SumTable, sum_tables

__all__ = ["by_hand", "choices", "of"]

_TAILS = {
    ("add", "torch-tail"),
    ("add", "torch-acl-tail"),
    ("quantize", "double-div-away"),
}
"""Rows by which systems only compute the last elements of others."""
_BY_HAND = "code by hand"
_WITH_RANGES = "div-away", "inv-even", "tflite-opt", "div-even", "fma-zp-inside", "inv-even-wraps"
"""Quantizers that are tried with each range rule."""


def of(dump: Dump) -> Iterator[Candidate]:
    """Give every candidate for a dump, but those `by_hand`."""
    for c in _RULES[dump.kind](dump):
        if _is_by_hand(dump, c):
            continue
        yield c._replace(codes=_clamped(c.codes)) if dump.is_clamped_after else c


def by_hand(dump: Dump) -> Iterator[Candidate]:
    """Give candidates that no system which was run computes for whole tensors, but code by hand, or a source.

    `of` leaves them out: they are for data that no rule of a system gives.
    """
    found = [c for c in _RULES[dump.kind](dump) if _is_by_hand(dump, c)]
    for c in of_sources() if dump.kind == "requantize" else found:
        yield c._replace(codes=_clamped(c.codes)) if dump.is_clamped_after else c


def _is_by_hand(dump: Dump, c: Candidate) -> bool:
    """Whether no system computes whole tensors so."""
    tables: dict[str, dict[str, Any]] = {"quantize": {**QUANTIZE}, "average_pool": {**AVERAGE_POOL}}
    of = tables.get(dump.kind, {})
    return (dump.kind, c.rule) in _TAILS or (c.rule in of and of[c.rule].systems == _BY_HAND)


def _clamped(codes: Callable[[Dump], NDArray[Any]]) -> Callable[[Dump], NDArray[Any]]:
    return lambda d: np.clip(codes(d), *d.ends)


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
    "requantize": requantized,
    "add": _pairs(ADD, add),
    "mul": _pairs(MUL, mul),
    "quantize": _quantized,
    "average_pool": _pooled,
    "accumulate": _summed,
}

"""Rules of requantization with a mistake: another scale, the zero point on the other side, codes that wrap."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.rules.numbers import FLOATS, SINGLES, Numbers
from qops.rules.scales import Derivation
from qops.rules.table import TABLE, Rule
from qops.tools.explain.candidate import Candidate
from qops.tools.explain.op_dump import Dump
from qops.tools.explain.requantize_candidates import FORMED, by_rule, derivations, requantized

__all__ = ["of_another_scale", "of_the_other_side", "that_wrap"]

_MOVES_TIES = ["tflite-double", "q31", "rndna", "shift-toward-zero"]
_MOVES_TIES += ["double-away", "fp32-away", "tosa-inexact", "double-even-zp-inside"]
_ROUND: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {  # real values
    "half_even": np.rint,
    "half_away": lambda v: np.trunc(v) + np.trunc(2 * (v - np.trunc(v))),
}


def of_another_scale(dump: Dump) -> Iterator[Candidate]:
    """Give rules of requantize with a scale that the systems of the rule would not form."""
    if dump.kind == "requantize" and dump.numbers.get("scale") is None and "integers" not in dump.numbers:
        scales = dump.scales
        for rule in FORMED:
            if TABLE[rule].is_stepwise:  # with one scale it is fp32-even-zp-inside
                continue
            own = [scales[derive] for derive in derivations(rule, dump)]
            for derive in scales:
                if not any(np.array_equal(scales[derive], other) for other in own):
                    yield Candidate(rule, f"scale {derive}", by_rule(rule, derive))


def of_the_other_side(dump: Dump) -> Iterator[Candidate]:
    """Give rules with the zero point on the other side of the rounding.

    Rules that round half up, or down, are left out, as they give the same codes then. So is fp32-even, as that is a
    rule of its own then.
    """
    if dump.kind == "requantize" and dump.numbers.get("zero_point"):
        for rule in _MOVES_TIES:
            side = "outside" if TABLE[rule].zero_point == "inside" else "inside"
            for derive in derivations(rule, dump):
                yield Candidate(rule, f"zero_point {side} of the rounding", _on_the_other_side(rule, derive))


def that_wrap(dump: Dump) -> Iterator[Candidate]:
    """Give rules of requantize whose codes keep their low bits where they should saturate."""
    info = np.iinfo(dump.y.dtype)
    if dump.kind == "requantize" and dump.ends == (info.min, info.max) and info.bits < 32:
        for c in requantized(dump):
            if c.rule in TABLE:
                yield Candidate(c.rule, "codes wrap instead of saturating", _with_low_bits(c.codes))


def _with_low_bits(codes: Callable[[Dump], NDArray[Any]]) -> Callable[[Dump], NDArray[Any]]:
    def wrapped(d: Dump) -> NDArray[Any]:
        wide = replace(d, y=d.y.astype(np.int32)).but(qmin=None, qmax=None)
        return codes(wide).astype(d.y.dtype)

    return wrapped


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

"""Test vectors for a port of a rule that works on real values, most of which add a real bias."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import shown
from qops.codes import of_dtype
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.c_source import emit
from qops.rules.requantize import Requantize
from qops.rules.table import TABLE
from qops.tools.explain.probes import boundaries, distinct, edges
from qops.tools.vectors.choosing import MOST, Run, always, telling

__all__ = ["BiasNumbersGiven", "bias_vectors_of"]

Others = Iterator[tuple[str, Run]]


@dataclass(frozen=True)
class BiasNumbersGiven:
    """What a rule of `REAL_BIAS` was given, and what a port takes.

    Attributes
    ----------
    op : Requantize
        The rule, prepared.
    """

    op: Requantize

    @property
    def facts(self) -> dict[str, Any]:
        """The numbers by the names of a dump."""
        op: Any = self.op
        in_scale, w_scale, out_scale = op.scales
        found = {"in_scale": in_scale, "w_scale": w_scale}
        if op.range is None:
            found |= {"out_scale": out_scale, "zero_point": op.zero_point}
        else:
            found |= {"rmin": op.range[0], "rmax": op.range[1]}
        more = {"bias": op.bias, "w_sums": op.w_sums, "x_zero_point": op.x_zero_point or None}
        return found | {name: value for name, value in more.items() if value is not None}

    def call(self) -> str:
        """The call of the rule's C for accumulator i."""
        rule = self.op.rule
        numbers = [_literal(number) for number in map(np.asarray, self.op.floats)]
        if REAL_BIAS[rule].zero_point == "outside":
            numbers.append("QOPS_ZERO_POINT")
        name = rule.replace("-", "_").replace(".", "_")
        return f"{name}(qops_acc[i], {', '.join(numbers)}, QOPS_QMIN, QOPS_QMAX)"

    def text(self) -> str:
        """The rule in C."""
        return emit(self.op.rule)


def _literal(number: NDArray[Any]) -> str:
    value = number.item()
    return str(value) if isinstance(value, int) else f"{float(value).hex()}f"


def bias_vectors_of(
    rule: str, given: dict[str, Any]
) -> tuple[Requantize, NDArray[np.int32], NDArray[Any], list[str], list[str]]:
    """Choose accumulators for a rule of `REAL_BIAS`.

    Parameters
    ----------
    rule : str
        A name in `REAL_BIAS`.
    given : dict
        What `qops.rules.requantize` takes beside the rule.

    Returns
    -------
    (Requantize, ndarray of int32, ndarray, list of str, list of str)
        The rule, prepared; accumulators and their codes; what they tell the rule from; what is the same function.

    Raises
    ------
    TypeError, ValueError
        What `Requantize` refuses; numbers of several channels.
    """
    codes = of_dtype(given["dtype"])
    op = Requantize(rule, **given)
    for name in ("scales", "bias", "w_sums"):
        value = getattr(op, name)
        if any(map(np.ndim, value if isinstance(value, tuple) else (value,))):
            raise bad_value(name, f"expected the numbers of one channel, got {shown(given[name])}")
    lo, hi = op.ends
    zero = _zero_of(op)
    kept = [boundaries(float(op.scale), lo, hi, zero)]
    runs: list[tuple[str, Run]] = []
    own: Run = op
    for name, run in [(rule, own), *_others(rule, given, op)]:
        kept.append(edges(run, lo, hi))
        runs.append((name, run))
    x = distinct(kept)
    tried = [(name, run(x)) for name, run in runs]
    y, others = tried[0][1], tried[1:]
    picked = [*telling(y, [made for _, made in others]), *always(x, y, float(op.scale), (lo, hi))]
    chosen = np.unique(picked[:MOST]).astype(np.intp)
    killed = [name for name, made in others if (made[chosen] != y[chosen]).any()]
    alike = [name for name, made in others if np.array_equal(made, y)]
    return op, x[chosen], y[chosen].astype(codes.dtype), killed, alike


def _zero_of(op: Any) -> int:
    """Give the code of real 0; with a range, about that."""
    if op.range is None:
        return int(op.zero_point)
    lo, hi = op.range
    return int(np.clip(round(-lo / (hi - lo) * 255), *op.ends))


def _others(rule: str, given: dict[str, Any], op: Any) -> Others:
    """Every other rule that takes these numbers, and every mistake, as functions from accumulators to codes."""
    for name in REAL_BIAS:
        if name != rule and REAL_BIAS[name].takes == REAL_BIAS[rule].takes:
            yield from _made(name, name, given)
    in_scale, w_scale, out_scale = op.scales
    bias, zero = op.bias or 0.0, _zero_of(op)
    whole = round(bias / (in_scale * w_scale))
    own = {"zero_point": zero, "dtype": op.dtype, "qmin": op.ends[0], "qmax": op.ends[1]}
    factor = {"scale": op.scale} if out_scale is None else {"scales": op.scales}
    for name, row in TABLE.items():
        if row.multiplier != "given" and abs(whole) < 2**31:
            words = f"{name}, the bias rounded to an integer" if bias else name
            yield from _made(words, name, {**factor, **own, "in_zero_point": -whole})
    if "bias" in REAL_BIAS[rule].takes:
        for words, other in (("bias left out", 0.0), ("bias added twice", 2 * bias), ("bias subtracted", -bias)):
            yield from _made(words, rule, {**given, "bias": other})
        yield from _made("bias rounded to an integer", rule, {**given, "bias": whole * in_scale * w_scale})
    if given["zero_point"]:
        for words, other in (("zero point left out", 0), ("zero point of the wrong sign", -given["zero_point"])):
            yield from _made(words, rule, {**given, "zero_point": other})


def _made(words: str, rule: str, given: dict[str, Any]) -> Others:
    try:
        op = Requantize(rule, **given)
    except ValueError:  # numbers that this rule does not take
        return

    def run(x: NDArray[np.int32]) -> NDArray[Any]:
        return op(x.astype(np.int64)) if rule in REAL_BIAS else op(x)

    try:
        run(np.array([-(2**31), 2**31 - 1], np.int32))
    except ValueError:  # an accumulator that the rule does not hold with this bias
        return
    yield words, run

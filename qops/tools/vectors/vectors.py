"""Test vectors for a port: a few accumulators on which every other rule and every small mistake fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import fitted
from qops.checks import integer, number, shown
from qops.codes import TABLE as CODES
from qops.codes import of_dtype
from qops.fixedpoint import Multiplier
from qops.rules.bias_rules import REAL_BIAS
from qops.rules.c_source import emit
from qops.rules.numbers import Numbers, given_integers, rule_of
from qops.rules.requantize import requantize
from qops.rules.table import TABLE, Rule
from qops.tools.explain.probes import boundaries, distinct, edges
from qops.tools.vectors.bias_vectors import BiasNumbersGiven, bias_vectors_of
from qops.tools.vectors.choosing import MOST, Run, always, telling
from qops.tools.vectors.formats import shown_vectors

__all__ = ["Vectors", "vectors"]

_S32 = CODES["s32"]
_ROUNDINGS = ("floor", "truncate", "half_up", "half_away", "half_even")


@dataclass(frozen=True)
class Vectors:
    """Accumulators and the codes that a rule gives.

    Attributes
    ----------
    rule : str
        Name of the rule.
    scale : float
        The real scale.
    integers : Multiplier or None
        The multiplier and right shift that the rule makes of it; None if the rule multiplies by the scale itself.
    zero_point, qmin, qmax : int
        Code of real 0, and the ends that codes are clamped to.
    acc : ndarray of int32
        Accumulators, at most 256.
    y : ndarray
        Their codes.
    killed : list of str
        Other rules and mistakes that give another code for at least one accumulator.
    alike : list of str
        Other rules and mistakes that are the same function at this scale: of all accumulators that were tried, none
        tells them apart.
    real : BiasNumbersGiven or None
        What a rule of `qops.rules.REAL_BIAS` was given; None for other rules.
    """

    rule: str
    scale: float
    integers: Multiplier | None
    zero_point: int
    qmin: int
    qmax: int
    acc: NDArray[np.int32]
    y: NDArray[Any]
    killed: list[str]
    alike: list[str]
    real: BiasNumbersGiven | None = None

    def __str__(self) -> str:
        return (
            f"{self.rule}, scale {self.scale!r}, zero point {self.zero_point}: {self.acc.size} accumulators "
            f"tell it from {len(self.killed)} other rules and mistakes; "
            f"the same function here: {', '.join(self.alike) or 'none'}"
        )

    def __repr__(self) -> str:
        return fitted(f"<Vectors: {self}>")

    def _repr_html_(self) -> str:
        """Show what the vectors tell apart and the first of them in a notebook."""
        return shown_vectors(str(self), self.columns)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are written to files, by name."""
        return {"acc": self.acc, "y": self.y}

    @property
    def constants(self) -> dict[str, int]:
        """The integers that a port uses, by name."""
        found = {"zero_point": self.zero_point, "qmin": self.qmin, "qmax": self.qmax}
        return found if self.integers is None else {**found, **self.integers._asdict()}

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the rule and all numbers, by the names of a dump."""
        found: dict[str, Any] = {"kind": "requantize", "rule": self.rule, "dtype": self.y.dtype.name}
        if self.real is not None:
            return found | self.real.facts | {"qmin": self.qmin, "qmax": self.qmax}
        found["scale"] = self.scale
        return found | self.constants

    def program(self) -> tuple[str, dict[str, str]]:
        """Write the rule in C.

        Returns
        -------
        (str, dict of str to str)
            The text of the function; and for y, the expression in C that computes its element i.

        Raises
        ------
        ValueError
            A rule that has no C.
        """
        if self.real is not None:
            return self.real.text(), {"y": self.real.call()}
        how = "QOPS_SCALE" if self.integers is None else "QOPS_MULTIPLIER, QOPS_RIGHT_SHIFT"
        if TABLE[self.rule].multiplier in ("float32", "float64 of a float32"):
            how = "1, (float)QOPS_SCALE, 1" if TABLE[self.rule].is_stepwise else "(float)QOPS_SCALE"
        zero, name = "QOPS_ZERO_POINT", self.rule.replace("-", "_")
        if TABLE[self.rule].zero_point == "in the accumulator":
            row = TABLE[self.rule]
            zero = str(Numbers(row, self.scale, self.zero_point, self.qmin, self.qmax).zero_in_sum)
        return emit(self.rule), {"y": f"{name}(qops_acc[i], {how}, {zero}, QOPS_QMIN, QOPS_QMAX)"}


def _mutants(rule: Rule, n: Numbers) -> Iterator[tuple[str, Rule, Numbers | None]]:
    """Every mistake of one step in a rule: its name, the row of the rule, and the numbers if they change too."""
    for rounding in _ROUNDINGS:
        if rounding != rule.first:
            yield f"product rounded {rounding}", rule._replace(first=rounding), None
        if rule.second and rounding != rule.second:
            yield f"rest rounded {rounding}", rule._replace(second=rounding), None
    if n.zero_point:
        yield "zero point of the wrong sign", rule, Numbers(rule, n.scale, -n.zero_point, n.lo, n.hi)
        yield "zero point left out", rule, Numbers(rule, n.scale, 0, n.lo, n.hi)
        if rule.multiplier.startswith("float"):
            other = "outside" if rule.zero_point == "inside" else "inside"
            yield f"zero point {other}", rule._replace(zero_point=other), None
    if not rule.multiplier.startswith("float"):
        multiplier, right_shift = n.integers
        for step in (-1, 1):
            given = Multiplier(multiplier + step, right_shift)
            if given.multiplier < 2**31:
                yield f"multiplier {step:+}", rule, Numbers(rule, given, n.zero_point, n.lo, n.hi)
            if right_shift + step <= 62:
                given = Multiplier(multiplier, right_shift + step)
                yield f"right shift {step:+}", rule, Numbers(rule, given, n.zero_point, n.lo, n.hi)


def _running(n: Numbers, dtype: Any) -> Run:
    def run(x: NDArray[np.int32]) -> NDArray[Any]:
        out = np.empty(x.shape, dtype)
        n.stage().run(x, out)
        return out

    return run


def _others(rule: Rule, n: Numbers, dtype: Any) -> Iterator[tuple[str, Run]]:
    """Every other rule and every mistake, as functions from accumulators to codes."""
    for other in TABLE.values():
        if other.name != rule.name and other.multiplier != "given":
            yield other.name, _running(Numbers(other, n.scale, n.zero_point, n.lo, n.hi), dtype)
    for name, row, numbers in _mutants(rule, n):
        yield name, _running(numbers or Numbers(row, n.scale, n.zero_point, n.lo, n.hi), dtype)
    whole = _running(Numbers(rule, n.scale, 0, _S32.lowest, _S32.highest), np.int32)
    yield "no saturation", lambda x: (whole(x).astype(np.int64) + n.zero_point).astype(dtype)
    if n.zero_point:
        yield (
            "clamped before the zero point",
            lambda x: (np.clip(whole(x).astype(np.int64), n.lo, n.hi) + n.zero_point).astype(dtype),
        )


def _tried(rule: Rule, n: Numbers, dtype: Any) -> tuple[NDArray[np.int32], list[tuple[str, NDArray[Any]]]]:
    """Accumulators at the edges of the codes of every rule and mistake, and the codes that each of them gives there."""
    own, runs, kept = _running(n, dtype), [], [boundaries(n.scale, n.lo, n.hi, n.zero_point)]
    for name, run in [(rule.name, own), *_others(rule, n, dtype)]:
        try:
            kept.append(edges(run, n.lo, n.hi))
        except ValueError:  # a scale that this rule does not take
            if run is own:
                raise
            continue
        runs.append((name, run))
    x = distinct(kept)
    return x, [(name, run(x)) for name, run in runs]


@refusing_unknown
def vectors(
    rule: str,
    *,
    scale: float | None = None,
    integers: tuple[int, int] | None = None,
    zero_point: int = 0,
    dtype: DTypeLike = "int8",
    qmin: int | None = None,
    qmax: int | None = None,
    scales: tuple[float, float, float | None] | None = None,
    bias: float | None = None,
    range: tuple[float, float] | None = None,
    w_sums: int | None = None,
    x_zero_point: int = 0,
    **unknown: Never,
) -> Vectors:
    """Choose at most 256 accumulators on which every other rule, and every one-step mistake, fails.

    For this rule, every other rule in `qops.rules.TABLE` and every mistake of one step, the first accumulator of each
    code and the one before it are tried: rules that never fall are the same function if they agree there. The mistakes
    are another rounding, a multiplier or a shift that is off by one, a zero point of the wrong sign, left out or on the
    other side of the rounding, no saturation, a clamp before the zero point. Of a rule with a real bias they are the
    bias left out, added twice, subtracted or rounded to an integer, as all rules of `TABLE` take it. The result has a
    few accumulators on which each of them fails, and ties on both sides of 0 and both ends of saturation.

    Parameters
    ----------
    rule : str
        A name in `qops.rules.TABLE`, or in `qops.rules.REAL_BIAS`, whose rules take `scales`.
    scale : float, optional
        Input step / output step, above 0.
    integers : (int, int), optional
        What a port has instead of the scale: the multiplier, above 0, and the right shift.
    zero_point : int
        Code of real 0.
    dtype : data type
        Type of the codes: int8, uint8, int16 or uint16.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given.
    scales : (float, float, float or None), optional
        For a rule of `qops.rules.REAL_BIAS`: in_scale, w_scale and out_scale, which is None beside a range.
    bias : float, optional
        The real bias that it adds.
    range : (float, float), optional
        For the rules of OpenVINO: the real values of codes 0 and 255.
    w_sums, x_zero_point : int, optional
        For the rule mnn: the sum of the weights, and the code of real 0 of the input.

    Returns
    -------
    Vectors
        Its list `killed` was measured on the accumulators that are given.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known or takes no scale, a scale that is not above 0 or out of the rule's range.

    Examples
    --------
    >>> found = qops.vectors("tflite-double", scale=0.0033, zero_point=3)
    >>> found.acc.size < 64, "tflite-single" in found.killed, "clamped before the zero point" in found.killed
    (True, True, True)
    >>> found.alike[:3]  # these are the same function at this scale
    ['q31', 'q31-wrap', 'tosa-double']
    """
    if unknown:
        raise unknown_keyword(vectors, unknown)
    x_zero_point = integer(x_zero_point, "x_zero_point")
    if isinstance(rule, str) and rule in REAL_BIAS:
        ends = {"zero_point": zero_point, "dtype": dtype, "qmin": qmin, "qmax": qmax}
        factor = {"scale": scale, "integers": integers, "scales": scales}
        return _of_real_bias(rule, {**factor, **ends, "bias": bias, "range": range, "w_sums": w_sums}, x_zero_point)
    row = rule_of(rule)
    _refuse_real(rule, scales=scales, bias=bias, range=range, w_sums=w_sums, x_zero_point=x_zero_point or None)
    if row.multiplier == "given":
        raise bad_value("rule", f"{rule} takes no scale")
    given, codes = _given(scale, integers), of_dtype(dtype)
    if codes.dtype.itemsize > 2:
        raise bad_type("dtype", f"expected codes of 8 or 16 bits, got {codes.dtype}")
    lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
    hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
    n = Numbers(row, given, integer(zero_point, "zero_point", codes.lowest, codes.highest), lo, hi)
    x, tried = _tried(row, n, codes.dtype)
    y, others = tried[0][1], tried[1:]
    telling_all = telling(y, [codes for _, codes in others])
    chosen = np.unique([*telling_all, *always(x, y, n.scale, (lo, hi))][:MOST]).astype(np.intp)
    acc = x[chosen]
    how = {"scale": given} if integers is None else {"integers": given}
    again = requantize(acc, rule, **how, zero_point=n.zero_point, dtype=codes.dtype, qmin=lo, qmax=hi)
    killed = [name for name, other in others if (other[chosen] != again).any()]
    alike = [name for name, other in others if np.array_equal(other, y)]
    made = None if row.multiplier.startswith("float") else Multiplier(*n.integers)
    return Vectors(row.name, n.scale, made, n.zero_point, lo, hi, acc, again, killed, alike)


def _given(scale: Any, integers: Any) -> Any:
    """The scale or the integers, checked."""
    if (scale is None) == (integers is None):
        raise bad_value("scale, integers", f"expected one of them, got {shown(scale)} and {shown(integers)}")
    found = number(scale, "scale") if integers is None else given_integers(integers)
    first = found if integers is None else found[0]
    if not isinstance(first, int | float):
        raise bad_value("integers", f"expected one multiplier and one right shift, got {shown(integers)}")
    if not first > 0:
        raise bad_value("scale" if integers is None else "integers", f"{first} is not above 0")
    return found


def _of_real_bias(rule: str, given: dict[str, Any], x_zero_point: int) -> Vectors:
    """Choose the vectors of a rule of `REAL_BIAS`."""
    codes = of_dtype(given["dtype"])
    if codes.dtype.itemsize > 2:
        raise bad_type("dtype", f"expected codes of 8 or 16 bits, got {codes.dtype}")
    op, acc, y, killed, alike = bias_vectors_of(rule, {**given, "x_zero_point": x_zero_point})
    zero = 0 if op.range is not None else op.zero_point
    return Vectors(rule, float(op.scale), None, zero, *op.ends, acc, y, killed, alike, BiasNumbersGiven(op))


def _refuse_real(rule: str, **given: Any) -> None:
    """Refuse what only rules of `REAL_BIAS` take."""
    for name, value in given.items():
        if value is not None:
            raise bad_value(name, f"expected none by {rule}, which adds no real bias, got {shown(value)}")

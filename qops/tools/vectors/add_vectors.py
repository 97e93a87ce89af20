"""Test vectors for a port of an add of two uint8 tensors: codes, the value before the last step, the result."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Never, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import fitted
from qops.checks import choice, shown, span
from qops.codes import TABLE
from qops.frontdoor.add import add_8p8to8_integers
from qops.frontdoor.add import quantized_add_8p8to8 as frontdoor_add
from qops.nnlib.add import quantized_add_8p8to8 as nnlib_add
from qops.nnlib.add import quantized_add_8p8to8_integers as nnlib_integers
from qops.qtensor import QTensor
from qops.tools.vectors.add_forms import FORMS, Integers
from qops.tools.vectors.choosing import MOST, telling
from qops.tools.vectors.formats import shown_vectors

__all__ = ["AddVectors", "add_vectors"]

Range: TypeAlias = tuple[float, float]
_CODES = TABLE["u8"]
_NEAR = 2.0**-10  # in code steps; an exact sum this close to a tie counts as a tie


@dataclass(frozen=True)
class AddVectors:
    """Pairs of codes, and the codes that an add gives for them.

    Attributes
    ----------
    rule : str
        Name of the add.
    a_range, b_range, y_range : (float, float)
        Real values of the codes 0 and 255. `y_range` is the range that the op returns.
    integers : dict
        Integers of the loop, by name.
    a, b : ndarray of uint8
        Pairs of codes, at most 256.
    x : ndarray of int32
        The value before the last step of the loop.
    y : ndarray of uint8
        The result.
    killed : list of str
        Other adds that give another code for at least one of the pairs, and mistakes of one step that give another x or
        code for one of them.
    alike : list of str
        Other adds and mistakes that give the same codes for all 65,536 operands.
    """

    rule: str
    a_range: Range
    b_range: Range
    y_range: Range
    integers: Integers
    a: NDArray[np.uint8]
    b: NDArray[np.uint8]
    x: NDArray[np.int32]
    y: NDArray[np.uint8]
    killed: list[str]
    alike: list[str]

    def __str__(self) -> str:
        return (
            f"{self.rule}, {self.a_range} + {self.b_range} in {self.y_range}: {self.a.size} pairs of codes "
            f"tell it from {len(self.killed)} other adds and mistakes; "
            f"the same on all 65,536 pairs: {', '.join(self.alike) or 'none'}"
        )

    def __repr__(self) -> str:
        return fitted(f"<AddVectors: {self}>")

    def _repr_html_(self) -> str:
        """Show what the pairs tell apart and the first of them in a notebook."""
        return shown_vectors(str(self), self.columns)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are written to files, by name."""
        return {"a": self.a, "b": self.b, "x": self.x, "y": self.y}

    @property
    def constants(self) -> dict[str, int]:
        """The integers that a port uses, by name."""
        return dict(self.integers)

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the add, the ends of the ranges and the integers, by name."""
        ranges = {"a": self.a_range, "b": self.b_range, "y": self.y_range}
        ends = {
            f"{name}_{end}": value for name, r in ranges.items() for end, value in zip(("min", "max"), r, strict=True)
        }
        return {"rule": self.rule, **ends, **self.integers}

    def program(self) -> tuple[str, dict[str, str]]:
        """Write the add in C.

        Returns
        -------
        (str, dict of str to str)
            The text of the functions; and for x and y, the expression in C that computes their element i.
        """
        words = ", ".join(f"QOPS_{name.upper()}" for name in self.integers)
        names = [f"int32_t {name}" for name in self.integers]
        text = FORMS[self.rule].c.replace("INTEGERS", ", ".join(names))
        return text, {"x": f"add_x(qops_a[i], qops_b[i], {words})", "y": f"add_y(qops_x[i], {words})"}


@refusing_unknown
def add_vectors(rule: str, *, a_range: Range, b_range: Range, y_range: Range, **unknown: Never) -> AddVectors:
    """Choose at most 256 pairs of codes on which every other add, and every one-step mistake, fails.

    The adds are ``frontdoor`` (`qops.quantized_add_8p8to8` with a ``range``), ``nnlib-flat`` and ``nnlib-spec``
    (`qops.nnlib.quantized_add_8p8to8`, both ends of the guess given). On all 65,536 pairs, the add is compared with the
    other two and with every mistake of one step: an integer or a shift that is off by one, a rounding constant left
    out, shifts toward zero, operands exchanged, a sum that does not wrap or saturate where it should. The result has a
    few pairs on which each of them fails, and ties, both ends of saturation and the extremes of x.

    Parameters
    ----------
    rule : {"frontdoor", "nnlib-flat", "nnlib-spec"}
        The add.
    a_range, b_range : (float, float)
        Real values of the codes 0 and 255. For ``nnlib-spec``, the range of `a` must be the wider one, because nnlib
        exchanges the operands before the loop that is tested here.
    y_range : (float, float)
        Range of the result. nnlib moves it so that 0 is on a code.

    Returns
    -------
    AddVectors
        Its list `killed` was measured on the pairs that are given.

    Raises
    ------
    TypeError, ValueError
        An add that is not known; a range that is not finite, or with min >= max; an output range that the add refuses
        or for which it takes another loop.

    See Also
    --------
    vectors : accumulators for a rule of requantize.

    Notes
    -----
    Source: the docstring of each add names its own.

    Examples
    --------
    >>> found = qops.add_vectors("nnlib-spec", a_range=(-1.7, 3.1), b_range=(-0.3, 2.2), y_range=(-0.5, 2.0))
    >>> found.integers["ialpha"], found.integers["recip"], found.alike
    (245, 32767, ['recip -1', 'recip +1', 'x does not wrap'])
    >>> found.a.size < 64, "frontdoor" in found.killed, "no half" in found.killed
    (True, True, True)
    """
    if unknown:
        raise unknown_keyword(add_vectors, unknown)
    rule = choice(rule, "rule", FORMS)
    ranges = [_range(r, name) for r, name in ((a_range, "a_range"), (b_range, "b_range"), (y_range, "y_range"))]
    every = np.arange(256, dtype=np.uint8)
    a, b = np.repeat(every, 256), np.tile(every, 256)
    made = _sum_by(rule, a, b, *ranges)
    ends = (float(made.min), float(made.max))
    integers = _integers(rule, ranges[0], ranges[1], ends)
    x, y = FORMS[rule].run(integers, a, b)
    if not np.array_equal(y, made.data):  # the op took another loop
        raise bad_value("y_range", f"{rule} has no such integers for {ends}")
    both = _both(x, y)
    others = list(_others(rule, integers, a, b, ranges, x))
    always = _always(x, _exact(a, b, ranges[0], ranges[1], ends))
    at = np.unique([*telling(both, [found for _, found in others]), *always][:MOST]).astype(np.intp)
    killed = [name for name, found in others if (found[at] != both[at]).any()]
    alike = [name for name, found in others if np.array_equal(found, both)]
    return AddVectors(
        rule, ranges[0], ranges[1], ends, integers, a[at], b[at], x[at].astype(np.int32), y[at], killed, alike
    )


def _range(given: Any, name: str) -> Range:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise bad_type(name, f"expected (min, max), got {shown(given)}")
    first, last = given
    lo, hi = span(first, last, name)
    if not lo < hi:
        raise bad_value(name, f"({lo}, {hi}) is 0 wide")
    return lo, hi


def _sum_by(rule: str, a: NDArray[np.uint8], b: NDArray[np.uint8], a_range: Range, b_range: Range, y: Range) -> QTensor:
    """Give the sum as the op of this rule computes it."""
    operands = (a, *a_range), (b, *b_range)
    if rule == "frontdoor":
        return frontdoor_add(*operands, range=y)
    return nnlib_add(*operands, *y, form="flat" if rule == "nnlib-flat" else "spec")


def _integers(rule: str, a: Range, b: Range, y: Range) -> Integers:
    if rule == "frontdoor":
        try:
            p = add_8p8to8_integers(a, b, y)
        except ValueError:
            raise bad_value("y_range", f"{y} is too narrow for the 16-bit loop") from None
        return {"ka": p["ka"], "kb": p["kb"], "offset": p["offset"], "right_shift": 5}
    if rule == "nnlib-flat":
        flat = nnlib_integers(a, b, y, form="flat")
        found = {name: int(flat[name]) for name in ("ka", "kb", "first_shift", "offset", "right_shift")}
        return {**found, "half": 1 << found["right_shift"] >> 1}
    if b[1] - b[0] > a[1] - a[0]:
        raise bad_value("b_range", f"{b} is wider than a_range, {a}; nnlib exchanges such operands first, so do that")
    spec = nnlib_integers(a, b, y, form="spec")
    if spec["copies"]:
        raise bad_value("a_range", f"{a} is 256 times as wide as b_range: nnlib-spec copies a")
    fixed = {"first_half": 64, "first_shift": 7, "half": 0x4000, "right_shift": 15}
    return {name: int(spec[name]) for name in ("ialpha", "ikappa", "recip", "offset")} | fixed


def _mutants(integers: Integers, flags: tuple[str, ...]) -> Iterator[tuple[str, Integers]]:
    """Every mistake of one step: in an integer, in a rounding constant, or one of the flags of the add."""
    for name, value in integers.items():
        if name.endswith("half"):
            yield f"no {name}", {**integers, name: 0}
            continue
        for step in (-1, 1):
            if not name.endswith("shift") or value + step >= 0:
                yield f"{name} {step:+}", {**integers, name: value + step}
    for flag in flags:
        yield flag, {**integers, flag: 1}


def _both(x: NDArray[Any], y: NDArray[Any]) -> NDArray[np.int64]:
    """Put x and y into one number, so that one comparison finds a port that gets either of them wrong."""
    return np.asarray(x.astype(np.int64) * 256 + y)


def _others(
    rule: str, integers: Integers, a: NDArray[np.uint8], b: NDArray[np.uint8], ranges: list[Range], x: NDArray[Any]
) -> Iterator[tuple[str, NDArray[np.int64]]]:
    """The x and y of every mistake, and the y of the other adds, whose x has another meaning."""
    form = FORMS[rule]
    for other in FORMS:
        if other != rule:
            try:
                yield other, _both(x, _sum_by(other, a, b, *ranges).data)
            except ValueError:  # ranges that this add does not take
                continue
    for name, mutant in _mutants(integers, form.flags):
        yield name, _both(*form.run(mutant, a, b))
    yield "a and b exchanged", _both(*form.run(integers, b, a))
    yield "not saturated", _both(x, form.last(integers, x).astype(np.uint8))


def _exact(a: NDArray[np.uint8], b: NDArray[np.uint8], a_range: Range, b_range: Range, y: Range) -> NDArray[Any]:
    """The exact sums, in code steps of the result above its code 0."""
    total = sum(lo + q * ((hi - lo) / _CODES.steps) for q, (lo, hi) in ((a, a_range), (b, b_range)))
    return np.asarray((total - y[0]) / ((y[1] - y[0]) / _CODES.steps))


def _always(x: NDArray[Any], exact: NDArray[Any]) -> list[int]:
    """Where ties, both ends of saturation and the extremes of x are."""
    ties = np.flatnonzero(np.abs(exact % 1 - 0.5) < _NEAR)
    ends = [np.flatnonzero(beyond) for beyond in (exact < -0.5, exact > _CODES.highest + 0.5)]
    picked = [ties[:4], ties[-4:], *(e[[0, -1]] for e in ends if e.size)]
    return [*np.concatenate(picked).tolist(), int(x.argmin()), int(x.argmax()), 0, x.size - 1]

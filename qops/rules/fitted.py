"""Requantization rules that no table has: what `qops.explain` fits to integers, as rows that `requantize` takes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._readable import shows_fields
from qops.checks import as_array, integer, shown
from qops.codes import CodeType
from qops.rules.scales import DERIVATIONS, Derivation

__all__ = ["FittedRequantization", "FittedRule", "codes_of", "multiplier_of", "shifted"]

_MOST_BITS = 62  # of a product
_FORMS = ("once", "after", "before")
_ROUNDINGS = ("floor", "truncate", "half_up", "half_away", "half_even", "half_down", "half_toward_zero")


@shows_fields
class FittedRule(NamedTuple):
    """A rule in integers, ``code = clamp(round(acc * multiplier / 2**right_shift) + zero_point)``, by its parts.

    Attributes
    ----------
    bits : int
        Bits of the multiplier, 1 to 32: it is in [2**(bits - 1), 2**bits). 1 is a power of two: a shift alone.
    source : str
        What the multiplier is made of: "double", or "float32", the scale rounded to it first.
    made : str
        How its last bit is rounded: "half_up" or "floor".
    split : str
        "once": the product is shifted at once. "after": in two steps. "before": the accumulator is shifted first.
    first_shift : int
        What the first of two steps shifts by, at most the whole right shift; 0 where there is one step. Negative: all
        but so many bits.
    first, second : str
        How the first and the last step round: "floor", "truncate", "half_up", "half_away", "half_even",
        "half_down" or "half_toward_zero". Where there
        is one step, `first` is "".
    zero_point : str
        "outside": added after the rounding; "inside": before the last one.
    clamp : str
        "after": the code is clamped with its zero point; "before": also the rounded value to the code type without it.
    scales : str
        How the real scale is formed where three scales are given instead of it, a word of `real_scale`.
    added : int or tuple of int
        What is added to the product before it is shifted at once: a real bias, in units of ``2**-right_shift`` of an
        output step; of several channels, one for each.
    """

    bits: int
    source: str = "double"
    made: str = "half_up"
    split: str = "once"
    first_shift: int = 0
    first: str = ""
    second: str = "half_up"
    zero_point: str = "outside"
    clamp: str = "after"
    scales: Derivation = "double"
    added: int | tuple[int, ...] = 0

    @property
    def name(self) -> str:
        """The rule in words, short enough for the name of a function in C."""
        steps = "" if self.split == "once" else f"-{self.first}-{self.split}-{self.first_shift}".replace("--", "-last-")
        ends = ("-zp-inside" if self.zero_point == "inside" else "") + ("-clamped-first" * (self.clamp == "before"))
        return f"fitted-{self.bits}-{self.source}-{self.made}{steps}-{self.second}{ends}{'-biased' * self.has_bias}"

    @property
    def has_bias(self) -> bool:
        """Whether anything is added to the product."""
        return self.added != 0

    def __str__(self) -> str:
        kept = f"a multiplier of {self.bits} bits ({self.source}, {self.made})" if self.bits > 1 else "a shift alone"
        by = f"by {self.first_shift}" if self.first_shift >= 0 else f"by all but {-self.first_shift}"
        of = "the accumulator" if self.split == "before" else "the product"
        steps = f"{of} shifted {by} ({self.first}), then the rest ({self.second})"
        steps = f"one shift of the product ({self.second})" if self.split == "once" else steps
        clamped = ", clamped before the zero point is added" if self.clamp == "before" else ""
        formed = "" if self.scales == "double" else f", the scale formed as {self.scales}"
        several = f"one number for each of {np.size(self.added)} channels"
        of = f", {several if isinstance(self.added, tuple) else self.added} added to the product" * self.has_bias
        return f"{kept}, {steps}, zero point {self.zero_point}{clamped}{formed}{of}"


def multiplier_of(rule: FittedRule, scale: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the multiplier and the total right shift that a rule makes of scales above 0.

    Examples
    --------
    >>> from qops.rules.fitted import FittedRule, multiplier_of
    >>> [int(v) for v in multiplier_of(FittedRule(16), 0.0033)]
    [55365, 24]
    """
    value = np.asarray(scale, np.float32 if rule.source == "float32" else np.float64).astype(np.float64)
    mantissa, exponent = np.frexp(value)
    scaled = np.ldexp(mantissa, rule.bits)
    made = np.floor(scaled + 0.5 if rule.made == "half_up" else scaled).astype(np.int64)
    full = made >> rule.bits
    return made >> full, rule.bits - exponent.astype(np.int64) - full


def shifted(v: NDArray[np.int64], n: Any, rounding: str) -> NDArray[np.int64]:
    """Give ``v / 2**n`` as integers, rounded by name; n may be 0."""
    n = np.asarray(n, np.int64)
    if rounding == "floor":
        return np.asarray(v >> n)
    one = np.int64(1)
    if rounding == "truncate":
        return np.asarray((v + np.where(v < 0, (one << n) - 1, 0)) >> n)
    half = (one << n) >> 1
    if rounding == "half_away":
        half = half - ((v < 0) & (n > 0))
    if rounding == "half_down":
        half = half - (n > 0)
    if rounding == "half_toward_zero":
        half = half - ((v >= 0) & (n > 0))
    if rounding == "half_even":
        half = half - ((n > 0) & ((v >> n) & 1 == 0))
    return np.asarray((v + half) >> n)


def codes_of(
    rule: FittedRule,
    x: NDArray[np.int64],
    m: Any,
    n: Any,
    zero_point: int,
    ends: tuple[int, int],
    own: tuple[int, int],
    added: Any = None,
) -> NDArray[np.int64]:
    """Give the codes of accumulators as int64; m, n and `added`, by default that of the rule, broadcast against x."""
    rest: Any = n
    if rule.split != "once":
        k = n + rule.first_shift if rule.first_shift < 0 else rule.first_shift
        k = np.minimum(np.maximum(k, 0), np.maximum(n, 0))
        x = shifted(x, k, rule.first) * m if rule.split == "before" else shifted(x * m, k, rule.first)
        rest = n - k
    else:
        x = x * m + (rule.added if added is None else added)
    if rule.zero_point == "inside":
        return _clamped(shifted(x + (np.int64(zero_point) << rest), rest, rule.second), ends)
    found = shifted(x, rest, rule.second)
    if rule.clamp == "before":
        found = _clamped(found, own)
    return _clamped(found + zero_point, ends)


def _clamped(codes: NDArray[np.int64], ends: tuple[int, int]) -> NDArray[np.int64]:
    """Give codes between two ends; `numpy.clip` takes three times as long on the few codes of a fit."""
    return np.minimum(np.maximum(codes, ends[0]), ends[1])


class FittedRequantization:
    """All arguments of `requantize` but the data, for a `FittedRule`.

    Raises
    ------
    TypeError, ValueError
        A word of the rule that is not known, a factor that is missing, or beyond the range of the rule.
    """

    def __init__(self, rule: FittedRule, codes: CodeType, given: dict[str, Any]) -> None:
        _check_words(rule)
        info = np.iinfo(codes.dtype)
        self.rule, self.dtype, self.own = rule, codes.dtype, (int(info.min), int(info.max))
        self.zero = integer(given["zero_point"], "zero_point", *self.own)
        lo = self.own[0] if given["qmin"] is None else integer(given["qmin"], "qmin", *self.own)
        hi = self.own[1] if given["qmax"] is None else integer(given["qmax"], "qmax", lo, self.own[1])
        self.in_zero_point = integer(given["in_zero_point"], "in_zero_point", -(2**31), 2**31 - 1)
        self.axis = integer(given["axis"], "axis", -64, 63)
        factors = [name for name in ("scale", "integers", "scales") if given[name] is not None]
        if len(factors) != 1:
            raise bad_value("scale, integers, scales", f"expected one of the three by a fitted rule, got {factors}")
        self.scales: tuple[Any, Any, Any] | None = None
        if factors != ["integers"]:
            scale, self.scales = _scale_of(rule, given)
            m, n = multiplier_of(rule, scale)
        else:
            m, n = (np.array(v, np.int64) for v in given["integers"])
            scale = m * 2.0**-n
        if n.min(initial=0) < 0 or n.max(initial=0) > _MOST_BITS or m.ndim > 1:
            raise bad_value(factors[0], f"right shifts of {n.tolist()} are not in 0..{_MOST_BITS}")
        plain = m.ndim == 0
        for values in (m, n, scale, *(self.scales or ())):
            if isinstance(values, np.ndarray):
                values.flags.writeable = False
        pair = (int(m), int(n)) if plain else (m, n)
        self.scale = float(scale) if plain else scale
        self.numbers = SimpleNamespace(lo=lo, hi=hi, integers=pair, scale=self.scale, before_after=(1.0, 1.0))

    def __call__(self, acc: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of accumulators."""
        x = as_array(acc, "acc")
        if x.dtype.kind not in "iu":
            raise bad_type("acc", f"expected integers, got {x.dtype}")
        if out is not None and (out.shape != x.shape or out.dtype != self.dtype or not out.flags.writeable):
            raise bad_value("out", f"expected {self.dtype} of shape {x.shape}, got {shown(out)}")
        m, n = (self._along(np.asarray(v, np.int64), x.ndim, x.shape) for v in self.numbers.integers)
        most = max(abs(int(x.min(initial=0))), abs(int(x.max(initial=0)))) + abs(self.in_zero_point)
        if most * int(m.max(initial=0)) + _largest(self.rule.added) >= 1 << _MOST_BITS:
            raise bad_value("acc", f"{_MOST_BITS} bits do not hold {most} times the multiplier {int(m.max())}")
        moved, ends = x.astype(np.int64) - self.in_zero_point, (self.numbers.lo, self.numbers.hi)
        added = self._along(np.array(self.rule.added, np.int64), x.ndim, x.shape, "rule.added")
        made = codes_of(self.rule, moved, m, n, self.zero, ends, self.own, added).astype(self.dtype)
        if out is None:
            return made
        out[...] = made
        return out

    def _along(
        self, values: NDArray[np.int64], ndim: int, shape: tuple[int, ...], name: str = "scale"
    ) -> NDArray[np.int64]:
        if not values.ndim:
            return values
        if not -ndim <= self.axis < ndim or shape[self.axis] != values.size:
            raise bad_value(name, f"{values.size} of them do not fit axis {self.axis} of acc, shape {shape}")
        along = [1] * ndim
        along[self.axis] = -1
        return values.reshape(along)


def _scale_of(rule: FittedRule, given: dict[str, Any]) -> tuple[NDArray[np.float64], tuple[Any, Any, Any] | None]:
    """Give the real scale, or the scales of channels, checked; and copies of the three that it was formed of."""
    name, parts = "scale", None
    if given["scale"] is not None:
        scale = as_array(given["scale"], name).astype(np.float64)
    else:
        name, three = "scales", given["scales"]
        if not isinstance(three, list | tuple) or len(three) != 3 or any(part is None for part in three):
            raise bad_value("scales", f"expected (in_scale, w_scale, out_scale), got {shown(three)}")
        a, w, y = (as_array(part, name).astype(np.float64) for part in three)
        with np.errstate(all="ignore"):
            scale = np.asarray(DERIVATIONS[rule.scales](a, w, y), np.float64)
        parts = tuple(v.copy() if v.ndim else v.item() for v in (a, w, y))
    if scale.ndim > 1 or not (np.isfinite(scale) & (scale > 0)).all():
        raise bad_value(name, f"expected finite numbers above 0, got {shown(given[name])}")
    return scale, parts


def _largest(added: Any) -> int:
    return max(map(abs, added), default=0) if isinstance(added, tuple) else abs(added)


def _check_words(rule: FittedRule) -> None:
    integer(rule.bits, "rule.bits", 1, 32)
    for one in rule.added if isinstance(rule.added, tuple) else (rule.added,):
        integer(one, "rule.added", -(2**61), 2**61)
    if rule.has_bias and rule.split != "once":
        raise bad_value("rule.added", f"expected 0 by a rule of two shifts, got {shown(rule.added)}")
    integer(rule.first_shift, "rule.first_shift", -_MOST_BITS, _MOST_BITS)
    known = {
        "source": ("double", "float32"),
        "made": ("half_up", "floor"),
        "split": _FORMS,
        "first": ("",) if rule.split == "once" else _ROUNDINGS,
        "second": _ROUNDINGS,
        "zero_point": ("outside", "inside"),
        "clamp": ("after", "before"),
        "scales": tuple(DERIVATIONS),
    }
    for name, words in known.items():
        if getattr(rule, name) not in words:
            raise bad_value(
                f"rule.{name}", f"expected one of {', '.join(map(repr, words))}, got {getattr(rule, name)!r}"
            )

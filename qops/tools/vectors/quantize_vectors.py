"""Test vectors for a port of a quantizer: a few float32 values on which every other quantizer and mistake fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Never, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops._readable import fitted
from qops.checks import choice
from qops.codes import CodeType, of_dtype
from qops.rules.c_quantize import WHY_NO_QUANTIZE_C
from qops.rules.c_source import emit
from qops.rules.quantize import Quantize
from qops.rules.quantize_rules import QUANTIZE
from qops.tools.explain.probes import distinct, edges
from qops.tools.vectors.choosing import MOST, always, telling
from qops.tools.vectors.formats import shown_vectors

__all__ = ["QuantizeVectors", "quantize_vectors"]

OfValues: TypeAlias = Callable[[NDArray[np.float32]], NDArray[Any]]
_LARGEST = int(np.float32(np.finfo(np.float32).max).view(np.int32))
_FAR = (8, 9, 15, 16, 30, 31, 32, 62, 63, 64, 100)  # powers of two, in code steps


@dataclass(frozen=True)
class QuantizeVectors:
    """Float32 values and the codes that a quantizer gives.

    Attributes
    ----------
    rule : str
        Name of the rule.
    scale : float or None
        Real size of a code step; None where the rule takes a range.
    zero_point, qmin, qmax : int
        Code of real 0, and the ends that codes are clamped to.
    range : (float, float) or None
        Real values of the lowest and the highest code, where the rule takes them.
    x : ndarray of float32
        Values, at most 256.
    y : ndarray
        Their codes.
    killed : list of str
        Other rules and mistakes that give another code for at least one value.
    alike : list of str
        Other rules and mistakes that gave the same code for every value that was tried.
    """

    rule: str
    scale: float | None
    zero_point: int
    qmin: int
    qmax: int
    range: tuple[float, float] | None
    x: NDArray[np.float32]
    y: NDArray[Any]
    killed: list[str]
    alike: list[str]

    def __str__(self) -> str:
        of = f"scale {self.scale!r}, zero point {self.zero_point}" if self.range is None else f"range {self.range}"
        return (
            f"{self.rule}, {of}: {self.x.size} values tell it from {len(self.killed)} other rules and mistakes; "
            f"the same function here: {', '.join(self.alike) or 'none'}"
        )

    def __repr__(self) -> str:
        return fitted(f"<QuantizeVectors: {self}>")

    def _repr_html_(self) -> str:
        """Show the sentence and the first values in a notebook."""
        return shown_vectors(str(self), self.columns)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are written to files, by name."""
        return {"x": self.x, "y": self.y}

    @property
    def constants(self) -> dict[str, int]:
        """The integers that a port uses, by name."""
        return {"zero_point": self.zero_point, "qmin": self.qmin, "qmax": self.qmax}

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the rule and all numbers, by the names of a dump."""
        found: dict[str, Any] = {"kind": "quantize", "rule": self.rule, "dtype": self.y.dtype.name}
        if self.range is not None:
            return found | {"rmin": self.range[0], "rmax": self.range[1]}
        found |= {"scale": self.scale, "zero_point": self.zero_point}
        return found if QUANTIZE[self.rule].beyond == "cast" else found | {"qmin": self.qmin, "qmax": self.qmax}

    def program(self) -> tuple[str, dict[str, str]]:
        """Write the rule in C.

        Returns
        -------
        (str, dict of str to str)
            The text of the function; and for y, the expression in C that computes its element i.
        """
        row, numbers = QUANTIZE[self.rule], "(float)QOPS_SCALE, QOPS_ZERO_POINT"
        if row.product == "times, inverse in double":
            numbers = numbers.removeprefix("(float)")
        if self.range is not None:
            lo, hi = map(np.float32, self.range)
            factor = np.float32(np.iinfo(self.y.dtype).max - np.iinfo(self.y.dtype).min) / (hi - lo)
            literals = (f"{float(v).hex()}f" for v in (factor, -lo * factor))
            numbers = f"{', '.join(literals)}, {np.iinfo(self.y.dtype).min}"
        name = f"quantize_{self.rule.replace('-', '_')}"
        return emit(self.rule, op="quantize"), {"y": f"{name}(qops_x[i], {numbers}, QOPS_QMIN, QOPS_QMAX)"}


def _floats(keys: NDArray[np.int32]) -> NDArray[np.float32]:
    """Give float32 values in the order of whole numbers, the lowest and the highest ones for all beyond them."""
    kept = np.clip(keys.astype(np.int64), -1 - _LARGEST, _LARGEST)
    return np.where(kept >= 0, kept, (-1 - kept) | 0x80000000).astype(np.uint32).view(np.float32)


def _others(rule: str, given: dict[str, Any], codes: CodeType) -> Iterator[tuple[str, OfValues]]:
    """Every other rule and every mistake, as functions from values to codes."""
    own = dict(given)
    if given["range"] is not None:  # for the others the scale and the zero point that the range stands for
        lo, hi = given["range"]
        step = (hi - lo) / (codes.highest - codes.lowest)
        zero = int(np.clip(round(codes.lowest - lo / step), codes.lowest, codes.highest))
        own |= {"range": None, "scale": step, "zero_point": zero}
    for name, row in QUANTIZE.items():
        if name != rule and not row.width and row.product != "range":
            ends = {"qmin": None, "qmax": None} if row.beyond == "cast" else {}
            yield from _made(name, name, {**own, **ends})
    if given["range"] is not None:
        return
    scale, zero = given["scale"], given["zero_point"]
    for words, by in (("scale +1 in its last bit", np.inf), ("scale -1 in its last bit", -np.inf)):
        yield from _made(words, rule, {**given, "scale": float(np.nextafter(np.float32(scale), np.float32(by)))})
    for words, by in (("scale of 127 steps for 127.5", 127 / 127.5), ("scale of 255 steps for 256", 255 / 256)):
        yield from _made(words, rule, {**given, "scale": scale * by})
    for words, other in (("zero point left out", 0), ("zero point of the wrong sign", -zero)):
        if zero:
            yield from _made(words, rule, {**given, "zero_point": other})
    for step in (-1, 1):
        yield from _made(f"zero point {step:+}", rule, {**given, "zero_point": zero + step})


def _made(words: str, rule: str, given: dict[str, Any]) -> Iterator[tuple[str, OfValues]]:
    try:
        op = Quantize(rule, **given)
    except ValueError:  # numbers that this rule does not take
        return
    yield words, op


@refusing_unknown
def quantize_vectors(
    rule: str,
    *,
    scale: float | None = None,
    zero_point: int = 0,
    dtype: DTypeLike = "int8",
    qmin: int | None = None,
    qmax: int | None = None,
    range: tuple[float, float] | None = None,
    **unknown: Never,
) -> QuantizeVectors:
    """Choose at most 256 float32 values on which every other quantizer, and every small mistake, fails.

    For this rule, every other rule in `qops.rules.QUANTIZE` that computes each value by itself and every mistake, the
    first float32 of each code and the one before it are tried, and values far beyond the codes. The mistakes are a
    scale that is off by its last bit or of another number of steps, a zero point that is off by one, of the wrong sign
    or left out; truncation, the reciprocal in place of the division, and codes that wrap are rules.

    Parameters
    ----------
    rule : str
        A name in `qops.rules.QUANTIZE`.
    scale : float
        Real size of a code step, above 0.
    zero_point : int
        Code of real 0.
    dtype : data type
        Type of the codes: int8, uint8, int16 or uint16.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given.
    range : (float, float), optional
        For the rule openvino, instead of the scale and the zero point: real values of the lowest and the highest code.

    Returns
    -------
    QuantizeVectors
        Its list `killed` was measured on the values that are given.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, or of blocks, which two other rules compute; a scale that is not above 0.

    See Also
    --------
    vectors : accumulators for a rule of requantize.

    Examples
    --------
    >>> found = qops.quantize_vectors("div-even", scale=0.1, zero_point=3)
    >>> found.x.size < 64, "inv-even" in found.killed, "div-truncate" in found.killed
    (True, True, True)
    """
    if unknown:
        raise unknown_keyword(quantize_vectors, unknown)
    row, codes = QUANTIZE[choice(rule, "rule", QUANTIZE)], of_dtype(dtype)
    if row.width:
        raise bad_value("rule", f"{rule} {WHY_NO_QUANTIZE_C[rule]}; make vectors of these two")
    if codes.dtype.itemsize > 2:
        raise bad_type("dtype", f"expected codes of 8 or 16 bits, got {codes.dtype}")
    given: dict[str, Any] = {"scale": scale, "zero_point": zero_point, "dtype": codes.dtype}
    given |= {"qmin": qmin, "qmax": qmax, "range": range}
    op: Any = Quantize(str(rule), **given)
    rule = op.rule
    if op.scale is not None and np.ndim(op.scale):
        raise bad_value("scale", f"expected one number, got shape {np.shape(op.scale)}")
    given |= {"scale": op.scale, "zero_point": op.zero_point, "range": op.range}
    lo = codes.lowest + (row.is_narrow and codes.lowest < 0) if qmin is None else qmin
    hi = codes.highest if qmax is None else qmax
    step = op.scale or (op.range[1] - op.range[0]) / (codes.highest - codes.lowest)
    x, tried = _tried([(rule, op), *_others(rule, given, codes)], lo, hi, step)
    y, others = tried[0][1], tried[1:]
    picked = [*telling(y, [made for _, made in others]), *always(x, y, 1 / step, (lo, hi))]
    chosen = np.unique(picked[:MOST]).astype(np.intp)
    killed = [name for name, made in others if (made[chosen] != y[chosen]).any()]
    alike = [name for name, made in others if np.array_equal(made, y)]
    return QuantizeVectors(rule, op.scale, op.zero_point, lo, hi, op.range, x[chosen], y[chosen], killed, alike)


def _tried(
    runs: list[tuple[str, OfValues]], lo: int, hi: int, step: float
) -> tuple[NDArray[np.float32], list[tuple[str, NDArray[Any]]]]:
    """Values at the edges of the codes of every rule and mistake, on ties and far away; and the codes of each there."""
    with np.errstate(over="ignore", invalid="ignore"):
        ties = (np.arange(-512, 513) * (step / 2)).astype(np.float32)
        far = np.array([sign * step * 2.0**bits for bits in _FAR for sign in (1, -1)]).astype(np.float32)
    ties = ties[np.isfinite(ties)]
    kept: list[NDArray[Any]] = [ties, far, *(np.nextafter(ties, np.float32(end)) for end in (np.inf, -np.inf))]
    kept += [_floats(edges(_of_keys(run), lo, hi)) for _, run in runs]
    x = distinct(kept)
    x = x[np.isfinite(x)]
    return x, [(name, run(x)) for name, run in runs]


def _of_keys(run: OfValues) -> Callable[[NDArray[np.int32]], NDArray[Any]]:
    """Give the function of whole numbers that count float32 values in their order."""
    return lambda keys: run(_floats(keys))

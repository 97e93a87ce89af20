"""What may have made the integers of a dump: every rule of its kind, with what systems do before they round."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.rules import scales
from qops.rules.accumulators import requantize
from qops.rules.elementwise import add, mul
from qops.rules.pairs import ADD, MUL, PairRule
from qops.rules.pooling import AVERAGE_POOL, average_pool
from qops.rules.table import TABLE
from qops.rules.values import QUANTIZE, quantize

__all__ = ["KINDS", "Candidate", "Dump", "lenient", "of"]

KINDS = ("requantize", "add", "mul", "quantize", "avgpool")
_OTHER_DATA = {"gemmlowp-legacy", "tflite-int64acc", "cmsis-s64", "xnnpack-cvt", "tosa-inexact"}  # or other scales
_LENIENT = {
    "double-away",
    "add/ort-x86",
    "mul/ort-x86",
    "quantize/div-even",
    "avgpool/away-stored",
    "avgpool-rescale/ort",
}
_DERIVES = {  # how the systems of a rule form the real scale; all others as the first
    "tflite-double": ("double", "f32-product"),
    "half-up-double": ("double", "f32-product"),
    "tflite-single": ("double", "f32-product"),
    "fp32-even": ("f32", "f32-reciprocal"),
    "fp32-even-zp-inside": ("f32", "f32-reciprocal"),
    "double-even-zp-inside": ("f32",),
    "rndnu": ("f32",),
    "rndna": ("f32",),
    "q31": ("f32",),
    "q31-wrap": ("f32",),
    "rndnu16": ("f32",),
}


@dataclass(frozen=True)
class Dump:
    """Inputs and result of one op, as a device gave them, and its scales and zero points.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    x : ndarray
        Accumulators, the first operand, or values.
    y : ndarray
        The result.
    b : ndarray or None
        The second operand of add and mul.
    numbers : dict
        Scales, zero points, qmin, qmax, kernel, axis: by the names of a dump file.
    """

    kind: str
    x: NDArray[Any]
    y: NDArray[Any]
    b: NDArray[Any] | None
    numbers: dict[str, Any]


class Candidate(NamedTuple):
    """One way that the result may have been made.

    Attributes
    ----------
    rule : str
        Name of the rule, as in the tables of `qops.rules`.
    before : str
        What was done before it that its systems do not do; "" if nothing.
    seen : Dump
        The dump without what was done before.
    codes : callable
        () -> the codes it gives, to compare with those of `seen`.
    """

    rule: str
    before: str
    seen: Dump
    codes: Callable[[], NDArray[Any]]


def of(dump: Dump, mistakes: bool = False) -> Iterator[Candidate]:
    """Every candidate for a dump; with `mistakes` those instead that have something wrong before the rounding.

    Parameters
    ----------
    dump : Dump
        What was seen.
    mistakes : bool
        Whether to give what people get wrong: the scale's rounding, the zero point, a sign offset of 128, layout.

    Yields
    ------
    Candidate
    """
    changes = _mistaken(dump) if mistakes else [("", dump)]
    for before, seen in changes:
        for rule, derive, codes in _RULES[dump.kind](seen, mistakes):
            if before or derive or not mistakes:
                yield Candidate(rule, ", ".join(filter(None, (before, derive))), seen, codes)


def lenient(dump: Dump) -> None:
    """Run the rule that takes all numbers that any rule takes: what it refuses is an error of the caller's.

    Parameters
    ----------
    dump : Dump
        What was seen.

    Raises
    ------
    TypeError, ValueError
        Numbers or shapes that do not go together.
    """
    for rule, _, codes in _RULES[dump.kind](dump, False):
        if rule in _LENIENT:
            codes()


_Rules = Iterator[tuple[str, str, Callable[[], NDArray[Any]]]]


def _requantized(dump: Dump, mistakes: bool) -> _Rules:
    n = dump.numbers
    how = {key: n[key] for key in ("zero_point", "qmin", "qmax", "axis", "in_zero_point") if n.get(key) is not None}
    for rule in (r for r in TABLE if r not in _OTHER_DATA):
        for words, scale in _scales_of(rule, n, mistakes):
            yield rule, words, partial(requantize, dump.x, rule, scale=scale, dtype=dump.y.dtype, **how)


def _scales_of(rule: str, n: dict[str, Any], mistakes: bool) -> Iterator[tuple[str, Any]]:
    """Scales that the systems of a rule would form, each once; with `mistakes` those that they would not."""
    if n.get("scale") is not None:
        yield "", n["scale"]
        return
    own = [(d, _derived(n, d)) for d in _DERIVES.get(rule, ("double",))]
    seen = [] if not mistakes else [np.asarray(scale) for _, scale in own]
    for derive, scale in own if not mistakes else [(d, _derived(n, d)) for d in scales.DERIVATIONS]:
        if not any(np.array_equal(scale, other) for other in seen):
            seen.append(np.asarray(scale))
            yield (f"scale {derive}" if mistakes else ""), scale


def _derived(n: dict[str, Any], derive: Any) -> Any:
    w = np.asarray(n["w_scale"], np.float64)
    found = [scales.real_scale(n["in_scale"], float(v), n["out_scale"], derive) for v in w.reshape(-1)]
    return found[0] if w.ndim == 0 else found


def _pairs(table: dict[str, PairRule], call: Callable[..., NDArray[Any]]) -> Callable[[Dump, bool], _Rules]:
    def rules(dump: Dump, mistakes: bool) -> _Rules:
        n = dump.numbers
        how = {f"{v}_scale": n[f"{v}_scale"] for v in "aby"} | {f"{v}_zero_point": n[f"{v}_zp"] for v in "aby"}
        for rule in table:
            if rule != "torch-tail":
                yield f"{dump.kind}/{rule}", "", partial(call, dump.x, dump.b, rule, **how)

    return rules


def _quantized(dump: Dump, mistakes: bool) -> _Rules:
    how = {"scale": dump.numbers["scale"], "zero_point": dump.numbers["zero_point"], "dtype": dump.y.dtype}
    for rule in QUANTIZE:
        yield f"quantize/{rule}", "", partial(quantize, dump.x, rule, **how)


def _pooled(dump: Dump, mistakes: bool) -> _Rules:
    n = dump.numbers
    how = {"kernel": n["kernel"], "zero_point": n["zero_point"]}
    rescaled = n.get("y_scale") is not None
    if rescaled:
        how |= {"x_scale": n["x_scale"], "y_scale": n["y_scale"], "y_zero_point": n["y_zp"]}
    for name, rule in AVERAGE_POOL.items():
        if rule.rescales == rescaled:
            yield f"avgpool{'-rescale' * rescaled}/{name}", "", partial(average_pool, dump.x, name, **how)


_RULES: dict[str, Callable[[Dump, bool], _Rules]] = {
    "requantize": _requantized,
    "add": _pairs(ADD, add),
    "mul": _pairs(MUL, mul),
    "quantize": _quantized,
    "avgpool": _pooled,
}


def _mistaken(dump: Dump) -> Iterator[tuple[str, Dump]]:
    """The dump as it would be without each mistake that people make."""
    n = dump.numbers
    if dump.kind == "requantize":
        yield "", dump  # other roundings of the scale
    if n.get("zero_point"):
        yield "zero point of the other sign", replace(dump, numbers={**n, "zero_point": -n["zero_point"]})
        yield "zero point left out", replace(dump, numbers={**n, "zero_point": 0})
    if dump.y.dtype.itemsize == 1 and dump.kind in ("requantize", "quantize"):
        other = np.int8 if dump.y.dtype == np.uint8 else np.uint8
        moved = (dump.y ^ np.array(128, np.uint8).view(dump.y.dtype)).view(other)
        yield "a sign offset of 128", replace(dump, y=moved, numbers={**n, "qmin": None, "qmax": None})
    for words, y in _layouts(dump.x, dump.y):
        yield words, replace(dump, y=y)


def _layouts(x: NDArray[Any], y: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """The result in the order of the inputs' axes, if it was written in another one."""
    if x.ndim != 4 or x.size != y.size:
        return
    for words, order in (("x is NCHW, y NHWC", (0, 2, 3, 1)), ("x is NHWC, y NCHW", (0, 3, 1, 2))):
        moved = y.reshape([x.shape[i] for i in order]).transpose(np.argsort(order))
        yield words, np.ascontiguousarray(moved)

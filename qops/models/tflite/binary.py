"""Operators of two tensors, element by element: sums, products, extremes, slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from qops import tflite
from qops.models.code.sums import c_of_product
from qops.models.code.tables import with_ends
from qops.models.graph import Graph
from qops.models.op import Layer, Op
from qops.models.target import PortedLayer, Target, ending, ends_of, function
from qops.models.tensor import Values, zero_of
from qops.models.tflite.division import make_quotient
from qops.models.tflite.elementwise import cut_elementwise, make_of_codes
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind, where_constants_repeat
from qops.models.tflite.site import Maker, OperatorRunner, PlacedOperator, activated
from qops.models.tflite.whole import counts, make_counted

__all__ = ["KINDS"]


Given = Sequence[Any]
Zeros = tuple[int, int, int]


def _make_pair(maker: Callable[..., Any], of_integers: Callable[..., Any], explained: str = "") -> Maker:
    """An operator of two tensors with a fused activation; `explained` is its kind for `qops.explain`."""

    def make(site: PlacedOperator) -> OperatorRunner:
        if counts(site):
            return make_counted(site, of_integers)
        how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y}
        more: dict[str, Any] = dict(site.activation)
        if "PotScaleInt16" in site.options:
            more["pot_scale_int16"] = bool(site.options["PotScaleInt16"])
        op = maker(**how, **more, **site.own())
        requantize = getattr(op, "requantize", None)
        lowest, highest = (op.integers["qmin"], op.integers["qmax"]) if requantize is None else requantize.ends
        layer = Layer(explained, {**how, "qmin": lowest, "qmax": highest}, requantize=requantize)
        return OperatorRunner((0, 1), op, layer if explained else None)

    return make


def _make_extreme(maker: Callable[..., Any], of_integers: Callable[..., Any]) -> Maker:
    """MAXIMUM or MINIMUM of codes, whose scales it ignores, or of int32 or int64."""
    of_codes = make_of_codes(maker, (0, 1))

    def make(site: PlacedOperator) -> OperatorRunner:
        types = {tensor.dtype for tensor in (site.tensor(0), site.tensor(1), site.outputs[0])}
        return OperatorRunner((0, 1), of_integers) if types in ({"int32"}, {"int64"}) else of_codes(site)

    return make


def _make_difference(site: PlacedOperator) -> OperatorRunner:
    how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y}
    return OperatorRunner((0, 1), tflite.SquaredDifference(**how, **site.own()))


def _make_prelu(site: PlacedOperator) -> OperatorRunner:
    how = {**site.x(), **site.numbers("alpha", site.tensor(1)), **site.y}
    if site.tensor(1).data is None:
        return OperatorRunner((0, 1), partial(tflite.prelu, **how, kernel=site.kernel))
    return OperatorRunner((0,), tflite.Prelu(site.constant(1), **how, **site.own()))


def _real_pair(function: Callable[..., Any]) -> Callable[[Operator, Given], Values]:
    return lambda op, given: activated(op, function(given[0], given[1]))


def _real_prelu(op: Operator, given: Given) -> Values:
    x, alpha = given
    return np.asarray(np.where(x >= 0, x, x * alpha))


def _c_of_three_factors(
    made: PortedLayer, integers: dict[str, Any], zeros: Zeros, target: Target, name: str
) -> PortedLayer:
    """ADD and SUB as TFLite has them: both operands to one scale, then their sum to that of the result."""
    constants = {
        **{f"input{i}_{ending(target)}": target.sign * zero for i, zero in ((1, zeros[0]), (2, zeros[1]))},
        "left_shift": integers["left_shift"],
    }
    for here, there in (("a", "input1"), ("b", "input2"), ("y", "output")):
        constants |= {f"{there}_{part}": integers[f"{here}_{part}"] for part in ("multiplier", "shift")}
    n, sign = made.name, "+" if target.sign < 0 else "-"
    centred = (f"{x} {sign} {n}_{which}_{ending(target)}" for x, which in (("a", "input1"), ("b", "input2")))
    numbers = (f"{n}_{which}_multiplier, 31 - {n}_{which}_shift" for which in ("input1", "input2", "output"))
    last = (f"{n}_{part}" for part in (target.offsets[2], *target.ends))
    line = f"    return {name}_tflite_double({', '.join([*centred, f'{n}_left_shift', *numbers, *last])});"
    constants |= ends_of(integers, zeros[2], target)
    code = function(n, "int32_t a, int32_t b", [line])
    return made._replace(rules=[f"{name} tflite-double"], constants=constants, code=code, arguments=("a", "b"))


def _c_of_one_shift(
    made: PortedLayer, integers: dict[str, Any], zeros: Zeros, target: Target, name: str
) -> PortedLayer:
    """ADD and SUB as XNNPACK has them: two products and a bias (zero points, half a step), shifted once."""
    a, b, shift = (integers[key] for key in ("a_multiplier", "b_multiplier", "a_shift"))
    b = b if name == "add" else -b
    constants = {
        **{
            "a_multiplier": a,
            "b_multiplier": b,
            "bias": (1 << (-shift - 1)) - zeros[0] * a - zeros[1] * b,
            "right_shift": -shift,
        },
        **ends_of(integers, zeros[2], target),
    }
    n = made.name
    total = f"{n}_bias + a * {n}_a_multiplier + b * {n}_b_multiplier"
    last = ", ".join(f"{n}_{part}" for part in ("right_shift", target.offsets[2], *target.ends))
    code = function(n, "int32_t a, int32_t b", [f"    return shift_floor({total}, 1, {last});"])
    return made._replace(rules=["shift-floor"], constants=constants, code=code, arguments=("a", "b"))


def _c_of_powers(made: PortedLayer, integers: dict[str, Any], zeros: Zeros, target: Target, name: str) -> PortedLayer:
    """ADD and SUB of 16 bits whose scales are powers of two: shifts with ties away from 0, then a sum."""
    n = made.name
    constants = {f"input{i}_right_shift": -integers[f"{x}_shift"] for i, x in ((1, "a"), (2, "b"))}
    numbers = ", ".join(f"{n}_{part}" for part in (*constants, *target.ends))
    constants |= ends_of(integers, zeros[2], target)
    code = function(n, "int32_t a, int32_t b", [f"    return {name}_powers_of_two(a, b, {numbers});"])
    return made._replace(rules=[f"{name} powers-of-two"], constants=constants, code=code, arguments=("a", "b"))


_SUMS: dict[str, Callable[..., PortedLayer]] = {
    "tflite-double": _c_of_three_factors,
    "xnnpack": _c_of_one_shift,
    "powers of two": _c_of_powers,
}
"""How ADD and SUB are made, by the kind that their integers name."""


def _c_of_total(made: PortedLayer, op: Op, graph: Graph, target: Target, name: str) -> PortedLayer | None:
    """ADD and SUB, as `name` says: of each kind of integers that they have."""
    integers = getattr(op.prepared, "integers", None) or {}
    if integers.get("kind") not in _SUMS:
        return None
    a, b, y = (zero_of(graph.tensors[name]) for name in (*op.inputs[:2], op.outputs[0]))
    return _SUMS[integers["kind"]](made, integers, (a, b, y), target, name)


def _c_of_extreme(sign: str) -> Callable[..., PortedLayer]:
    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
        code = function(made.name, "int32_t a, int32_t b", [f"    return a {sign} b ? a : b;"])
        return made._replace(code=code, arguments=("a", "b"))

    return make


def _c_of_difference(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Both operands to one scale, then the square of their difference."""
    n, integers = made.name, op.prepared.integers
    a, b, y = (graph.tensors[name] for name in (*op.reads, op.outputs[0]))
    constants = {f"input{i}_{ending(target)}": target.sign * zero_of(t) for i, t in ((1, a), (2, b))}
    constants |= {**integers, **with_ends(y, target)}
    lines = []
    for i, x in ((1, "a"), (2, "b")):
        near = f"({x} {'+' if target.sign < 0 else '-'} {n}_input{i}_{ending(target)}) * (1 << {n}_left_shift)"
        number = f"{n}_{x}_multiplier, 31 - {n}_{x}_shift, 0, INT32_MIN, INT32_MAX"
        lines.append(f"    const int64_t near_{x} = tflite_double({near}, {number});")
    last = ", ".join(f"{n}_{part}" for part in (target.offsets[2], *target.ends))
    square = "wrap_s32((near_a - near_b) * (near_a - near_b))"
    lines.append(f"    return tflite_double({square}, {n}_y_multiplier, 31 - {n}_y_shift, {last});")
    code = function(n, "int32_t a, int32_t b", lines)
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("a", "b"))


def _c_of_prelu(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Codes from the zero point on by one factor, those below it times alpha by another."""
    integers = getattr(op.prepared, "integers", None)
    if not integers:
        return None
    n, x, y = made.name, graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    constants = {target.offsets[0]: target.sign * zero_of(x), **integers, **with_ends(y, target)}
    constants["alpha"] = np.asarray(integers["alpha"], np.int16)
    last = ", ".join(f"{n}_{part}" for part in (target.offsets[2], *target.ends))
    lines = [
        f"    const int32_t near = x {'+' if target.sign < 0 else '-'} {n}_{target.offsets[0]};",
        "    if (near >= 0)",
        f"        return tflite_double(near, {n}_positive_multiplier, 31 - {n}_positive_shift, {last});",
        f"    return tflite_double(near * alpha, {n}_negative_multiplier, 31 - {n}_negative_shift, {last});",
    ]
    code = function(n, "int32_t x, int32_t alpha", lines)
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("x", "alpha"))


def _c_of_div(made: PortedLayer, op: Op, graph: Graph, target: Target) -> None:
    """A quotient of floats needs no constants; the loop of one of codes is the system's own."""


KINDS = {
    "ADD": Kind(
        make=_make_pair(tflite.Add, np.add, "add"),
        real=_real_pair(np.add),
        cut=cut_elementwise,
        code=partial(_c_of_total, name="add"),
        schema="AddOptions",
        by_image=where_constants_repeat,
    ),
    "SUB": Kind(
        make=_make_pair(tflite.Sub, np.subtract),
        real=_real_pair(np.subtract),
        cut=cut_elementwise,
        code=partial(_c_of_total, name="sub"),
        schema="SubOptions",
        by_image=where_constants_repeat,
    ),
    "MUL": Kind(
        make=_make_pair(tflite.Mul, np.multiply, "mul"),
        real=_real_pair(np.multiply),
        cut=cut_elementwise,
        code=c_of_product,
        schema="MulOptions",
        by_image=where_constants_repeat,
    ),
    "DIV": Kind(
        make=make_quotient,
        real=_real_pair(np.divide),
        cut=cut_elementwise,
        code=_c_of_div,
        schema="DivOptions",
        version=1,
    ),
    "MAXIMUM": Kind(
        make=_make_extreme(tflite.Maximum, np.maximum),
        real=_real_pair(np.maximum),
        cut=cut_elementwise,
        code=_c_of_extreme(">"),
        by_image=where_constants_repeat,
    ),
    "MINIMUM": Kind(
        make=_make_extreme(tflite.Minimum, np.minimum),
        real=_real_pair(np.minimum),
        cut=cut_elementwise,
        code=_c_of_extreme("<"),
        by_image=where_constants_repeat,
    ),
    "SQUARED_DIFFERENCE": Kind(
        make=_make_difference, real=_real_pair(lambda a, b: (a - b) ** 2), cut=cut_elementwise, code=_c_of_difference
    ),
    "PRELU": Kind(make=_make_prelu, real=_real_prelu, cut=cut_elementwise, code=_c_of_prelu, version=1),
}

"""Operators of single codes: quantizers, tables, casts, comparisons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qops import onnx
from qops.models.graph import Graph
from qops.models.onnx.code import WORDS, c_of_expression, c_of_prepared_table, constant_ends, has_numbers
from qops.models.onnx.cut import cut_code
from qops.models.onnx.file import Node, name_of_type
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import shape_of_data
from qops.models.onnx.site import NodeRunner, PlacedNode
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.onnx.runtimes import COLUMNS

__all__ = ["CASTS", "KINDS"]


Given = Sequence[Any]
F32 = np.float32
CASTS = {
    1: "float32",
    2: "uint8",
    3: "int8",
    4: "uint16",
    5: "int16",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    12: "uint32",
    13: "uint64",
}
"""The types that Cast makes, by their numbers in the format."""
_TYPED = 23
"""The opset from which QuantizeLinear says in what type it divides."""


def _make_cast(site: PlacedNode) -> NodeRunner:
    number = site.node.get("to")
    if number not in CASTS:
        raise Missing(f"it casts to {name_of_type(number)}")
    return NodeRunner(lambda given: given[0].astype(CASTS[number]))


def _real_cast(node: Node, given: Given) -> Values:
    """Values keep what integers of their size would lose only where they were floats."""
    is_float = CASTS[node.get("to")][:5] == "float"
    return given[0].astype(np.float64) if is_float else np.trunc(given[0]).astype(np.float64)


def _c_of_quantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    y = graph.tensors[op.outputs[0]]
    if not has_numbers(op, graph, ()) or graph.tensors[op.reads[0]].dtype != "float32":
        return None
    n, constants = made.name, {"scale": F32(y.scale), **constant_ends(y)}
    lines = [
        f"    const float code = rintf(value / {n}_scale) + (float){n}_output_zero_point;",
        f"    return code < {n}_output_min ? {n}_output_min : code > {n}_output_max ? {n}_output_max : (int32_t)code;",
    ]
    code = function(n, "float value", lines)
    return made._replace(constants=constants, code=code, arguments=("value",))


def _c_of_dequantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    x = graph.tensors[op.inputs[0]]
    if x.scale is None or x.zero_point is None or x.dtype not in ("int8", "uint8", "int16", "uint16", "int32"):
        return None
    of = "[channel]" if x.scale.ndim else ""
    constants = {"scale": x.scale.astype(F32)[()], "input_zero_point": x.zero_point.astype(np.int32)[()]}
    line = f"    return (float)(x - {made.name}_input_zero_point{of}) * {made.name}_scale{of};"
    arguments = ("x", "channel") if of else ("x",)
    code = function(made.name, f"int32_t x{', int channel' if of else ''}", [line], "float")
    return made._replace(constants=constants, code=code, arguments=arguments)


def _c_of_dynamic(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """DynamicQuantizeLinear: all data make the scale and the zero point."""
    step = "255" if COLUMNS[op.runtime].is_ort else "1"  # by 255 it is the scale of zeros
    line = f"    return dynamic_u8(x, y, count, {step}, scale);"
    code = function(made.name, "const float *x, int32_t *y, int count, float *scale", [line], what="row")
    return made._replace(rules=["dynamic"], code=code, arguments=("values",))


def _c_of_cast(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Integers that become wider, floats or truths; what others become is the processor's own."""
    x, y = (graph.tensors[name].dtype for name in (op.inputs[0], op.outputs[0]))
    known = {"bool": ("int32_t", "x != 0"), "float32": ("float", "(float)x")}
    if x not in WORDS or (y not in known and not (y in WORDS and np.can_cast(x, y))):
        return None
    kind, text = known.get(y, ("int32_t", "x"))
    code = function(made.name, "int32_t x", [f"    return {text};"], kind)
    return made._replace(code=code, arguments=("x",))


def _compares(compare: Callable[..., Any], text: str, names: tuple[str, ...] = ("a", "b")) -> Kind:
    """A comparison or logical operator, which is one C expression."""
    return Kind(
        moves=lambda node, given: compare(*given), rule="exact", code=c_of_expression(text, names), result="bool"
    )


def _inputs_of_dequantize(node: Node) -> Spec:
    return Spec((QuantizedInput(0, 1, 2, node.get("axis", 1)),))


def _implied_by_types(site: PlacedNode, attributes: dict[str, Any]) -> dict[str, Any]:
    """QuantizeLinear: a zero point gives the type of the codes, and the scale that in which onnxruntime divides."""
    scale = site.tensors[site.node.inputs[1]].dtype
    is_typed = COLUMNS[site.runtime].is_ort and site.node.opset >= _TYPED and scale == "float16"
    found = {"precision": scale, **attributes} if is_typed else dict(attributes)
    if site.is_given(2):
        if site.tensors[site.node.inputs[2]].dtype in ("int4", "uint4"):
            raise Missing("it makes codes of 4 bits")
        found.pop("output_dtype", None)
    return found


_DEQUANTIZED = Spec((QuantizedInput(0, 1, 2),))
_INPUTS = _DEQUANTIZED._replace(y=(3, 4))
KINDS = {
    "QuantizeLinear": Kind(
        function=onnx.quantize_linear,
        prepared=onnx.QuantizeLinear,
        inputs=Spec((), (1, 2)),
        implied=_implied_by_types,
        recodes=True,
        cut=cut_code,
        code=_c_of_quantize,
        least=2,
        folds=True,
        result=lambda node, type_of: [type_of(2, CASTS.get(node.get("output_dtype", 0), "uint8"))],
        shape=shape_of_data,
    ),
    "DequantizeLinear": Kind(
        function=onnx.dequantize_linear,
        rule="exact",
        inputs=_DEQUANTIZED,
        inputs_of=_inputs_of_dequantize,
        recodes=True,
        cut=cut_code,
        code=_c_of_dequantize,
        least=2,
        folds=True,
        result=lambda node, type_of: [type_of(1, "float32")],
        shape=shape_of_data,
    ),
    "DynamicQuantizeLinear": Kind(
        results=3,
        function=onnx.dynamic_quantize_linear,
        code=_c_of_dynamic,
        result=lambda node, type_of: ["uint8", "float32", "uint8"],
    ),
    "QLinearSigmoid": Kind(
        function=onnx.qlinear_sigmoid,
        prepared=onnx.QLinearSigmoid,
        is_own=True,
        rule="ort",
        inputs=_INPUTS._replace(real="Sigmoid"),
        cut=cut_code,
        code=c_of_prepared_table,
    ),
    "QLinearLeakyRelu": Kind(
        function=onnx.qlinear_leaky_relu,
        prepared=onnx.QLinearLeakyRelu,
        is_own=True,
        rule="ort",
        inputs=_INPUTS._replace(real="LeakyRelu"),
        cut=cut_code,
        code=c_of_prepared_table,
    ),
    "Cast": Kind(
        make=_make_cast,
        real=_real_cast,
        rule="moves codes",
        code=_c_of_cast,
        folds=True,
        result=lambda node, type_of: [CASTS.get(node.get("to"), "float32")],
    ),
    "Equal": _compares(np.equal, "a == b"),
    "Greater": _compares(np.greater, "a > b"),
    "GreaterOrEqual": _compares(np.greater_equal, "a >= b"),
    "Less": _compares(np.less, "a < b"),
    "LessOrEqual": _compares(np.less_equal, "a <= b"),
    "And": _compares(np.logical_and, "a && b"),
    "Or": _compares(np.logical_or, "a || b"),
    "Not": _compares(np.logical_not, "!x", ("x",)),
}

"""Ops of ONNX on codes, as onnxruntime holds them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from qops.models import Graph, Op, Tensor
from qops.models.code.places import c_of_moves, c_of_told
from qops.models.code.sums import c_of_sums
from qops.models.code.tables import c_of_table, is_by_code
from qops.models.onnx.moves import MOVES
from qops.models.onnx.real import REAL
from qops.models.target import PortedLayer, Target, function
from qops.onnx.tables import table_between
from qops.rules.scales import fma

__all__ = ["NODES"]

F32 = np.float32
Maker = Callable[..., PortedLayer | None]
_ENDS = ("output_zero_point", "output_min", "output_max")


def _given(op: Op, graph: Graph, place: int) -> tuple[np.float32, int] | None:
    """Give scale and zero point of an operand, which follow it; None if they are no constants, or left out."""
    scale, zero = (graph.tensors[name].data for name in op.inputs[place + 1 : place + 3])
    one = scale is not None and scale.size == 1 and zero is not None and zero.size == 1
    return (F32(np.ravel(scale)[0]), int(np.ravel(zero)[0])) if one and scale is not None and zero is not None else None


def _pair(op: Op, graph: Graph) -> list[tuple[np.float32, int]] | None:
    """Give scale and zero point of both operands and of the result; None if they are not all there."""
    y = graph.tensors[op.outputs[0]]
    found = [_given(op, graph, place) for place in (0, 3)] if len(op.inputs) == 8 else [None]
    both = [numbers for numbers in found if numbers is not None]
    return [*both, (F32(y.scale), _zero(y))] if len(both) == 2 and _known(op, graph, ()) else None


def _zero(tensor: Tensor) -> int:
    return 0 if tensor.zero_point is None else int(tensor.zero_point)


def _ends(y: Tensor) -> dict[str, int]:
    info = np.iinfo(y.dtype)
    return dict(zip(_ENDS, (_zero(y), int(info.min), int(info.max)), strict=True))


def _known(op: Op, graph: Graph, places: tuple[int, ...]) -> bool:
    """Whether scales of these inputs, and of the result, are constants."""
    tensors = [graph.tensors[op.inputs[i]] for i in places if i < len(op.inputs)]
    return all(t.scale is not None and t.scale.ndim == 0 for t in (*tensors, graph.tensors[op.outputs[0]]))


def _of_ratios(a: tuple[np.float32, int], b: tuple[np.float32, int], y: tuple[np.float32, int]) -> dict[str, Any]:
    """QLinearAdd: two fused steps on whole codes."""
    ra, rb = a[0] / y[0], b[0] / y[0]
    return {"a_ratio": ra, "b_ratio": rb, "constant": F32(y[1]) - fma(ra, F32(a[1]), rb * F32(b[1]))}


def _of_product(a: tuple[np.float32, int], b: tuple[np.float32, int], y: tuple[np.float32, int]) -> dict[str, Any]:
    """QLinearMul: a product of codes less their zero points, by one scale."""
    return {"input1_zero_point": a[1], "input2_zero_point": b[1], "scale": F32(a[0] * b[0] / y[0])}


def _of_two(rule: str, numbers: Callable[..., dict[str, Any]], operand: str, taken: tuple[str, ...]) -> Maker:
    """Two codes: the numbers that the rule takes, and target it takes operands."""

    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
        given = _pair(op, graph)
        if given is None:
            return None
        constants = numbers(*given) | _ends(graph.tensors[op.outputs[0]])
        operands = (operand.format(x=x, n=made.name, i=i) for i, x in ((1, "a"), (2, "b")))
        words = ", ".join([*operands, *(f"{made.name}_{part}" for part in taken)])
        code = function(made.name, "int32_t a, int32_t b", [f"    return {rule}_ort_x86({words});"])
        return made._replace(rules=[f"{rule} ort-x86"], constants=constants, code=code, arguments=("a", "b"))

    return make


def _table(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    return c_of_table(made, op, graph, target) if op.prepared is not None else None


def _of_all(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """The mean of an image: the sum of stored codes, less as many zero points, by one scale."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if not _known(op, graph, (0,)) or op.prepared is None:
        return None
    sizes = [n or 1 for n in (x.shape[1:-1] if op.prepared.channels_last else x.shape[2:])]
    count, n = prod(sizes), made.name
    scale = F32(x.scale) / (F32(y.scale) * F32(count))
    constants = {"count": count, "input_zero_point": _zero(x), "scale": F32(scale), **_ends(y)}
    numbers = ", ".join(f"{n}_{part}" for part in ("scale", *_ENDS))
    line = f"    return average_pool_ort_global(sum - {n}_count * {n}_input_zero_point, {numbers});"
    code = function(n, "int32_t sum", [line])
    return made._replace(rules=["average_pool ort-global"], constants=constants, code=code, arguments=("sum",))


def _of_taps(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """The mean of a window in float32, tap after tap; a window that is the whole image is as `_of_all`."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if not _known(op, graph, (0,)) or op.prepared is None:
        return None
    kernel, last = tuple(op.prepared.kernel_shape), op.prepared.channels_last
    sizes = tuple(n or 1 for n in (x.shape[1:-1] if last else x.shape[2:]))
    if kernel == sizes and not any(op.prepared.pads or ()):
        return _of_all(made, op, graph, target)
    constants = {"input_scale": F32(x.scale), "input_zero_point": _zero(x), "output_scale": F32(y.scale), **_ends(y)}
    n = made.name
    count = str(prod(kernel)) if op.prepared.count_include_pad else "count"
    lines = [
        "    float sum = 0;",
        "    for (int i = 0; i < count; i++) {",
        "        /* volatile: never fused */",
        f"        const volatile float value = {n}_input_scale * (float)(x[i] - {n}_input_zero_point);",
        "        sum += value;",
        "    }",
        f"    const volatile float near = sum / {count} / {n}_output_scale;",
        f"    const float code = rintf(near + (float){n}_output_zero_point);",
        f"    return code >= 0x1p31f || code < {n}_output_min ? {n}_output_min",
        f"        : code > {n}_output_max ? {n}_output_max : (int32_t)code;",
    ]
    constants |= {f"kernel_{i}": size for i, size in enumerate(kernel)}
    code = function(n, "const int32_t *x, int count", lines)
    return made._replace(constants=constants, code=code, arguments=("taps", "count"))


def _largest(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    if graph.tensors[op.reads[0]].dtype not in ("int8", "uint8"):
        return None
    code = function(made.name, "int32_t largest", ["    return largest;"])
    return made._replace(code=code, arguments=("largest",))


def _concat(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """A table for each input that has other numbers than the result."""
    y = graph.tensors[op.outputs[0]]
    each = [_given(op, graph, place) for place in range(2, len(op.inputs), 3)] if len(op.inputs) % 3 == 2 else [None]
    if not _known(op, graph, ()) or None in each:
        return None
    n, lines, constants = made.name, ["    (void)input;"], {}
    lowest = int(np.iinfo(y.dtype).min)
    other = F32(y.scale), _zero(y)
    for i, own in enumerate(each):
        if own is not None and own != other:
            constants[f"table{i}"] = np.roll(table_between(own, other, np.dtype(y.dtype)), -lowest)
            lines.append(f"    if (input == {i})\n        return {n}_table{i}[x - ({lowest})];")
    code = function(n, "int32_t x, int input", [*lines, "    return x;"])
    return made._replace(constants=constants, code=code, arguments=("x", "input"))


def _softmax(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Exponentials of differences from -255 to 0, for the length that the file tells."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if op.prepared is None or not _known(op, graph, (0,)):
        return None
    count, n = op.prepared.length_of(tuple(size or 1 for size in x.shape)), made.name
    table, parts = op.prepared.table_of(count)
    constants = {"count": count, "table": table, "parts": int(parts), **_ends(y)}
    lines = [
        "    int32_t most = x[0];",
        "    float sum = 0;",
        "    for (int i = 1; i < count; i++)",
        "        most = x[i] > most ? x[i] : most;",
        "    for (int i = 0; i < count; i++)",
        f"        sum += {n}_table[255 + x[i] - most];",
        "    for (int i = 0; i < count; i++) {",
        f"        const double code = rint((double){n}_table[255 + x[i] - most] * {n}_parts / (double)sum)",
        f"            + {n}_output_zero_point;",
        f"        y[i] = code > {n}_output_max ? {n}_output_max : (int32_t)code;",
        "    }",
    ]
    code = function(n, "const int32_t *x, int32_t *y, int count", lines, "void", "row")
    return made._replace(constants=constants, code=code, arguments=("row",))


def _quantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    y = graph.tensors[op.outputs[0]]
    if not _known(op, graph, ()) or graph.tensors[op.reads[0]].dtype != "float32":
        return None
    n, constants = made.name, {"scale": F32(y.scale), **_ends(y)}
    lines = [
        f"    const float code = rintf(value / {n}_scale) + (float){n}_output_zero_point;",
        f"    return code < {n}_output_min ? {n}_output_min : code > {n}_output_max ? {n}_output_max : (int32_t)code;",
    ]
    code = function(n, "float value", lines)
    return made._replace(constants=constants, code=code, arguments=("value",))


def _dequantize(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    x = graph.tensors[op.inputs[0]]
    if x.scale is None or x.zero_point is None or x.dtype not in ("int8", "uint8", "int16", "uint16", "int32"):
        return None
    of = "[channel]" if x.scale.ndim else ""
    constants = {"scale": x.scale.astype(F32)[()], "input_zero_point": x.zero_point.astype(np.int32)[()]}
    line = f"    return (float)(x - {made.name}_input_zero_point{of}) * {made.name}_scale{of};"
    arguments = ("x", "channel") if of else ("x",)
    code = function(made.name, f"int32_t x{', int channel' if of else ''}", [line], "float")
    return made._replace(constants=constants, code=code, arguments=arguments)


def _dynamic(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """DynamicQuantizeLinear: all data make the scale and the zero point."""
    step = "255" if op.runtime == "ort" else "1"  # by 255 it is the scale of zeros
    line = f"    return dynamic_u8(x, y, count, {step}, scale);"
    code = function(made.name, "const float *x, int32_t *y, int count, float *scale", [line], what="row")
    return made._replace(rules=["dynamic"], code=code, arguments=("values",))


def _sums(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Sums of products that stay int32 or become float32; DynamicQuantizeMatMul has the scale of its data first."""
    own, n = op.prepared, made.name
    if own is None:
        return None
    data, weights = ("x", "w") if op.kind == "ConvInteger" else ("a", "b")
    zeros = {"kernel_zero_point": _one(getattr(own, f"{weights}_zero_point")), "weights": own.weights}
    rules, arguments, more = [], ["sum", "channel"], ""
    if op.kind == "DynamicQuantizeMatMul":
        rules, arguments, more = ["dynamic"], ["sum", "channel", "scale"], ", float scale"
    else:
        zeros["input_zero_point"] = _one(getattr(own, f"{data}_zero_point"))
    if op.kind in ("MatMulInteger", "ConvInteger"):
        code = function(n, "int64_t sum", ["    return (int32_t)sum;"])
        return made._replace(constants=zeros, code=code, arguments=("sum",))
    zeros["scale"] = _one(own.factor)
    by = f"{n}_scale{'[channel]' if np.ndim(zeros['scale']) else ''}"
    by = f"(scale * {by})" if more else by
    lines = [
        "    (void)channel;",
        f"    const volatile float value = (float)(int32_t)sum * {by}; /* volatile: no fma */",
    ]
    bias = own.bias
    if bias is not None:
        zeros["bias"] = bias
    last = f"value + {n}_bias[channel]" if bias is not None and bias.dtype == F32 else "value"
    code = function(n, f"int64_t sum, int channel{more}", [*lines, f"    return {last};"], "float")
    return made._replace(rules=rules, constants=zeros, code=code, arguments=tuple(arguments))


def _one(values: Any) -> Any:
    """Give one number as it is, and more of them flat."""
    found = np.asarray(values)
    return found.reshape(-1)[0] if found.size == 1 else found.reshape(-1)


def _expression(text: str, arguments: tuple[str, ...]) -> Maker:
    """A comparison or logical operator that is one C expression."""

    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
        if any(graph.tensors[name].dtype not in _WORDS for name in op.inputs):
            return None
        code = function(made.name, ", ".join(f"int32_t {name}" for name in arguments), [f"    return {text};"])
        return made._replace(code=code, arguments=arguments)

    return make


def _cast(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Integers that become wider, floats or truths; what others become is the processor's own."""
    x, y = (graph.tensors[name].dtype for name in (op.inputs[0], op.outputs[0]))
    known = {"bool": ("int32_t", "x != 0"), "float32": ("float", "(float)x")}
    if x not in _WORDS or (y not in known and not (y in _WORDS and np.can_cast(x, y))):
        return None
    kind, text = known.get(y, ("int32_t", "x"))
    code = function(made.name, "int32_t x", [f"    return {text};"], kind)
    return made._replace(code=code, arguments=("x",))


_WORDS = ("bool", "int8", "uint8", "int16", "uint16", "int32")
_SIGNS = {"Equal": "a == b", "Greater": "a > b", "GreaterOrEqual": "a >= b", "Less": "a < b", "LessOrEqual": "a <= b"}
_SIGNS |= {"And": "a && b", "Or": "a || b"}
_SUMS = ("MatMulInteger", "ConvInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QGemm")
_SCALED, _WHOLE = ("a_ratio", "b_ratio", "constant", *_ENDS[1:]), ("scale", *_ENDS)
TOLD = ("Shape", "Size", "ConstantOfShape", "Range")


def _of_layer_or_sums(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    return c_of_sums(made, op, graph, target) or _sums(made, op, graph, target)


def _of_codes(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """An op of floats that reads codes instead, one after another."""
    is_one = len(op.reads) == 1 and graph.tensors[op.reads[0]].dtype in ("int8", "uint8")
    return c_of_table(made, op, graph, target) if is_one and is_by_code(op, graph.tensors[op.reads[0]]) else None


NODES: dict[str, Maker] = {
    **dict.fromkeys(REAL, _of_codes),
    **dict.fromkeys(MOVES, c_of_moves),
    **dict.fromkeys(TOLD, c_of_told),
    **dict.fromkeys(("QLinearConv", "QLinearMatMul"), c_of_sums),
    "QLinearAdd": _of_two("add", _of_ratios, "{x}", _SCALED),
    "QLinearMul": _of_two("mul", _of_product, "{x} - {n}_input{i}_zero_point", _WHOLE),
    **{"QLinearSigmoid": _table, "QLinearLeakyRelu": _table},
    **{"QLinearGlobalAveragePool": _of_all, "QLinearAveragePool": _of_taps, "MaxPool": _largest},
    **{"QLinearConcat": _concat, "QLinearSoftmax": _softmax},
    **{"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize, "DynamicQuantizeLinear": _dynamic},
    **dict.fromkeys(_SUMS, _of_layer_or_sums),
    **{kind: _expression(text, ("a", "b")) for kind, text in _SIGNS.items()},
    **{"Not": _expression("!x", ("x",)), "Where": _expression("condition ? a : b", ("condition", "a", "b"))},
    "Cast": _cast,
}
"""How these nodes are made, by kind; None where a number is no constant."""

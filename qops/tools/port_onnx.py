"""Ops of ONNX on codes, as onnxruntime holds them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from qops.models import Graph, Op, Tensor
from qops.onnx.tables import table_between
from qops.rules.scales import fma
from qops.tools.port_codes import tabled
from qops.tools.port_parts import Port, Ported, function

__all__ = ["NODES"]

F32 = np.float32
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


def _add(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    """Two fused steps on whole codes."""
    numbers_of = _pair(op, graph)
    if numbers_of is None:
        return None
    (a, a_zero), (b, b_zero), (y, y_zero) = numbers_of
    n, ends = made.name, _ends(graph.tensors[op.outputs[0]])
    ra, rb = a / y, b / y
    constants = {"a_ratio": ra, "b_ratio": rb, "constant": F32(y_zero) - fma(ra, F32(a_zero), rb * F32(b_zero))}
    numbers = ", ".join(f"{n}_{part}" for part in (*constants, *_ENDS[1:]))
    code = function(n, "int32_t a, int32_t b", [f"    return add_ort_x86(a, b, {numbers});"])
    return made._replace(rules=["add ort-x86"], constants=constants | ends, code=code, arguments=("a", "b"))


def _mul(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    numbers_of = _pair(op, graph)
    if numbers_of is None:
        return None
    (a, a_zero), (b, b_zero), (y, _) = numbers_of
    n, ends = made.name, _ends(graph.tensors[op.outputs[0]])
    constants = {"input1_zero_point": a_zero, "input2_zero_point": b_zero, "scale": F32(a * b / y)}
    numbers = ", ".join(f"{n}_{part}" for part in ("scale", *_ENDS))
    line = f"    return mul_ort_x86(a - {n}_input1_zero_point, b - {n}_input2_zero_point, {numbers});"
    code = function(n, "int32_t a, int32_t b", [line])
    return made._replace(rules=["mul ort-x86"], constants=constants | ends, code=code, arguments=("a", "b"))


def _table(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    return tabled(made, op, graph, how) if op.prepared is not None else None


def _of_all(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
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


def _of_taps(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    """The mean of a window in float32, tap after tap; a window that is the whole image is as `_of_all`."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if not _known(op, graph, (0,)) or op.prepared is None:
        return None
    kernel, last = tuple(op.prepared.kernel_shape), op.prepared.channels_last
    sizes = tuple(n or 1 for n in (x.shape[1:-1] if last else x.shape[2:]))
    if kernel == sizes and not any(op.prepared.pads or ()):
        return _of_all(made, op, graph, how)
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


def _largest(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    if graph.tensors[op.reads[0]].dtype not in ("int8", "uint8"):
        return None
    code = function(made.name, "int32_t largest", ["    return largest;"])
    return made._replace(code=code, arguments=("largest",))


def _concat(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    """A table for each input whose numbers are not those of the result."""
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


def _softmax(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
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


def _quantize(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
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


def _dequantize(made: Ported, op: Op, graph: Graph, how: Port) -> Ported | None:
    x = graph.tensors[op.inputs[0]]
    if x.scale is None or x.scale.ndim or x.dtype not in ("int8", "uint8", "int16", "uint16"):
        return None
    constants = {"scale": F32(x.scale), "input_zero_point": _zero(x)}
    line = f"    return (float)(x - {made.name}_input_zero_point) * {made.name}_scale;"
    code = function(made.name, "int32_t x", [line], "float")
    return made._replace(constants=constants, code=code, arguments=("x",))


NODES: dict[str, Callable[..., Ported | None]] = {
    **{"QLinearAdd": _add, "QLinearMul": _mul, "QLinearSigmoid": _table, "QLinearLeakyRelu": _table},
    **{"QLinearGlobalAveragePool": _of_all, "QLinearAveragePool": _of_taps, "MaxPool": _largest},
    **{"QLinearConcat": _concat, "QLinearSoftmax": _softmax},
    **{"QuantizeLinear": _quantize, "DequantizeLinear": _dequantize},
}
"""How these nodes are made, by kind; None where a number is no constant."""

"""TFLite's ops of single codes, of pairs without a rule, and of sums along axes, as ports hold them."""

from __future__ import annotations

from collections.abc import Callable
from math import floor, log2, prod
from typing import Any

import numpy as np

from qops import tflite
from qops.models import Graph, Op, Tensor
from qops.tools.params.target import PortedLayer, Target, call, ending, factors, function

__all__ = ["CODES", "is_by_code", "tabled"]

F32 = np.float32


def _zero(tensor: Tensor) -> int:
    return 0 if tensor.zero_point is None else int(tensor.zero_point)


def _scale(tensor: Tensor) -> float:
    return 1.0 if tensor.scale is None else float(tensor.scale)


def _ends(tensor: Tensor) -> tuple[int, int]:
    info = np.iinfo(tensor.dtype)
    return int(info.min), int(info.max)


def _with_ends(y: Tensor, how: Target) -> dict[str, Any]:
    return {how.offsets[2]: _zero(y), **dict(zip(how.ends, _ends(y), strict=True))}


def tabled(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    """Give an op of one code as a table of all codes.

    Parameters
    ----------
    made : PortedLayer
    op : Op
    graph : Graph
    how : Target

    Returns
    -------
    PortedLayer or None
        None if the op reads no codes.
    """
    x = graph.tensors[op.reads[0]]
    if np.dtype(x.dtype).kind not in "iu" or np.dtype(x.dtype).itemsize > 2:
        return None
    lowest, highest = _ends(x)
    table = (getattr(op.prepared, "integers", None) or {}).get("table")
    if table is None:
        (table,) = op.call(np.arange(lowest, highest + 1).astype(x.dtype))
    constants = {"input_min": lowest, "table": table}
    code = function(made.name, "int32_t x", [f"    return {made.name}_table[x - {made.name}_input_min];"])
    return made._replace(constants=constants, code=code, arguments=("x",))


def _extreme(sign: str) -> Callable[..., PortedLayer]:
    def make(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer:
        code = function(made.name, "int32_t a, int32_t b", [f"    return a {sign} b ? a : b;"])
        return made._replace(code=code, arguments=("a", "b"))

    return make


def _most(which: str) -> Callable[..., PortedLayer]:
    def make(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer:
        code = function(made.name, f"int32_t {which}", [f"    return {which};"])
        return made._replace(code=code, arguments=(which,))

    return make


def _difference(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer:
    """Both operands to one scale, then the square of their difference."""
    n, integers = made.name, op.prepared.integers
    a, b, y = (graph.tensors[name] for name in (*op.reads, op.outputs[0]))
    constants = {f"input{i}_{ending(how)}": how.sign * _zero(t) for i, t in ((1, a), (2, b))}
    constants |= {**integers, **_with_ends(y, how)}
    lines = []
    for i, x in ((1, "a"), (2, "b")):
        near = f"({x} {'+' if how.sign < 0 else '-'} {n}_input{i}_{ending(how)}) * (1 << {n}_left_shift)"
        number = f"{n}_{x}_multiplier, 31 - {n}_{x}_shift, 0, INT32_MIN, INT32_MAX"
        lines.append(f"    const int64_t near_{x} = tflite_double({near}, {number});")
    last = ", ".join(f"{n}_{part}" for part in (how.offsets[2], *how.ends))
    square = "wrap_s32((near_a - near_b) * (near_a - near_b))"
    lines.append(f"    return tflite_double({square}, {n}_y_multiplier, 31 - {n}_y_shift, {last});")
    code = function(n, "int32_t a, int32_t b", lines)
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("a", "b"))


def _prelu(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    """Codes from the zero point on by one factor, those below it times alpha by another."""
    integers = getattr(op.prepared, "integers", None)
    if not integers:
        return None
    n, x, y = made.name, graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    constants = {how.offsets[0]: how.sign * _zero(x), **integers, **_with_ends(y, how)}
    constants["alpha"] = np.asarray(integers["alpha"], np.int16)
    last = ", ".join(f"{n}_{part}" for part in (how.offsets[2], *how.ends))
    lines = [
        f"    const int32_t near = x {'+' if how.sign < 0 else '-'} {n}_{how.offsets[0]};",
        "    if (near >= 0)",
        f"        return tflite_double(near, {n}_positive_multiplier, 31 - {n}_positive_shift, {last});",
        f"    return tflite_double(near * alpha, {n}_negative_multiplier, 31 - {n}_negative_shift, {last});",
    ]
    code = function(n, "int32_t x, int32_t alpha", lines)
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("x", "alpha"))


def _count(op: Op, graph: Graph) -> int:
    """How many codes make one, of the shapes of the file; the first axis is 1 where it is not told."""
    x, axes = graph.tensors[op.reads[0]], graph.tensors[op.inputs[1]].data
    shape = [size or 1 for size in x.shape]
    taken = {int(axis) % max(len(shape), 1) for axis in np.ravel([] if axes is None else axes)}
    return prod(shape[axis] for axis in taken)


def _reduced(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    """MEAN and SUM: the sum of stored codes, less as many zero points, by one factor; XNNPACK scales both apart."""
    n, count, integers = made.name, _count(op, graph), op.prepared.integers
    x, y = graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    x_scale, y_scale = (F32(1 if t.scale is None else t.scale) for t in (x, y))
    constants = {"count": count, how.offsets[0]: how.sign * _zero(x), **_with_ends(y, how)}
    centred = f"sum {'+' if how.sign < 0 else '-'} {n}_count * {n}_{how.offsets[0]}"
    if integers:
        m, e = integers["multiplier"], integers["shift"]
        k = min(floor(log2(count)), 32, 31 + e) if made.op == "MEAN" else 0
        numbers = {"multiplier": (m << k) // (count if made.op == "MEAN" else 1), "shift": e - k}
        rule = "tflite-double"
    elif how.runtime == "xnnpack" and x.dtype != "int16":
        scale = x_scale / y_scale * (F32(1) / F32(count) if made.op == "MEAN" else F32(1))
        constants |= {"scale": scale, "bias": F32(_zero(y)) - F32(count * _zero(x)) * scale}
        lo, hi = (f"{n}_{end}" for end in how.ends)
        lines = [
            f"    const volatile float product = (float)sum * {n}_scale; /* volatile: never one fma with the sum */",
            f"    const float code = rintf(product + {n}_bias);",
            f"    return code < {lo} ? {lo} : code > {hi} ? {hi} : (int32_t)code;",
        ]
        code = function(n, "int32_t sum", lines)
        return made._replace(constants=constants, code=code, arguments=("sum",))
    else:
        return None
    line = f"    return {call(n, rule, centred, '', (how.offsets[2], *how.ends))};"
    code = function(n, "int32_t sum", [line])
    return made._replace(rules=[rule], constants={**constants, **numbers}, code=code, arguments=("sum",))


def _quantized(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    """QUANTIZE of floats, or of codes to others."""
    n, x, y = made.name, graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    integers = op.prepared.integers
    last = tuple(f"{n}_{part}" for part in (how.offsets[2], *how.ends))
    if x.dtype == "float32":
        if how.runtime == "xnnpack" and y.dtype == "int16":
            return None  # in blocks, with another tail
        near = "roundf(value / scale), near = whole < -0x1p31f || whole >= 0x1p31f ? -0x1p31f : whole"
        by = "near = rintf(value * scale)" if how.runtime == "xnnpack" else f"whole = {near}"
        scale = F32(y.scale) if how.runtime != "xnnpack" else F32(1) / F32(y.scale)
        constants = {"scale": F32(scale), **_with_ends(y, how)}
        lines = [
            f"    const float scale = {n}_scale, {by};",
            f"    const double code = (double)near + {last[0]};",
            f"    return code < {last[1]} ? {last[1]} : code > {last[2]} ? {last[2]} : (int32_t)code;",
        ]
        code = function(n, "float value", lines)
        return made._replace(constants=constants, code=code, arguments=("value",))
    if not integers or y.dtype == "int32":
        return tabled(made, op, graph, how) if is_by_code(op, x) else None
    constants = {how.offsets[0]: how.sign * _zero(x), **integers, **_with_ends(y, how)}
    value = f"x {'+' if how.sign < 0 else '-'} {n}_{how.offsets[0]}"
    code = function(n, "int32_t x", [f"    return {call(n, 'tflite-double', value, '', (how.offsets[2], *how.ends))};"])
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("x",))


def is_by_code(op: Op, x: Tensor) -> bool:
    """Whether a code becomes the same wherever it stands in the array.

    Parameters
    ----------
    op : Op
        One that reads one tensor.
    x : Tensor
        That one.

    Returns
    -------
    bool
    """
    if x.dtype == "int32" or np.dtype(x.dtype).itemsize > 1:
        return False
    every = np.arange(*_ends(x)).astype(x.dtype)
    (made,), (again,) = op.call(every), op.call(np.append(every[7:], every[:7]))
    return bool((np.append(again[-7:], again[:-7]) == made).all())


def _dequantized(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    n, x = made.name, graph.tensors[op.reads[0]]
    if np.dtype(x.dtype).kind not in "iu" or x.scale is None:
        return None
    constants = {"scale": F32(x.scale), "input_zero_point": _zero(x)}
    line = f"    return (float)((double){n}_scale * (x - {n}_input_zero_point));"
    code = function(n, "int32_t x", [line], "float")
    return made._replace(constants=constants, code=code, arguments=("x",))


def _matmul(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer | None:
    """BATCH_MATMUL: the sums of products of codes less their zero points, by one factor."""
    a, b, y = (graph.tensors[name] for name in (*op.inputs[:2], op.outputs[0]))
    if a.dtype not in ("int8", "int16") or any(t.scale is None or t.scale.ndim for t in (a, b, y)):
        return None
    given: dict[str, Any] = {"dtype": a.dtype, "kernel": how.runtime}
    for x, t in (("a", a), ("b", b), ("y", y)):
        given |= {f"{x}_scale": _scale(t), f"{x}_zero_point": _zero(t)}
    stage = tflite.BatchMatmul(np.zeros((1, 1), a.dtype), **given).requantize  # whatever is multiplied
    rule = how.wide if a.dtype == "int16" else stage.rule
    constants = {f"input{i}_{ending(how)}": how.sign * _zero(t) for i, t in ((1, a), (2, b))}
    constants |= {**_with_ends(y, how), **factors(stage, rule)}
    sum_of = "(int64_t)sum" if a.dtype == "int16" else "(int32_t)sum"
    line = f"    return {call(made.name, rule, sum_of, '', (how.offsets[2], *how.ends))};"
    code = function(made.name, "int64_t sum, int channel", ["    (void)channel;", line])
    return made._replace(rules=[rule], constants=constants, code=code, arguments=("sum", "channel"))


def _concatenated(made: PortedLayer, op: Op, graph: Graph, how: Target) -> PortedLayer:
    """A copy, or of uint8 of other scales a table for each input."""
    tensors, y = [graph.tensors[name] for name in op.inputs], graph.tensors[op.outputs[0]]
    n, lines = made.name, ["    (void)input;"]
    constants: dict[str, Any] = {}
    for i, x in enumerate(tensors):
        if y.dtype == "uint8" and (x.scale, x.zero_point) != (y.scale, y.zero_point):
            every = np.arange(256, dtype=np.uint8)
            numbers: dict[str, Any] = {"x_scale": _scale(x), "x_zero_point": _zero(x)}
            numbers |= {"y_scale": _scale(y), "y_zero_point": _zero(y), "kernel": how.runtime}
            constants[f"table{i}"] = tflite.concatenation([every], axis=0, **numbers)
            lines.append(f"    if (input == {i})\n        return {n}_table{i}[x];")
    code = function(n, "int32_t x, int input", [*lines, "    return x;"])
    return made._replace(constants=constants, code=code, arguments=("x", "input"))


_OF_ONE_CODE = (
    *("LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "ELU", "GELU", "EXP", "SQRT", "RSQRT", "ABS", "NEG"),
    *("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"),
    "MAX_POOL_2D",  # of a window of one tap that takes codes to another scale
)
CODES: dict[str, Callable[..., PortedLayer | None]] = {
    **dict.fromkeys(_OF_ONE_CODE, tabled),
    **{"MAXIMUM": _extreme(">"), "MINIMUM": _extreme("<")},
    **{"REDUCE_MAX": _most("largest"), "REDUCE_MIN": _most("smallest")},
    **{"SQUARED_DIFFERENCE": _difference, "PRELU": _prelu, "MEAN": _reduced, "SUM": _reduced},
    **{"QUANTIZE": _quantized, "DEQUANTIZE": _dequantized, "BATCH_MATMUL": _matmul},
    "CONCATENATION": _concatenated,
}
"""How these ops are made, by kind; None where a form has no C."""

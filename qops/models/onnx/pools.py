"""Pools over windows and over whole images, of codes and of floats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from qops import onnx
from qops._kernels.arrays.axis import Axis
from qops.models.cut import Index, inside_window
from qops.models.graph import Graph
from qops.models.onnx.code import ENDS, c_of_codes, constant_ends, has_numbers
from qops.models.onnx.cut import CutNode
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.onnx.windows import grid_of, shape_of_windows
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values, zero_of
from qops.onnx.pool_window import PoolWindow, taps

__all__ = ["KINDS"]


Given = Sequence[Any]
F32 = np.float32


def _real_max_pool(node: Node, given: Given) -> Values:
    x, axes = given[0], grid_of(node, given[0])
    made = np.full((*x.shape[:2], *(axis.positions for axis in axes)), -np.inf)
    for of_result, of_image in taps(axes):
        np.maximum(made[of_result], x[of_image], out=made[of_result])
    return made


def _real_average_pool(node: Node, given: Given) -> Values:
    x, axes = given[0], grid_of(node, given[0])
    grid = [axis.positions for axis in axes]
    sums, counts = np.zeros((*x.shape[:2], *grid)), np.zeros(grid)
    for of_result, of_image in taps(axes):
        sums[of_result] += x[of_image]
        counts[of_result] += 1
    return sums / (_all_taps(axes) if node.get("count_include_pad", 0) else counts)


def _all_taps(axes: Sequence[Axis]) -> Any:
    """Count the taps of each window, padding included; but not those beyond it, where `ceil_mode` adds a window."""
    counts: Any = 1
    for axis in axes:
        first = np.arange(axis.positions) * axis.stride
        most = (axis.size + axis.before + axis.after - first + axis.dilation - 1) // axis.dilation
        counts = np.multiply.outer(counts, np.clip(most, 1, axis.kernel))
    return counts


def _real_over_space(reduce: Callable[..., Any]) -> Callable[[Node, Given], Values]:
    return lambda node, given: np.asarray(reduce(given[0], axis=tuple(range(2, given[0].ndim)), keepdims=True))


def _cut_image(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One channel of one image."""
    last = bool(node.get("channels_last", 0))
    one = np.moveaxis(data[0], -1, 1)[index[0], index[-1]] if last else data[0][index[0], index[1]]
    few = one[None, ..., None] if last else one[None, None]
    return CutNode(dict(node.attributes), {0: few}, (1,) * data[0].ndim, f"one channel of one image, {one.size} codes")


def _cut_window(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """The codes of one window that are inside of the image; where padding counts, the node stays whole."""
    if node.get("channels_last", 0) or node.get("count_include_pad", 0):
        return None
    x = data[0]
    names = ("kernel_shape", "strides", "dilations", "pads", "auto_pad")
    axes = PoolWindow.of({name: node.get(name) for name in names if node.get(name) is not None})
    if set(node.get("dilations") or [1]) != {1} or node.get("ceil_mode", 0):
        return None
    few = inside_window(x[index[0], index[1]], axes.axes(x.shape[2:], "X"), index[2:])
    how = f"one channel of one window, {few.size} codes"
    return CutNode({"kernel_shape": list(few.shape)}, {0: few[None, None]}, (1,) * x.ndim, how)


def _c_of_mean_of_image(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """The mean of an image: the sum of stored codes, less as many zero points, by one scale."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if not has_numbers(op, graph, (0,)) or op.prepared is None:
        return None
    sizes = [n or 1 for n in (x.shape[1:-1] if op.prepared.channels_last else x.shape[2:])]
    count, n = prod(sizes), made.name
    scale = F32(x.scale) / (F32(y.scale) * F32(count))
    constants = {"count": count, "input_zero_point": zero_of(x), "scale": F32(scale), **constant_ends(y)}
    numbers = ", ".join(f"{n}_{part}" for part in ("scale", *ENDS))
    line = f"    return average_pool_ort_global(sum - {n}_count * {n}_input_zero_point, {numbers});"
    code = function(n, "int32_t sum", [line])
    return made._replace(rules=["average_pool ort-global"], constants=constants, code=code, arguments=("sum",))


def _c_of_mean_of_window(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """The mean of a window in float32, tap after tap; a window that is the whole image is as `_c_of_mean_of_image`."""
    x, y = graph.tensors[op.inputs[0]], graph.tensors[op.outputs[0]]
    if not has_numbers(op, graph, (0,)) or op.prepared is None:
        return None
    kernel, last = tuple(op.prepared.kernel_shape), op.prepared.channels_last
    sizes = tuple(n or 1 for n in (x.shape[1:-1] if last else x.shape[2:]))
    if kernel == sizes and not any(op.prepared.pads or ()):
        return _c_of_mean_of_image(made, op, graph, target)
    constants = {
        "input_scale": F32(x.scale),
        "input_zero_point": zero_of(x),
        "output_scale": F32(y.scale),
        **constant_ends(y),
    }
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


def _c_of_largest(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    if graph.tensors[op.reads[0]].dtype not in ("int8", "uint8"):
        return None
    code = function(made.name, "int32_t largest", ["    return largest;"])
    return made._replace(code=code, arguments=("largest",))


_INPUTS = Spec((QuantizedInput(0, 1, 2),), (3, 4))
KINDS = {
    "QLinearAveragePool": Kind(
        function=onnx.qlinear_average_pool,
        prepared=onnx.QLinearAveragePool,
        is_own=True,
        inputs=_INPUTS._replace(real="AveragePool"),
        rounds_zero_point=True,
        cut=_cut_window,
        code=_c_of_mean_of_window,
    ),
    "QLinearGlobalAveragePool": Kind(
        function=onnx.qlinear_global_average_pool,
        prepared=onnx.QLinearGlobalAveragePool,
        is_own=True,
        rule="ort",
        inputs=_INPUTS._replace(real="GlobalAveragePool"),
        cut=_cut_image,
        code=_c_of_mean_of_image,
    ),
    "MaxPool": Kind(
        function=onnx.max_pool,
        prepared=onnx.MaxPool,
        rule="exact",
        real=_real_max_pool,
        cut=_cut_window,
        code=_c_of_largest,
        least=1,
        shape=shape_of_windows,
        crosses_pairs=True,
    ),
    "AveragePool": Kind(real=_real_average_pool, cut=_cut_window, code=c_of_codes, least=1, shape=shape_of_windows),
    "GlobalAveragePool": Kind(
        real=_real_over_space(np.mean),
        cut=_cut_image,
        code=c_of_codes,
        least=1,
        shape=lambda node, x: (*x[:2], *(1 for _ in x[2:])),
    ),
    "GlobalMaxPool": Kind(real=_real_over_space(np.max), code=c_of_codes),
}

"""Sums of products: convolutions and products of matrices, of codes and of floats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from qops import onnx
from qops.models.code.sums import c_of_sums
from qops.models.cut import Index, needed, sized
from qops.models.graph import Graph
from qops.models.onnx.code import c_of_codes
from qops.models.onnx.cut import Cut, given_at, of_channel, zero_at
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import bounded
from qops.models.onnx.windows import grid_of
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.onnx.pool_window import taps
from qops.onnx.window import Moves

__all__ = ["KINDS"]


Given = Sequence[Any]
F32 = np.float32
_WINDOW = {"auto_pad": "NOTSET", "dilations": None, "group": 1, "kernel_shape": None, "pads": None, "strides": None}
"""The attributes of a convolution, and what they are when they are left out."""


def conv(node: Node, x: Values, w: Values) -> Values:
    """Give the sums of products of a convolution, exactly if they are integers that double holds.

    Parameters
    ----------
    node : Node
        Conv, or a node with its attributes.
    x, w : ndarray of float64
        (N, C, ...) and (M, C / group, ...).

    Returns
    -------
    ndarray of float64, (N, M, ...)

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    group, axes = node.get("group", 1), grid_of(node, x, w.shape[2:])
    if w.ndim != x.ndim or group < 1 or len(w) % group or x.shape[1] != w.shape[1] * group:
        raise ValueError(f"weights of shape {w.shape}, group {group}, do not fit {x.shape}")
    made = np.zeros((len(x), len(w), *bounded([axis.positions for axis in axes])))
    parts, each = np.split(x, group, 1), len(w) // group
    for (of_result, of_image), tap in zip(taps(axes), np.ndindex(w.shape[2:]), strict=True):
        for g, part in enumerate(parts):
            factors = w[(slice(g * each, (g + 1) * each), slice(None), *tap)]
            found = np.moveaxis(np.tensordot(factors, part[of_image], (1, 1)), 0, 1)
            made[:, g * each : (g + 1) * each][of_result] += found
    return made


def _real_conv(node: Node, given: Given) -> Values:
    x, w, bias = (*given, None)[:3]
    made = conv(node, x, w)
    return made if bias is None else made + bias.reshape(-1, *[1] * (x.ndim - 2))


def _real_conv_transpose(node: Node, given: Given) -> Values:
    """Each pixel of the image adds its product with the filter to a part of the result."""
    x, w, bias = (*given, None)[:3]
    group, rank = node.get("group", 1), x.ndim - 2
    if node.get("auto_pad", "NOTSET") != "NOTSET" or node.get("output_shape"):
        raise ValueError("ConvTranspose with auto_pad or output_shape is not read")
    strides, dilations = node.get("strides") or [1] * rank, node.get("dilations") or [1] * rank
    pads, more = node.get("pads") or [0] * 2 * rank, node.get("output_padding") or [0] * rank
    if min([0, *pads, *more]) < 0 or min([1, *strides, *dilations]) < 1 or len(x.shape) != len(w.shape):
        raise ValueError("its attributes do not fit")
    each = zip(x.shape[2:], w.shape[2:], strides, dilations, more, strict=True)
    full = [(n - 1) * s + (k - 1) * d + 1 + m for n, k, s, d, m in each]
    made = np.zeros(bounded([len(x), w.shape[1] * group, *full]))
    outs = w.shape[1]
    for g, (part, factors) in enumerate(zip(np.split(x, group, 1), np.split(w, group, 0), strict=True)):
        for tap in np.ndindex(w.shape[2:]):
            found = np.moveaxis(np.tensordot(factors[(..., *tap)], part, (0, 1)), 0, 1)
            first = [t * d for t, d in zip(tap, dilations, strict=True)]
            where = [slice(f, f + (n - 1) * s + 1, s) for f, n, s in zip(first, x.shape[2:], strides, strict=True)]
            made[(slice(None), slice(g * outs, (g + 1) * outs), *where)] += found
    ends = [n - pads[rank + i] for i, n in enumerate(full)]
    inside: Any = (..., *(slice(pads[i], end) for i, end in enumerate(ends)))
    made = made[inside]
    return made if bias is None else made + bias.reshape(-1, *[1] * rank)


def matmul(a: Values, b: Values) -> Values:
    """Give a product of matrices, if the size of the result is `bounded`.

    Parameters
    ----------
    a, b : ndarray of float64

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    bounded([*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *a.shape[-2:-1], *b.shape[-1:]])
    return np.asarray(np.matmul(a, b))


def gemm(node: Node, a: Values, b: Values) -> Values:
    """Give the product of Gemm without its bias.

    Parameters
    ----------
    node : Node
        Gemm, or a node with its attributes.
    a, b : ndarray of float64
        Matrices.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    return matmul(a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b)


def _real_gemm(node: Node, given: Given) -> Values:
    a, b, bias = (*given, None)[:3]
    made = gemm(node, a, b) * node.get("alpha", 1.0)
    return made if bias is None else made + bias * node.get("beta", 1.0)


def _real_matmul(node: Node, given: Given) -> Values:
    return matmul(given[0], given[1])


def _matmul_sums(node: Node, a: Values, b: Values) -> Values:
    return matmul(a, b)


def _cut_convolution(spec: Spec, node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One filter on what is under it, without padding."""
    of_x, of_w = spec.of
    x, w, o = data[of_x.tensor], data[of_w.tensor], index[1]
    if node.get("channels_last"):
        return None
    moves = Moves.of(w, {name: node.get(name, otherwise) for name, otherwise in _WINDOW.items()})
    zeros = zero_at(given_at(data, of_x.zero_point)), zero_at(given_at(data, of_w.zero_point), o)
    each = w.shape[1]
    first = o // (len(w) // moves.group) * each
    seen = x[index[0], first : first + each]
    for axis, (at, along) in enumerate(zip(index[2:], moves.axes(x.shape[2:]), strict=True), 1):
        kernel, stride, dilation, before = along[:4]
        taps = at * stride - before + np.arange(kernel) * dilation
        inside = (taps >= 0) & (taps < seen.shape[axis])
        taken = np.take(seen, np.clip(taps, 0, seen.shape[axis] - 1), axis)
        shape = [-1 if i == axis else 1 for i in range(taken.ndim)]
        seen = np.where(inside.reshape(shape), taken, np.asarray(zeros[0], x.dtype))
    kept = needed(seen, zeros[0], w[o], zeros[1])
    few, filters = seen[kept][None], w[o][kept][None]
    inputs = {of_x.tensor: few, of_w.tensor: filters} | of_channel(data, spec.channels, o)
    return Cut({}, inputs, (1,) * x.ndim, sized("output channel at one place", x.shape[1:], few.shape[1:]))


def _cut_product(spec: Spec, node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One row on one column."""
    of_a, of_b = spec.of
    a, b, o = data[of_a.tensor], data[of_b.tensor], index[-1]
    attributes, transposed = dict(node.attributes), bool(node.get("transB", 0))
    a_zero = given_at(data, of_a.zero_point)
    if b is None or b.ndim != 2 or a.ndim < 2 or (a_zero is not None and a_zero.size > 1):
        return None
    row = a[:, index[0]] if node.get("transA", 0) else a[index[:-1]]
    column = b[o] if transposed else b[:, o]
    (kept,) = needed(row, zero_at(a_zero), column, zero_at(given_at(data, of_b.zero_point), o))
    some, few = column[kept], row[kept]
    inputs = {
        of_a.tensor: few[:, None] if node.get("transA", 0) else few[None],
        of_b.tensor: some[None] if transposed else some[:, None],
    } | of_channel(data, spec.channels, o)
    bias = None if spec.bias is None else given_at(data, spec.bias)
    if spec.bias is not None and bias is not None:
        if bias.size > 1 and bias.size != b.shape[0 if transposed else 1]:
            return None  # a bias for each element
        inputs[spec.bias] = bias.reshape(-1)[min(o, bias.size - 1)].reshape(1)
    return Cut(attributes, inputs, (1, 1), sized("output of one row", row.shape, few.shape))


def _c_of_integers(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Sums of products that stay int32 or become float32; DynamicQuantizeMatMul has the scale of its data first."""
    own, n = op.prepared, made.name
    if own is None:
        return None
    data, weights = ("x", "w") if op.kind == "ConvInteger" else ("a", "b")
    zeros = {"kernel_zero_point": _flat(getattr(own, f"{weights}_zero_point")), "weights": own.weights}
    rules, arguments, more = [], ["sum", "channel"], ""
    if op.kind == "DynamicQuantizeMatMul":
        rules, arguments, more = ["dynamic"], ["sum", "channel", "scale"], ", float scale"
    else:
        zeros["input_zero_point"] = _flat(getattr(own, f"{data}_zero_point"))
    if op.kind in ("MatMulInteger", "ConvInteger"):
        code = function(n, "int64_t sum", ["    return (int32_t)sum;"])
        return made._replace(constants=zeros, code=code, arguments=("sum",))
    zeros["scale"] = _flat(own.factor)
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


def _c_of_layer_or_integers(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    return c_of_sums(made, op, graph, target) or _c_of_integers(made, op, graph, target)


def _flat(values: Any) -> Any:
    """Give one number as it is, and more of them flat."""
    found = np.asarray(values)
    return found.reshape(-1)[0] if found.size == 1 else found.reshape(-1)


_X, _QUARTER = QuantizedInput(0, 1, 2), (3, 4, 5)
_CONV = Spec((_X, QuantizedInput(*_QUARTER, 0)), (6, 7), "Conv", 8)
_MATMUL = Spec((_X, QuantizedInput(*_QUARTER, -1)), (6, 7), "MatMul")
_GEMM = Spec((_X, QuantizedInput(*_QUARTER, -1)), (7, 8), "Gemm", 6)
_INTEGERS = Spec((QuantizedInput(0, None, 2), QuantizedInput(1, None, 3)))
_TO_FLOAT = Spec((QuantizedInput(0, 2, 4), QuantizedInput(1, 3, 5, -1)), None, "MatMul", addend=6)
KINDS = {
    "QLinearConv": Kind(
        function=onnx.qlinear_conv,
        prepared=onnx.QLinearConv,
        count=9,
        attributes=tuple(_WINDOW),
        has_runtime=True,
        inputs=_CONV,
        sums=conv,
        cut=partial(_cut_convolution, _CONV),
        code=c_of_sums,
    ),
    "ConvInteger": Kind(
        function=onnx.conv_integer,
        prepared=onnx.ConvInteger,
        count=4,
        attributes=tuple(_WINDOW),
        has_runtime=True,
        rule="exact",
        inputs=_INTEGERS,
        cut=partial(_cut_convolution, _INTEGERS),
        code=_c_of_integers,
        result="int32",
    ),
    "QLinearMatMul": Kind(
        function=onnx.qlinear_matmul,
        prepared=onnx.QLinearMatMul,
        count=8,
        has_runtime=True,
        inputs=_MATMUL,
        sums=_matmul_sums,
        cut=partial(_cut_product, _MATMUL),
        code=c_of_sums,
    ),
    "MatMulInteger": Kind(
        function=onnx.matmul_integer,
        prepared=onnx.MatMulInteger,
        count=4,
        has_runtime=True,
        rule="exact",
        inputs=_INTEGERS,
        cut=partial(_cut_product, _INTEGERS),
        code=_c_of_integers,
        result="int32",
    ),
    "QGemm": Kind(
        function=onnx.qgemm,
        prepared=onnx.QGemm,
        count=9,
        attributes=("alpha", "transA", "transB"),
        is_own=True,
        has_runtime=True,
        rule="ort",
        inputs=_GEMM,
        sums=gemm,
        cut=partial(_cut_product, _GEMM),
        code=_c_of_layer_or_integers,
    ),
    "MatMulIntegerToFloat": Kind(
        function=onnx.matmul_integer_to_float,
        prepared=onnx.MatMulIntegerToFloat,
        count=7,
        is_own=True,
        has_runtime=True,
        rule="ort",
        inputs=_TO_FLOAT,
        cut=partial(_cut_product, _TO_FLOAT),
        code=_c_of_integers,
        result="float32",
    ),
    "DynamicQuantizeMatMul": Kind(
        function=onnx.dynamic_quantize_matmul,
        prepared=onnx.DynamicQuantizeMatMul,
        count=5,
        is_own=True,
        has_runtime=True,
        rule="ort",
        inputs=Spec((QuantizedInput(1, 2, 3, -1),)),
        code=_c_of_integers,
        result="float32",
    ),
    "Conv": Kind(real=_real_conv, code=c_of_codes, least=2),
    "ConvTranspose": Kind(real=_real_conv_transpose, code=c_of_codes),
    "MatMul": Kind(real=_real_matmul, code=c_of_codes, least=2),
    "Gemm": Kind(real=_real_gemm, code=c_of_codes, least=2),
}

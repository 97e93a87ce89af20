"""One node of an .onnx file as a model of its own: whole, or cut down to what makes one element of its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.op import Alone
from qops.models.tensor import Tensor
from qops.onnx.pool_window import PoolWindow
from qops.onnx.qlinear_softmax import ONE_AXIS
from qops.onnx.window import ConvolutionWindow

__all__ = ["alone"]

Index = tuple[int, ...]
_IR_VERSION = 9
_OWN = "com.microsoft"
_WINDOW = {"auto_pad": "NOTSET", "dilations": None, "group": 1, "kernel_shape": None, "pads": None, "strides": None}
"""The attributes of a convolution, and what they are when they are left out."""


class Cut(NamedTuple):
    """A smaller node: attributes, the inputs that differ from the node's, shape, words, where the element is."""

    attributes: dict[str, Any]
    inputs: dict[int, NDArray[Any]]
    shape: Index
    how: str
    place: Index = ()


def alone(
    node: Node,
    tensors: Mapping[str, Tensor],
    reads: Sequence[str],
    inputs: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
    index: Index | None = None,
) -> Alone | None:
    """Give a model of one node.

    Parameters
    ----------
    node : Node
        As the file has it.
    tensors : dict of str to Tensor
        What it reads and writes.
    reads : sequence of str
        The names of a call's arguments.
    inputs, outputs : sequence of ndarray
        What a call takes and gives.
    index : tuple of int, optional
        An element of the first output: the model is then cut down to what makes it.

    Returns
    -------
    Alone or None
        None if no smaller node makes this element, or a file cannot hold the node.
    """
    given = dict(zip(reads, inputs, strict=True))
    data = [given.get(name, tensors[name].data) if name else None for name in node.inputs]
    if any(t.dtype in ("int4", "uint4") for t in tensors.values()) or node.get("as_uint8"):
        return None
    if index is None:
        return _model(node, reads, data, dict(node.attributes), [y.shape for y in outputs], outputs, "", ())
    cut = _CUTS[node.kind](node, data, index) if node.kind in _CUTS else None
    if cut is None:
        return None
    data = [cut.inputs.get(i, x) for i, x in enumerate(data)]
    return _model(node, reads, data, cut.attributes, [cut.shape], outputs, cut.how, cut.place or (0,) * len(cut.shape))


def _model(
    node: Node,
    reads: Sequence[str],
    data: Sequence[NDArray[Any] | None],
    attributes: dict[str, Any],
    shapes: Sequence[Index],
    outputs: Sequence[NDArray[Any]],
    how: str,
    place: Index,
) -> Alone:
    """Give a model; what is no input of it is a constant."""
    arrays = {name: x for name, x in zip(node.inputs, data, strict=True) if name and x is not None}
    file = partial(_bytes, node, reads, arrays, list(zip(outputs, shapes, strict=True)), attributes)
    return Alone(file, ".onnx", {name: arrays[name] for name in reads}, place, how)


def _bytes(
    node: Node, reads: Sequence[str], arrays: Mapping[str, NDArray[Any]], results: Any, attributes: Mapping[str, Any]
) -> bytes:
    from onnx import helper, numpy_helper

    def end(name: str, x: NDArray[Any], shape: Index) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(x.dtype), shape)

    named = zip((name for name in node.outputs if name), results, strict=True)
    graph = helper.make_graph(
        [helper.make_node(node.kind, node.inputs, node.outputs, node.name, domain=node.domain, **attributes)],
        "alone",
        [end(name, arrays[name], arrays[name].shape) for name in reads],
        [end(name, y, shape) for name, (y, shape) in named],
        [numpy_helper.from_array(x, name) for name, x in arrays.items() if name not in reads],
    )
    versions = {"": 21, _OWN: 1} | {node.domain: node.opset}
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
    return made


def _zero(zero: NDArray[Any] | None, o: int = 0) -> int:
    """Give the zero point of a channel, where each channel has its own."""
    return 0 if zero is None else int(zero.flat[o if zero.size > 1 else 0])


def _needed(x: NDArray[Any], x_zero: int, w: NDArray[Any], w_zero: int) -> tuple[NDArray[np.intp], ...]:
    """Give, of each axis, the places at which not all products are 0; one at least."""
    counts = (x != x_zero) & (w != w_zero)
    found = []
    for axis in range(x.ndim):
        some = np.flatnonzero(counts.any(tuple(i for i in range(x.ndim) if i != axis)))
        found.append(some if some.size else np.array([0]))
    return np.ix_(*found)


def _sized(what: str, before: Index, after: Index) -> str:
    had, has = (" x ".join(map(str, shape)) for shape in (before, after))
    return f"one {what}: of {had} inputs those {has} remain whose products with the weights are not all 0"


def _channel(data: Sequence[Any], places: Sequence[int], o: int) -> dict[int, NDArray[Any]]:
    """Give the numbers of one channel, where each channel has its own."""
    found = {i: data[i] for i in places if i < len(data) and data[i] is not None}
    return {i: x.reshape(-1)[o : o + 1] for i, x in found.items() if x.size > 1}


class _Places(NamedTuple):
    """Where a layer of sums has its inputs: the zero point of data, weights and theirs, numbers of channels, bias."""

    x_zero: int
    w: int
    w_zero: int
    channels: tuple[int, ...]
    bias: int = -1


_QLINEAR = _Places(2, 3, 5, (4, 5))
_LAYERS = {
    "QLinearConv": _QLINEAR._replace(channels=(4, 5, 8)),
    "ConvInteger": _Places(2, 1, 3, (3,)),
    "QLinearMatMul": _QLINEAR,
    "QGemm": _QLINEAR._replace(bias=6),
    "MatMulInteger": _Places(2, 1, 3, (3,)),
    "MatMulIntegerToFloat": _Places(4, 1, 5, (3, 5, 6)),
}


def _at(data: Sequence[Any], place: int) -> Any:
    return data[place] if place < len(data) else None


def _convolution(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One filter on what is under it, without padding."""
    places = _LAYERS[node.kind]
    x, w, o = data[0], data[places.w], index[1]
    if node.get("channels_last"):
        return None
    moves = ConvolutionWindow.of(w, {name: node.get(name, otherwise) for name, otherwise in _WINDOW.items()})
    zeros = _zero(_at(data, places.x_zero)), _zero(_at(data, places.w_zero), o)
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
    kept = _needed(seen, zeros[0], w[o], zeros[1])
    few, filters = seen[kept][None], w[o][kept][None]
    inputs = {0: few, places.w: filters} | _channel(data, places.channels, o)
    return Cut({}, inputs, (1,) * x.ndim, _sized("output channel at one place", x.shape[1:], few.shape[1:]))


def _product(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One row on one column."""
    places = _LAYERS[node.kind]
    a, b, o = data[0], data[places.w], index[-1]
    attributes, transposed = dict(node.attributes), bool(node.get("transB", 0))
    a_zero = _at(data, places.x_zero)
    if b is None or b.ndim != 2 or a.ndim < 2 or (a_zero is not None and a_zero.size > 1):
        return None
    row = a[:, index[0]] if node.get("transA", 0) else a[index[:-1]]
    column = b[o] if transposed else b[:, o]
    (kept,) = _needed(row, _zero(a_zero), column, _zero(_at(data, places.w_zero), o))
    some, few = column[kept], row[kept]
    inputs = {
        0: few[:, None] if node.get("transA", 0) else few[None],
        places.w: some[None] if transposed else some[:, None],
    } | _channel(data, places.channels, o)
    bias = _at(data, places.bias) if places.bias > 0 else None
    if bias is not None:
        if bias.size > 1 and bias.size != b.shape[0 if transposed else 1]:
            return None  # a bias for each element
        inputs[places.bias] = bias.reshape(-1)[min(o, bias.size - 1)].reshape(1)
    return Cut(attributes, inputs, (1, 1), _sized("output of one row", row.shape, few.shape))


def _binary(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One element of each operand."""
    shape = np.broadcast_shapes(data[0].shape, data[3].shape)
    inputs = {i: np.broadcast_to(data[i], shape)[index].reshape(1) for i in (0, 3)}
    return Cut(dict(node.attributes), inputs, (1,), "one element")


def _one_code(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One element, by one scale."""
    if any(x is not None and x.size > 1 for x in data[1:]):
        return None
    return Cut(dict(node.attributes), {0: data[0][index].reshape(1)}, (1,), "one element")


def _floats(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One element of each operand."""
    shape = np.broadcast_shapes(*(x.shape for x in data if x is not None))
    few = {i: np.broadcast_to(x, shape)[index].reshape(1) for i, x in enumerate(data) if x is not None}
    return Cut(dict(node.attributes), few, (1,), "one element")


def _whole_image(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """One channel of one image."""
    last = bool(node.get("channels_last", 0))
    one = np.moveaxis(data[0], -1, 1)[index[0], index[-1]] if last else data[0][index[0], index[1]]
    few = one[None, ..., None] if last else one[None, None]
    return Cut(dict(node.attributes), {0: few}, (1,) * data[0].ndim, f"one channel of one image, {one.size} codes")


def _window(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """The codes of one window that are inside of the image; where padding counts, the node stays whole."""
    if node.get("channels_last", 0) or node.get("count_include_pad", 0):
        return None
    x = data[0]
    names = ("kernel_shape", "strides", "dilations", "pads", "auto_pad")
    axes = PoolWindow.of({name: node.get(name) for name in names if node.get(name) is not None})
    if set(node.get("dilations") or [1]) != {1} or node.get("ceil_mode", 0):
        return None
    few = x[index[0], index[1]]
    for axis, (at, along) in enumerate(zip(index[2:], axes.axes(x.shape[2:], "X"), strict=True)):
        start = at * along.stride - along.before
        few = few.take(np.arange(max(start, 0), min(start + along.kernel, few.shape[axis])), axis)
    how = f"one channel of one window, {few.size} codes"
    return Cut({"kernel_shape": list(few.shape)}, {0: few[None, None]}, (1,) * x.ndim, how)


def _row(node: Node, data: Sequence[Any], index: Index) -> Cut | None:
    """Cut out what shares the sum of a softmax: one axis; before version 13, that axis and all behind it."""
    x, is_of_one = data[0], node.get("opset", ONE_AXIS) >= ONE_AXIS
    axis = node.get("axis", -1 if is_of_one else 1) % x.ndim
    if is_of_one:
        row, at = np.moveaxis(x, axis, -1)[(*index[:axis], *index[axis + 1 :])], index[axis]
    else:
        row, at = x[index[:axis]].reshape(-1), int(np.ravel_multi_index(index[axis:], x.shape[axis:]))
    how = f"one row of {row.size} codes"
    return Cut({**node.attributes, "axis": 1}, {0: row[None]}, (1, row.size), how, (0, at))


_CUTS: dict[str, Callable[[Node, Sequence[Any], Index], Cut | None]] = {
    **dict.fromkeys(("QLinearConv", "ConvInteger"), _convolution),
    **dict.fromkeys(("QLinearMatMul", "QGemm", "MatMulInteger", "MatMulIntegerToFloat"), _product),
    **dict.fromkeys(("QLinearAdd", "QLinearMul"), _binary),
    **dict.fromkeys(("QLinearSigmoid", "QLinearLeakyRelu", "QuantizeLinear", "DequantizeLinear"), _one_code),
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Relu", "Clip", "Sigmoid", "LeakyRelu", "Tanh"), _floats),
    **dict.fromkeys(("QLinearGlobalAveragePool", "GlobalAveragePool"), _whole_image),
    **dict.fromkeys(("QLinearAveragePool", "MaxPool", "AveragePool"), _window),
    "QLinearSoftmax": _row,
}
"""How a node is cut down to one element; others are not."""

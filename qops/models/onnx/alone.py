"""One node of an .onnx file as a model of its own: whole, or cut down to what makes one element of its result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.onnx.file import Node
from qops.models.onnx.kinds import OWN_DOMAIN, kind_of
from qops.models.op import Alone
from qops.models.tensor import Tensor

__all__ = ["alone"]

_IR_VERSION = 9


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
    row = kind_of(node)
    cut = None if row.cut is None else row.cut(node, data, index)
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
    versions = {"": 21, OWN_DOMAIN: 1} | {node.domain: node.opset}
    opsets = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION).SerializeToString()
    return made

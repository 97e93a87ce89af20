"""Nodes that change nothing, which onnxruntime leaves out before it looks for fusions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.inputs import constant
from qops.models.onnx.net import Net
from qops.models.tensor import Tensor

__all__ = ["without_empty_pairs", "without_identities"]

_LAST = 2**63 - 1
"""The end of a Slice that goes to the end of its axis."""


def without_identities(nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str]) -> list[Node]:
    """Leave out each Identity and each Slice of everything, but for those that give an output of the graph.

    One that nobody reads stays as well: to onnxruntime it is another reader of what is before it.

    Parameters
    ----------
    nodes : sequence of Node
        In the order in which they run.
    tensors : dict of str to Tensor
        Constants.
    outputs : sequence of str
        Names of the graph's outputs.

    Returns
    -------
    list of Node
    """
    same: dict[str, str] = {}
    left, read = [], {name for node in nodes for name in node.inputs}
    for node in nodes:
        own = replace(node, inputs=tuple(same.get(name, name) for name in node.inputs))
        is_same = not node.domain and (node.kind == "Identity" or _takes_everything(node, tensors))
        if is_same and node.outputs[0] not in outputs and node.outputs[0] in read:
            same[node.outputs[0]] = own.inputs[0]
        else:
            left.append(own)
    return left


def _takes_everything(node: Node, tensors: dict[str, Tensor]) -> bool:
    """Whether a node is a Slice from 0 to the highest int64, in steps of 1; onnxruntime asks for no shape."""
    if node.kind != "Slice":
        return False
    starts, ends, axes, steps = (constant(tensors, node, place) for place in (1, 2, 3, 4))
    if starts is None or ends is None or not 0 < starts.size == ends.size:
        return False
    if any(len(node.inputs) > i and node.inputs[i] and x is None for i, x in ((3, axes), (4, steps))):
        return False
    is_forward = steps is None or bool((steps == 1).all())
    return is_forward and bool((starts == 0).all() and (ends.astype(np.int64) == _LAST).all())


def without_empty_pairs(nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str]) -> list[Node]:
    """Leave out a DequantizeLinear and the QuantizeLinear that alone reads it, if both have the same numbers.

    A zero point that is left out is 0. onnxruntime does so after it has repeated pairs beside moves, if one node reads
    the codes.

    Parameters
    ----------
    nodes : sequence of Node
        In the order in which they run.
    tensors : dict of str to Tensor
        Constants.
    outputs : sequence of str
        Names of the graph's outputs, which stay.

    Returns
    -------
    list of Node
    """
    net = Net(nodes, tensors, outputs)
    same: dict[str, str] = {}
    dropped: set[str] = set()
    for node in nodes:
        if node.kind != "DequantizeLinear":
            continue
        quantize = net.only_reader(node)
        if quantize is None or quantize.kind != "QuantizeLinear" or not _is_read_once(net, quantize):
            continue
        if _have_same_numbers(net, node, quantize):
            same[quantize.outputs[0]] = same.get(node.inputs[0], node.inputs[0])
            dropped |= {node.name, quantize.name}
    left = [node for node in nodes if node.name not in dropped]
    return [replace(node, inputs=tuple(same.get(name, name) for name in node.inputs)) for node in left]


def _is_read_once(net: Net, quantize: Node) -> bool:
    """Whether one node reads codes; onnxruntime repeats a DequantizeLinear for each of its readers."""
    reader = net.only_reader(quantize)
    return reader is not None and (reader.kind != "DequantizeLinear" or net.uses(reader.outputs[0]) <= 1)


def _have_same_numbers(net: Net, dequantize: Node, quantize: Node) -> bool:
    """Whether two nodes have one type of codes, one scale and one zero point, all constant."""
    dtype = net.type_of(quantize.outputs[0])
    if dtype is None or dtype != net.type_of(dequantize.inputs[0]):
        return False
    scale, other = net.constant(dequantize, 1), net.constant(quantize, 1)
    if scale is None or other is None or scale.size != 1 or other.size != 1 or scale.dtype != other.dtype:
        return False
    zeros = [net.zero_of(node) for node in (dequantize, quantize)]
    return scale.item() == other.item() and None not in zeros and zeros[0] == zeros[1]

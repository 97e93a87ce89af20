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

    One that nobody reads stays as well, unless it reads an output: to onnxruntime it is another reader of its data.

    For the arguments and results see `fused`.
    """
    same: dict[str, str] = {}
    left, read = [], {name for node in nodes for name in node.inputs}
    for node in nodes:
        own = replace(node, inputs=tuple(same.get(name, name) for name in node.inputs))
        is_same = not node.domain and (node.kind == "Identity" or _takes_everything(node, tensors))
        is_left_out = node.outputs[0] in read or own.inputs[0] in outputs
        if is_same and is_left_out and node.outputs[0] not in outputs:
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
    """Leave out a QuantizeLinear that reads a DequantizeLinear of the same numbers, whose codes it makes again.

    A zero point that is left out is 0. onnxruntime, where each reader has a DequantizeLinear of its own, leaves out
    both, after it has repeated pairs beside moves, if one node reads the codes.

    For the arguments and results see `fused`.
    """
    net = Net(nodes, tensors, outputs)
    same: dict[str, str] = {}
    left = []
    for node in nodes:
        own = replace(node, inputs=tuple(same.get(name, name) for name in node.inputs))
        before = net.writer.get(node.inputs[0]) if node.kind == "QuantizeLinear" else None
        is_again = before is not None and before.kind == "DequantizeLinear" and _is_read_once(net, node)
        if is_again and before is not None and _have_same_numbers(net, before, node):
            same[node.outputs[0]] = same.get(before.inputs[0], before.inputs[0])
        else:
            left.append(own)
    read = {name for node in left for name in node.inputs} | {*outputs}
    return [node for node in left if node.kind != "DequantizeLinear" or _is_needed(net, node, read)]


def _is_needed(net: Net, dequantize: Node, read: set[str]) -> bool:
    """Whether a DequantizeLinear is read, or was read by nobody before."""
    name = dequantize.outputs[0]
    return name in read or not net.readers[name]


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

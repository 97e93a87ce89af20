"""An .onnx file whose layers get other weights, other data or channels in another order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.kinds import NODES
from qops.models.lanes.prepared import MADE
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import Spec
from qops.models.onnx.kinds import ON_CODES, spec_of

__all__ = ["OnnxModel", "is_layer_of_codes", "places_of"]


def is_layer_of_codes(node: Any) -> bool:
    """Whether a node of a file sums up products of codes."""
    return node.op_type in NODES and NODES[node.op_type].prepared in MADE


def _is_layer_of_floats(node: Any) -> bool:
    """Whether a node of a file is a layer that reads its data and its weights by DequantizeLinear."""
    found = NODES.get(ON_CODES.get(node.op_type, ""))
    return found is not None and found.prepared in MADE


def places_of(node: Any) -> Spec | None:
    """Give where codes, scales and zero points stand among the inputs of a node of a file; None if it has none."""
    return spec_of(Node(node.op_type, "", node.name, tuple(node.input), tuple(node.output), {}, 1))


class OnnxModel:
    """A model that is changed.

    Parameters
    ----------
    path : Path
        The file, which stays as it is.
    """

    def __init__(self, path: Path) -> None:
        import onnx  # an extra

        self.onnx, self.model = onnx, onnx.load(str(path))
        self.graph = self.model.graph
        self.constants = {tensor.name: tensor for tensor in self.graph.initializer}
        self.readers: dict[str, list[Any]] = {}
        for graph in _graphs(self.graph):
            for node in graph.node:
                for name in node.input:
                    self.readers.setdefault(name, []).append(node)
        self.writer = {name: node for node in self.graph.node for name in node.output}

    def array(self, name: str) -> NDArray[Any]:
        """Give a constant; ValueError if the name is none."""
        if name not in self.constants:
            raise bad_value("path", f"{name!r} is no initializer of the file")
        found: NDArray[Any] = self.onnx.numpy_helper.to_array(self.constants[name])
        return found

    def constant(self, near: str, array: Any) -> str:
        """Add a constant with a name of its own, made of another one."""
        name = self._free(near)
        self.graph.initializer.append(self.onnx.numpy_helper.from_array(np.array(array, order="C"), name))
        self.constants[name] = self.graph.initializer[-1]
        return name

    def node(self, kind: str, inputs: list[str], near: str, before: Any, **attributes: Any) -> str:
        """Add a node before another one, and give the name of its result."""
        name = self._free(near)
        made = self.onnx.helper.make_node(kind, inputs, [name], name, **attributes)
        self.graph.node.insert(list(self.graph.node).index(before), made)
        found = next(node for node in self.graph.node if node.output and node.output[0] == name)
        self.writer[name] = found
        for one in inputs:
            self.readers.setdefault(one, []).append(found)
        return name

    def _free(self, near: str) -> str:
        taken = {*self.constants, *self.writer, *(one.name for one in self.graph.input)}
        number = 1
        while f"{near}_{number}" in taken:
            number += 1
        return f"{near}_{number}"

    def put(self, node: Any, place: int, name: str) -> None:
        """Let a node read another tensor."""
        node.input.extend([""] * (place + 1 - len(node.input)))
        node.input[place] = name

    def given(self, node: Any, place: int | None) -> str:
        """Give the name of an input, "" if it is left out."""
        return "" if place is None or place >= len(node.input) else str(node.input[place])

    def layer(self, weights: str) -> tuple[Any, Any]:
        """Give the node of a layer and the one that holds its weights, which are the same for nodes on codes."""
        if weights not in self.constants:
            raise bad_value("path", f"the weights {weights!r} are no initializer of the file")
        readers = self.readers.get(weights, [])
        if len(readers) == 1 and readers[0].op_type == "DequantizeLinear":
            holder = readers[0]
            readers = self.readers.get(holder.output[0], [])
            if len(readers) == 1 and _is_layer_of_floats(readers[0]):
                return readers[0], holder
        elif len(readers) == 1 and is_layer_of_codes(readers[0]):
            return readers[0], readers[0]
        said = ", ".join(f"{node.op_type} {node.name!r}" for node in readers)
        raise bad_value("path", f"the weights {weights!r} are read by more than one layer, or moved first: {said}")

    def attribute(self, node: Any, name: str, default: Any = None) -> Any:
        """Give an attribute of a node."""
        found = [self.onnx.helper.get_attribute_value(one) for one in node.attribute if one.name == name]
        return found[0] if found else default

    def axis_of_outputs(self, node: Any) -> int:
        """Which axis of the weights has the output channels."""
        is_conv = node.op_type.endswith(("Conv", "ConvInteger"))
        return 0 if is_conv or self.attribute(node, "transB", 0) else 1

    def data(self) -> bytes:
        """Give the bytes of the changed model, without constants that nobody reads any more."""
        read = {name for graph in _graphs(self.graph) for node in graph.node for name in node.input}
        read |= {one.name for one in self.graph.output}
        for tensor in [one for one in self.graph.initializer if one.name not in read]:
            self.graph.initializer.remove(tensor)
        inputs = [one for one in self.graph.input if one.name in self.constants and one.name not in read]
        for one in inputs:
            self.graph.input.remove(one)
        made: bytes = self.model.SerializeToString()
        return made


def _graphs(graph: Any) -> Iterator[Any]:
    """Give a graph, and the graphs inside of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _graphs(inner)

"""An .onnx file whose weights have the other type of 8 bits: the same real values, on exact lanes of onnxruntime."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from qops._kernels.arrays.refusal import bad_value

__all__ = ["retyped"]

_PLACES = {
    "DequantizeLinear": (0, 1, 2),
    "QLinearConv": (3, 4, 5),
    "QLinearMatMul": (3, 4, 5),
    "QGemm": (3, 4, 5),
    "MatMulInteger": (1, None, 3),
    "ConvInteger": (1, None, 3),
    "MatMulIntegerToFloat": (1, 3, 5),
    "DynamicQuantizeMatMul": (1, 2, 3),
}
"""Where weights, their scale and their zero point stand among the inputs of a node."""


def retyped(path: Path, names: Iterable[str]) -> bytes:
    """Give a model in which these weights have the other type, and a zero point that is moved by 128.

    Parameters
    ----------
    path : Path
        The file.
    names : iterable of str
        The initializers.

    Returns
    -------
    bytes

    Raises
    ------
    ValueError
        Weights that are no initializers, or that another operator reads too.
    """
    import onnx  # an extra

    model = onnx.load(str(path))
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    replaced: set[str] = set()
    for name in names:
        if name not in constants:
            raise bad_value("path", f"the weights {name!r} are no initializer of the file")
        codes = onnx.numpy_helper.to_array(constants[name])
        for node in model.graph.node:
            if name in node.input:
                replaced.add(_move(onnx, model, constants, node, name, codes.dtype))
        constants[name].CopyFrom(onnx.numpy_helper.from_array(_flipped(codes), name))
    read = {name for graph in _graphs(model.graph) for node in graph.node for name in node.input}
    for name in replaced - read - {""}:
        model.graph.initializer.remove(constants[name])
    made: bytes = model.SerializeToString()
    return made


def _flipped(codes: Any) -> Any:
    """Give codes of the other type, 128 more or less."""
    other = np.uint8 if codes.dtype == np.int8 else np.int8
    return (codes.view(np.uint8) ^ np.uint8(128)).view(other)


def _graphs(graph: Any) -> Iterator[Any]:
    """Give a graph, and the graphs inside of its nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                if inner.node:
                    yield from _graphs(inner)


def _move(onnx: Any, model: Any, constants: dict[str, Any], node: Any, name: str, dtype: Any) -> str:
    """Give a node a zero point of its own for weights that it reads; the name of the one that it had."""
    if node.op_type not in _PLACES or list(node.input).index(name) != _PLACES[node.op_type][0]:
        raise bad_value("path", f"{node.op_type} {node.name!r} reads the weights {name!r} too")
    _, scale, zero = _PLACES[node.op_type]
    given = node.input[zero] if zero < len(node.input) else ""
    if given and given not in constants:
        raise bad_value("path", f"the zero point {given!r} is no initializer of the file")
    if given:
        old = onnx.numpy_helper.to_array(constants[given])
    else:
        like = onnx.numpy_helper.to_array(constants[node.input[scale]]) if scale is not None else np.float32(1)
        old = np.zeros(np.shape(like), dtype)
    own = f"{name}_zero_point_of_{len(model.graph.initializer)}"
    model.graph.initializer.append(onnx.numpy_helper.from_array(_flipped(np.asarray(old)), own))
    node.input.extend([""] * (zero + 1 - len(node.input)))
    node.input[zero] = own
    return str(given)

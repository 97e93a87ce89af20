"""Makes a graph of the nodes of an .onnx file: what depends on constants alone is computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.graph import Graph, Op, Tensor
from qops.models.onnx_file import Node, read_onnx
from qops.models.onnx_fuse import fused
from qops.models.onnx_ops import op_of, results_of, with_scales_of
from qops.models.tflite_site import Missing

__all__ = ["RUNTIMES", "graph_of"]

RUNTIMES = ("onnx", "ort")
_FOLDED = (
    *("DequantizeLinear", "QuantizeLinear", "Cast", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten"),
    *("Identity", "Slice", "Concat"),
)
"""What is computed when the file is read if it depends on constants alone: operators whose results are not larger."""
_SPARE = 2**24
"""Bytes that constants may take beside a multiple of the file's own."""
_TIMES = 64
"""How many times its own size a file may make the reader keep."""


class _Budget:
    """A file of few bytes may describe a great deal of work; what is kept of it is counted."""

    def __init__(self, size: int) -> None:
        self._left = _SPARE + _TIMES * size

    def has(self, count: int) -> bool:
        """Whether so many bytes are left; they are taken."""
        self._left -= count
        return self._left >= 0


def graph_of(path: Path, runtime: str) -> Graph:
    """Read an .onnx file into a graph.

    Parameters
    ----------
    path : Path
    runtime : {"onnx", "ort"}
        Whose bits.

    Returns
    -------
    Graph

    Raises
    ------
    ModuleNotFoundError
        The package ``onnx`` is not installed.
    ValueError
        A damaged file; operators that qops does not have, each named with its place.
    OSError
        A file that cannot be opened.
    """
    file = read_onnx(path)
    tensors = dict(file.tensors)
    nodes = _without_constants(file.nodes, tensors)
    words: tuple[str, ...] = ()
    try:
        if runtime == "ort":
            nodes, words = fused(nodes, tensors, file.outputs)
        with_scales_of(nodes, tensors)
        ops = tuple(_ops(nodes, tensors, runtime, _Budget(file.size)))
    except ValueError as why:
        raise ValueError(f"{path.name}: {why}") from None
    used = {*file.inputs, *file.outputs, *(name for op in ops for name in (*op.inputs, *op.outputs))}
    for name in file.outputs:
        if name not in tensors:
            raise ValueError(f"{path.name}: nothing writes the output {name!r}")
    kept = {name: tensor for name, tensor in tensors.items() if name in used}
    return Graph(path.name, file.inputs, file.outputs, kept, ops, runtime, words)


def _without_constants(nodes: Iterable[Node], tensors: dict[str, Tensor]) -> list[Node]:
    """Take what Constant nodes hold to the tensors."""
    left = []
    for node in nodes:
        value = _value(node) if node.kind == "Constant" and not node.domain else None
        if value is None or not node.outputs:
            left.append(node)
        else:
            tensors[node.outputs[0]] = Tensor(node.outputs[0], value.shape, value.dtype.name, data=value)
    return left


def _value(node: Node) -> NDArray[Any] | None:
    kinds = {"value_float": "float32", "value_floats": "float32", "value_int": "int64", "value_ints": "int64"}
    for name, dtype in kinds.items():
        if name in node.attributes:
            return np.array(node.attributes[name], dtype)
    found: NDArray[Any] | None = node.get("value")
    return found


def _ops(nodes: Iterable[Node], tensors: dict[str, Tensor], runtime: str, budget: _Budget) -> Iterable[Op]:
    ops, missing = [], []
    for i, node in enumerate(nodes):
        for tensor in results_of(node, tensors):
            tensors[tensor.name] = tensor
        weights = [t.data for name in node.inputs if name and (t := tensors[name]).data is not None]
        if not budget.has(sum(data.nbytes for data in weights if data is not None)):
            raise ValueError(f"node {i}, {node.kind} ({node.name}): the nodes read far more than the file holds")
        try:
            op = op_of(node, tensors, runtime)
        except Missing as why:
            missing.append(f"node {i}, {node.kind} ({node.name}): {why}")
            continue
        if not op.reads and node.kind in _FOLDED and budget.has(4 * sum(d.nbytes for d in weights if d is not None)):
            try:
                made = op.call()
            except (ValueError, TypeError, IndexError, OverflowError) as why:
                raise ValueError(f"node {i}, {node.kind} ({node.name}): {why}") from None
            for name, data in zip(op.outputs, made, strict=True):
                tensors[name] = replace(tensors[name], data=data, shape=data.shape)
        else:
            ops.append(op)
    if missing:
        shown = missing[:20] + ([f"and {len(missing) - 20} more"] if len(missing) > 20 else [])
        raise ValueError(f"{len(missing)} operators cannot be read:\n  " + "\n  ".join(shown))
    return ops

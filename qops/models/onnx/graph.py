"""Makes a graph of the nodes of an .onnx file: what depends on constants alone is computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.graph import Graph
from qops.models.onnx.file import Node, read_onnx
from qops.models.onnx.fuse import fused
from qops.models.onnx.kinds import OWN_DOMAIN, kind_of
from qops.models.onnx.ops import op_of, with_scales_of
from qops.models.onnx.types import results_of
from qops.models.op import Missing, Op, gap, unread
from qops.models.tensor import Tensor
from qops.onnx.runtimes import COLUMNS

__all__ = ["load_onnx"]

_SPARE = 2**24
"""Bytes that constants may take beside a multiple of the file's own."""
_LARGER = 4
"""How many times larger than its inputs a result is at most, which may be float32 of codes."""
_TIMES = 16
"""How many times its own size a file may make the reader keep."""


class _Budget:
    """A file of few bytes may describe a great deal of work; what is kept of it is counted."""

    def __init__(self, size: int) -> None:
        self._left = _SPARE + _TIMES * size

    def has(self, count: int) -> bool:
        """Whether so many bytes are left; if they are, they are taken."""
        if count > self._left:
            return False
        self._left -= count
        return True


def load_onnx(path: Path, runtime: str, gaps: bool) -> Graph:
    """Read an .onnx file into a graph.

    Parameters
    ----------
    path : Path
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The runtime whose bits the graph gives.
    gaps : bool
        Whether operators that qops does not have stand in the graph as gaps.

    Returns
    -------
    Graph

    Raises
    ------
    ModuleNotFoundError
        The package ``onnx`` is not installed.
    ValueError
        A damaged file; operators that qops does not have, each named with its place, unless `gaps`.
    OSError
        A file that cannot be opened.
    """
    file = read_onnx(path)
    tensors = dict(file.tensors)
    nodes = _without_constants(file.nodes, tensors)
    words: tuple[str, ...] = ()
    try:  # attributes may be of other types than they should have
        _check(nodes)
        if COLUMNS[runtime].is_ort:
            nodes, words = fused(nodes, tensors, file.outputs, _Budget(file.size).has, COLUMNS[runtime])
        with_scales_of(nodes, tensors)
        ops = tuple(_ops(nodes, tensors, runtime, file.size, gaps))
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, OverflowError, MemoryError) as why:
        raise ValueError(f"{path.name}: {str(why) or 'too large'}") from None
    used = {*file.inputs, *file.outputs, *(name for op in ops for name in (*op.inputs, *op.outputs))}
    for name in file.outputs:
        if name not in tensors:
            raise ValueError(f"{path.name}: nothing writes the output {name!r}")
    kept = {name: tensor for name, tensor in tensors.items() if name in used}
    return Graph(path.name, file.inputs, file.outputs, kept, ops, runtime, words)


def _check(nodes: Iterable[Node]) -> None:
    """Refuse nodes of known kinds that lack an input which they all have, and nodes without a result."""
    for i, node in enumerate(nodes):
        wanted = kind_of(node).least if node.domain in ("", OWN_DOMAIN) else 0
        has_result = any(node.outputs[:1] if wanted else node.outputs)
        if len(node.inputs) < wanted or not all(node.inputs[:wanted]) or not has_result:
            what = f"{len(node.inputs)} inputs, {len(node.outputs)} results"
            raise ValueError(f"node {i}, {node.kind} ({node.name}) has {what}, which are too few")


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


def _ops(nodes: Iterable[Node], tensors: dict[str, Tensor], runtime: str, size: int, gaps: bool) -> Iterable[Op]:
    ops: list[Op] = []
    missing, packed, folded = [], _Budget(size), _Budget(size)
    for i, node in enumerate(nodes):
        for tensor in results_of(node, tensors):
            tensors[tensor.name] = tensor
        held = sum(t.data.nbytes for name in node.inputs if name and (t := tensors[name]).data is not None)
        if kind_of(node).function is not None and not packed.has(held):
            raise ValueError(f"node {i}, {node.kind} ({node.name}): the nodes pack far more than the file holds")
        try:
            op = op_of(node, tensors, runtime)
        except Missing as why:
            missing.append(f"node {i}, {node.kind} ({node.name}): {why}")
            ops.append(_gap_of(node, tensors, str(why)))
            continue
        if not op.reads and kind_of(node).folds and folded.has(_LARGER * held):
            try:
                made = op.call()
            except (ValueError, TypeError, IndexError, OverflowError) as why:
                raise ValueError(f"node {i}, {node.kind} ({node.name}): {why}") from None
            for name, data in zip(op.outputs, made, strict=True):
                tensors[name] = replace(tensors[name], data=data, shape=data.shape)
        else:
            ops.append(op)
    if missing and not gaps:
        raise ValueError(unread(missing))
    return ops


def _gap_of(node: Node, tensors: dict[str, Tensor], why: str) -> Op:
    inputs, outputs = (tuple(name for name in part if name) for part in (node.inputs, node.outputs))
    reads = tuple(dict.fromkeys(name for name in inputs if tensors[name].data is None))
    return gap(node.name, node.kind, inputs, outputs, reads, why)

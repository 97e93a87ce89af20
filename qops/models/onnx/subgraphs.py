"""What the subgraphs of a node read: those of If, Loop and Scan take tensors of the graph around them by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["read_inside"]


def read_inside(node: Any) -> tuple[str, ...]:
    """Give the tensors that subgraphs of a node read and do not make, each once.

    Parameters
    ----------
    node : onnx.NodeProto

    Returns
    -------
    tuple of str
        In the order in which they are read; empty for a node without subgraphs.
    """
    graphs = [graph for one in node.attribute for graph in (*([one.g] if one.HasField("g") else []), *one.graphs)]
    return tuple(dict.fromkeys(name for graph in graphs for name in _from_outside(graph)))


def _from_outside(graph: Any) -> Iterator[str]:
    known = {"", *(info.name for info in graph.input), *(constant.name for constant in graph.initializer)}
    for node in graph.node:
        yield from (name for name in (*node.input, *read_inside(node)) if name not in known)
        known.update(node.output)
    yield from (info.name for info in graph.output if info.name not in known)

"""The shapes of tensors before anything runs, as far as onnxruntime knows them when it rewrites a graph."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.tensor import Tensor

__all__ = ["shapes_of"]

Shape = tuple[int, ...]
_OPEN = 7, 11
"""What an axis that the file leaves open is tried with: sizes that come out the same both times do not depend on it."""
_MOST = 2**20
"""Elements of the largest tensor whose moves are tried."""


def shapes_of(nodes: Sequence[Node], tensors: dict[str, Tensor]) -> dict[str, tuple[int | None, ...]]:
    """Give the shapes that are known; an axis is None where the file leaves it open.

    Parameters
    ----------
    nodes : sequence of Node
        In the order in which they run.
    tensors : dict of str to Tensor
        Inputs and constants.

    Returns
    -------
    dict of str to tuple of (int or None)
        By the names of tensors. Those that are not known are not in it.
    """
    first, second = (_tried(nodes, tensors, size) for size in _OPEN)
    found: dict[str, tuple[int | None, ...]] = {}
    for name, shape in first.items():
        other = second.get(name)
        if other is not None and len(other) == len(shape):
            found[name] = tuple(n if n == m else None for n, m in zip(shape, other, strict=True))
    return found


def _tried(nodes: Sequence[Node], tensors: dict[str, Tensor], size: int) -> dict[str, Shape]:
    """Give the shapes if all open axes have this size."""
    written = {name for node in nodes for name in node.outputs}
    shapes = {t.name: tuple(n or size for n in t.shape) for t in tensors.values() if t.name not in written}
    for node in nodes:
        given = [shapes.get(name) for name in node.inputs if name]
        if not given or given[0] is None:
            continue
        try:
            shapes[node.outputs[0]] = _shape(node, given, tensors, shapes)
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError):
            continue  # it is refused, or read, where the op is made
    return shapes


def _shape(node: Node, given: Sequence[Any], tensors: dict[str, Tensor], shapes: dict[str, Shape]) -> Shape:
    """Give the shape of the first result of a node; an error where it is not known."""
    row = kind_of(node)
    if row.shape is not None:
        return row.shape(node, *given)
    if row.moves is None:
        raise KeyError(node.kind)

    def values(name: str) -> Any:
        data = tensors[name].data if name in tensors else None
        if data is not None:
            return data
        if prod(shapes[name]) > _MOST:
            raise ValueError("too large to be tried")
        return np.broadcast_to(np.int8(0), shapes[name])

    made = row.moves(node, [values(name) if name else None for name in node.inputs])
    return tuple(np.shape(made[0] if isinstance(made, tuple) else made))

"""What nodes that are cut down to one element share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.onnx.file import Node

__all__ = ["CutNode", "cut_code", "cut_floats", "given_at", "of_channel", "zero_at"]


class CutNode(NamedTuple):
    """A smaller node: attributes, the inputs that differ from the node's, shape, words, where the element is."""

    attributes: dict[str, Any]
    inputs: dict[int, NDArray[Any]]
    shape: Index
    how: str
    place: Index = ()


def zero_at(zero: NDArray[Any] | None, o: int = 0) -> int:
    """Give the zero point of a channel, where each channel has its own."""
    return 0 if zero is None else int(zero.flat[o if zero.size > 1 else 0])


def of_channel(data: Sequence[Any], places: Sequence[int], o: int) -> dict[int, NDArray[Any]]:
    """Give the numbers of one channel, where each channel has its own."""
    found = {i: data[i] for i in places if i < len(data) and data[i] is not None}
    return {i: x.reshape(-1)[o : o + 1] for i, x in found.items() if x.size > 1}


def given_at(data: Sequence[Any], place: int) -> Any:
    """Give an input; None if it is left out."""
    return data[place] if place < len(data) else None


def cut_code(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One element, by one scale."""
    if any(x is not None and x.size > 1 for x in data[1:]):
        return None
    return CutNode(dict(node.attributes), {0: data[0][index].reshape(1)}, (1,), "one element")


def cut_floats(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One element of each operand."""
    shape = np.broadcast_shapes(*(x.shape for x in data if x is not None))
    few = {i: np.broadcast_to(x, shape)[index].reshape(1) for i, x in enumerate(data) if x is not None}
    return CutNode(dict(node.attributes), few, (1,), "one element")

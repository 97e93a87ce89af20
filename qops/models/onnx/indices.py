"""Operators that find places of elements, or take and put elements at places: the same for codes and for values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.code.places import c_of_moves, c_of_place, size_of
from qops.models.graph import Graph
from qops.models.onnx.code import WORDS
from qops.models.onnx.file import Node
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import bounded
from qops.models.op import Op
from qops.models.target import PortedLayer, Target

__all__ = ["KINDS"]

Array = NDArray[Any]
Given = Sequence[Any]


def _extreme(find: Callable[..., Any]) -> Callable[[Node, Given], Array]:
    """Give the places of the largest or smallest elements along an axis: of equal ones the first, or the last."""

    def run(node: Node, given: Given) -> Array:
        x, axis = given[0], node.get("axis", 0)
        if node.get("select_last_index", 0):
            found = x.shape[axis] - 1 - find(np.flip(x, axis), axis=axis)
        else:
            found = find(x, axis=axis)
        found = np.asarray(found, np.int64)
        return np.expand_dims(found, axis % x.ndim) if node.get("keepdims", 1) else found

    return run


def _places(indices: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Give the last axis of indices as an index of each axis; those below 0 count from the end."""
    if indices.ndim == 0 or indices.shape[-1] > len(shape):
        raise bad_value("indices", f"expected at most {len(shape)} in the last axis, got shape {indices.shape}")
    return tuple(_within(indices[..., i], n) for i, n in enumerate(shape[: indices.shape[-1]]))


def _within(at: Array, count: int) -> Array:
    """Give indices as integers, which they are in real numbers too."""
    at = at.astype(np.int64)
    if at.size and not (at.min() >= -count and at.max() < count):
        raise bad_value("indices", f"expected {-count} to {count - 1}, got {at.min()} to {at.max()}")
    return np.where(at < 0, at + count, at)


_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
}


def _put(node: Node, y: Array, at: tuple[Array, ...], updates: Array) -> Array:
    """Put updates into an array; where a place stands twice, one after the other."""
    how = node.get("reduction", "none")
    if how == "none":
        y[at] = updates
    elif how in _REDUCTIONS:
        _REDUCTIONS[how].at(y, at, updates)
    else:
        raise ValueError(f"its reduction is {how!s:.40}")
    return y


def _scatter_nd(node: Node, given: Given) -> Array:
    data, indices, updates = given
    at = _places(np.asarray(indices), data.shape)
    if updates.shape != (*indices.shape[:-1], *data.shape[indices.shape[-1] :]):
        raise bad_value("updates", f"shape {updates.shape} does not fit indices of shape {indices.shape}")
    return _put(node, np.array(data), at, updates)


def _along(node: Node, indices: Array, shape: tuple[int, ...]) -> tuple[Array, ...]:
    """Give the places that indices along one axis stand for."""
    axis = node.get("axis", 0) % len(shape)
    fits = len(shape) == indices.ndim and all(
        n <= m for i, (n, m) in enumerate(zip(indices.shape, shape, strict=True)) if i != axis
    )
    if not fits:
        raise bad_value("indices", f"shape {indices.shape} does not fit data of shape {shape}")
    at: list[Array] = list(np.indices(indices.shape, sparse=True))
    at[axis] = _within(indices, shape[axis])
    return tuple(at)


def _scatter_elements(node: Node, given: Given) -> Array:
    data, indices, updates = given
    if updates.shape != indices.shape:
        raise bad_value("updates", f"shape {updates.shape} is not that of indices, {indices.shape}")
    return _put(node, np.array(data), _along(node, indices, data.shape), updates)


def _gather_elements(node: Node, given: Given) -> Array:
    return np.asarray(given[0][_along(node, given[1], given[0].shape)])


def _gather_nd(node: Node, given: Given) -> Array:
    data, indices = given
    batch = node.get("batch_dims", 0)
    if not 0 <= batch < min(data.ndim, indices.ndim) or data.shape[:batch] != indices.shape[:batch]:
        raise bad_value("batch_dims", f"{batch} does not fit shapes {data.shape} and {indices.shape}")
    at = _places(indices, data.shape[batch:])
    bounded([*indices.shape[:-1], *data.shape[batch + indices.shape[-1] :]])
    before = np.indices(indices.shape[:-1], sparse=True)[:batch]
    return np.asarray(data[(*before, *at)])


def _c_of_extreme(sign: str) -> Callable[..., PortedLayer | None]:
    def code(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
        dtype = graph.tensors[op.reads[0]].dtype if op.reads else ""
        if dtype not in WORDS or 0 in size_of(graph, op.reads[0]):
            return None
        (places,) = op.call(np.zeros(size_of(graph, op.reads[0]), dtype))
        return c_of_place(
            made, f"{sign}=" if places.flat[0] else sign
        )  # of equal codes the last, if 0 is not the place

    return code


def _c_of_scattered(made: PortedLayer, op: Op, graph: Graph, target: Target) -> None:
    """Elements that are put, or summed, where indices say so, which a port does as its own code has them."""


def _arg(find: Callable[..., Any], sign: str) -> Kind:
    return Kind(moves=_extreme(find), rule="exact", result="int64", code=_c_of_extreme(sign))


def _kind(moves: Callable[..., Any], code: Callable[..., Any], operands: tuple[int | None, ...] = (1,)) -> Kind:
    return Kind(moves=moves, rule="moves codes", code=code, operands=operands)


_DATA_AND_UPDATES = (0, 3, 2)
KINDS = {
    "ArgMax": _arg(np.argmax, ">"),
    "ArgMin": _arg(np.argmin, "<"),
    "ScatterND": _kind(_scatter_nd, _c_of_scattered, _DATA_AND_UPDATES),
    "ScatterElements": _kind(_scatter_elements, _c_of_scattered, _DATA_AND_UPDATES),
    "GatherElements": _kind(_gather_elements, c_of_moves),
    "GatherND": _kind(_gather_nd, c_of_moves),
}

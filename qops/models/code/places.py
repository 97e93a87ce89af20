"""The C of ops that move codes: for each place of the result, the place that its code comes from."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function

__all__ = ["c_of_joined", "c_of_moves", "c_of_place", "c_of_shapes", "c_of_told", "placed", "size_of"]


Places = NDArray[np.int64]


def size_of(graph: Graph, name: str) -> tuple[int, ...]:
    """Give the shape of a tensor; a size that is only known at run time is 1."""
    return tuple(1 if n is None else n for n in graph.tensors[name].shape)


def _numbered(op: Op, graph: Graph) -> tuple[tuple[Places, ...], Any]:
    """For each place of the results, find the place in the concatenated inputs that its code comes from.

    -1 stands for a constant, which is given too. The op runs on the numbers of the places, and then on the same plus
    their count: a result that is equal both times is a constant.
    """
    shapes, is_float = [size_of(graph, name) for name in op.reads], graph.tensors[op.reads[0]].dtype == "float32"
    ends = np.cumsum([0, *map(prod, shapes)])
    numbers = [np.arange(a, b).reshape(s) for a, b, s in zip(ends, ends[1:], shapes, strict=False)]
    numbers = [x.astype(np.float64 if is_float else np.int64) for x in numbers]
    first, again = op.call(*numbers), op.call(*(x + ends[-1] for x in numbers))
    places = tuple(np.where(x == y, -1, x).astype(np.int64) for x, y in zip(first, again, strict=True))
    put = [x[at < 0] for x, at in zip(first, places, strict=True)]
    return places, next((np.float32(x[0]) if is_float else int(x[0]) for x in put if x.size), None)


def _by_axes(places: Places) -> tuple[list[int], NDArray[np.int32]]:
    """Give one table per axis, the last axis first, that sum up to the places; if there are none, one table of all."""
    inside, whole = places >= 0, ([places.size], places.reshape(-1).astype(np.int32))
    if not places.ndim or not inside.any():
        return whole
    near = np.unravel_index(int(np.argmax(inside)), places.shape)
    parts: list[Places] = []
    total, known, least = np.zeros(places.shape, np.int64), np.ones(places.shape, bool), places[inside].min()
    for axis in reversed(range(places.ndim)):
        line = places[tuple(slice(None) if i == axis else n for i, n in enumerate(near))]
        part = np.where(line < 0, -1, line - line[line >= 0].min() + (0 if parts else least))
        along = part.reshape([-1 if i == axis else 1 for i in range(places.ndim)])
        total, known = total + along, known & (along >= 0)
        parts.append(part)
    if not np.array_equal(np.where(known, total, -1), places):
        return whole
    return [part.size for part in parts], np.concatenate(parts).astype(np.int32)


def placed(made: PortedLayer, each: tuple[Places, ...]) -> PortedLayer:
    """Give a function for each result, or one if there is one."""
    constants, code = dict(made.constants), []
    for i, places in enumerate(each):
        own = f"part{i}_" if len(each) > 1 else ""
        n, lines = f"{made.name}_{own}"[:-1], ["    return at;"]
        if not np.array_equal(places.reshape(-1), np.arange(places.size)):
            sizes, table = _by_axes(places)
            constants |= {f"{own}sizes": np.asarray(sizes, np.int32), f"{own}places": table}
            lines = [f"    return place_of({n}_places, {n}_sizes, {len(sizes)}, at);"]
        code.append(function(n, "int32_t at", lines, what="place"))
    return made._replace(constants=constants, rules=["places"], code="\n".join(code), arguments=("place",))


def c_of_place(made: PortedLayer, sign: str) -> PortedLayer:
    """Give the place of the code that no later one is larger or smaller than, as the sign says."""
    lines = [
        "    int place = 0;",
        "    for (int i = 1; i < count; i++)",
        f"        if (x[i] {sign} x[place])",
        "            place = i;",
        "    return place;",
    ]
    body = function(made.name, "const int32_t *x, int count", lines)
    return made._replace(code=body, arguments=("taps", "count"))


def c_of_moves(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Make an op that moves codes; None if it moves constants or nothing, or another input says where to."""
    return c_of_joined(made, op, graph, target) if len(op.reads) == 1 else None


def c_of_joined(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Make an op that moves the codes of all that it reads; None if it moves constants or nothing."""
    if not op.reads or 0 in map(prod, _shapes(op, graph)):
        return None
    places, code = _numbered(op, graph)
    return placed(made._replace(constants={} if code is None else {"pad_value": code}), places)


def _shapes(op: Op, graph: Graph) -> list[tuple[int, ...]]:
    return [size_of(graph, name) for name in (*op.reads, *op.outputs)]


def c_of_told(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Make a constant of a node whose result depends on constants alone; None if it reads anything."""
    return None if op.reads else c_of_shapes(made, op, graph, target)


def c_of_shapes(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Make a constant of a node whose result depends on the shapes of what it reads."""
    (values,) = op.call(*(np.zeros(size_of(graph, name), graph.tensors[name].dtype) for name in op.reads))
    return made._replace(constants={"values": values.reshape(-1)})

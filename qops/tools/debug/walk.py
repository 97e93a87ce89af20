"""Walks a network layer by layer: whole, in real numbers, and each layer alone on what a device gave it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models import Graph, Op, Tensor
from qops.models.kinds import kind_named
from qops.models.live import Live
from qops.models.op import in_real_numbers
from qops.tools.debug.case import Case, Worst, apart
from qops.tools.debug.executors import Cluster, Here
from qops.tools.debug.layer_row import LayerRow
from qops.tools.debug.layout import Wrong, as_wanted

__all__ = ["LayerResult", "States", "WalkedLayer", "walk"]

Arrays = Mapping[str, NDArray[Any]]
Results = tuple[NDArray[Any], ...]


class LayerResult(NamedTuple):
    """What a task finds of one layer.

    Attributes
    ----------
    row : LayerRow
    fed : tuple of ndarray
        Its results as the device gave them, in the order of axes of the graph; its own where there is no dump. Behind
        them the states of the op.
    wanted : tuple of ndarray
        Its own results.
    place : int
        Which of the results the row is of.
    wrong : Wrong or None
        What is wrong with the layout of the dump of that one.
    """

    row: LayerRow
    fed: Results
    wanted: Results
    place: int
    wrong: Wrong | None


class WalkedLayer(NamedTuple):
    """A row, and how to get what is behind it: the arrays, and how far each element is off."""

    result: LayerResult
    case: Callable[[], Case]
    off: Callable[[], Worst]

    @property
    def badness(self) -> tuple[float, float]:
        """Which share of the codes differs from the device, and how far they are from float."""
        return self.result.row.share or 0.0, self.result.row.lsb or 0.0


class States(NamedTuple):
    """What ops keep from one step to the next, by name: of the whole network, of layers alone, and in real numbers."""

    whole: dict[str, Any]
    alone: dict[str, Any]
    exact: dict[str, Any]


def walk(
    graph: Graph,
    inputs: Arrays,
    fed: Arrays,
    dumped: Arrays,
    real: Arrays | None,
    at: Here | Cluster,
    states: States | None = None,
) -> Iterator[WalkedLayer]:
    """Give the layers in their order.

    Parameters
    ----------
    graph : Graph
        The model.
    inputs : dict of str to ndarray
        Codes of the inputs of the whole network.
    fed : dict of str to ndarray
        Codes of these inputs as the device had them.
    dumped : dict of str to ndarray
        What the device gave, by the names of tensors.
    real : dict of str to ndarray, or None
        The real values of tensors, of a float model; None for those of this model, which are then made here.
    at : Here or Cluster
        Where the layers run.
    states : States, optional
        What the steps before have left, changed as the layers run.

    Yields
    ------
    WalkedLayer
    """
    values = {name: graph.tensors[name].values(codes) for name, codes in inputs.items()}
    whole, alone, exact = (
        Live(graph.ops, {name: at.hold(array) for name, array in given.items()}, states=state)
        for given, state in zip((inputs, fed, values), states or States({}, {}, {}), strict=True)
    )
    under_way: list[tuple[Op, list[Any], Any, Any]] = []
    for op in graph.ops:
        if op.gap or not alone.has(op):
            while under_way:
                yield _layer(graph, at, *under_way.pop(0))
            yield from _unchecked(graph, op, dumped, at, (whole, alone, exact))
            continue
        tensors = {name: graph.tensors[name] for name in (*op.inputs, *op.outputs)}
        held, known = at.hold(op), at.hold({name: tensor for name, tensor in tensors.items() if tensor.data is None})
        made = at.run(_called, held, *whole.read(op))
        if real is None:
            wanted = at.run(in_real_numbers, held, known, *exact.read(op))
            exact.write(op, _parts(at, wanted, op))
        else:
            wanted = at.hold(tuple(real.get(name) for name in op.outputs))
        raw = at.hold(tuple(dumped.get(name) for name in op.outputs))
        reads = alone.read(op)
        result = at.run(_compare_layer, held, known, raw, made, wanted, *reads)
        whole.write(op, _parts(at, made, op))
        alone.write(op, _parts(at, at.run(_fed, result), op))
        if op.outputs:
            under_way.append((op, reads, result, wanted))
        while len(under_way) > at.ahead:
            yield _layer(graph, at, *under_way.pop(0))
    for entry in under_way:
        yield _layer(graph, at, *entry)


def _unchecked(
    graph: Graph, op: Op, dumped: Arrays, at: Here | Cluster, lives: tuple[Live, Live, Live]
) -> Iterator[WalkedLayer]:
    """Go around a gap, or what depends on one: its results are those of the dump, where it has them."""
    shapes = {name: [n or 1 for n in graph.tensors[name].shape] for name in op.outputs}
    codes = {
        name: dumped[name].reshape(shape) if shape and np.prod(shape) == dumped[name].size else dumped[name]
        for name, shape in shapes.items()
        if name in dumped
    }
    values = {name: graph.tensors[name].values(array) for name, array in codes.items()}
    for live, given in zip(lives, (codes, codes, values), strict=True):
        live.write(op, [at.hold(given[name]) if name in given else None for name in op.outputs])
    if not op.outputs:
        return
    why = f"not checked: {op.kind}" if op.gap else "not checked: what it reads is a gap's, and not in the dump"
    words = op.name, op.kind, op.outputs[0], op.gap
    nothing = np.empty(0)
    row = LayerRow(*words, *(None,) * 7, why)
    result = LayerResult(row, (nothing,), (nothing,), 0, None)

    def case() -> Case:
        return Case(graph, op, [], op.outputs[0], nothing, nothing)

    yield WalkedLayer(result, case, lambda: Worst(op.name, nothing, "codes", op.axis))


def _layer(graph: Graph, at: Here | Cluster, op: Op, reads: list[Any], held: Any, real: Any) -> WalkedLayer:
    result: LayerResult = at.result(held)
    place = result.place
    got, wanted, output = result.fed[place], result.wanted[place], op.outputs[place]

    def case() -> Case:
        return Case(graph, op, [at.result(x) for x in reads], output, got, wanted)

    def off() -> Worst:
        tensor, exact = graph.tensors[output], at.result(real)[place]
        if result.row.share or exact is None or tensor.scale is None:
            return Worst(op.name, got.astype(np.float64) - wanted.astype(np.float64), "codes", op.axis)
        steps = (tensor.values(got) - exact.reshape(got.shape)) / float(tensor.scale)
        return Worst(op.name, steps, "LSB", op.axis)

    return WalkedLayer(result, case, off)


def _parts(at: Here | Cluster, made: Any, op: Op) -> list[Any]:
    """Take a task's tuple of results and states apart."""
    return [at.run(itemgetter(i), made) for i in range(len(op.outputs) + len(op.states))]


def _called(op: Op, *inputs: NDArray[Any]) -> Results:
    return op.call(*inputs)


def _fed(result: LayerResult) -> Results:
    return result.fed


def _compare_layer(
    op: Op,
    tensors: Mapping[str, Tensor],
    raw: Sequence[NDArray[Any] | None],
    whole: Results,
    real: Sequence[NDArray[Any] | None],
    *inputs: NDArray[Any],
) -> LayerResult:
    """Run a layer alone, and compare all that it gives; the row is of the first result that differs."""
    made = op.call(*inputs)
    wanted, states = made[: len(raw)], made[len(raw) :]
    found = [(y, None) if dump is None else as_wanted(dump, y) for dump, y in zip(raw, wanted, strict=True)]
    fed = (*(array for array, _ in found), *states)
    if not found:
        return LayerResult(LayerRow(op.name, op.kind, "", op.rule, *(None,) * 8), fed, wanted, 0, None)
    rows = []
    beside = _largest_of(inputs) if kind_named(op.kind).adds else 0.0
    for i, (got, wrong) in enumerate(found):
        tensor = tensors[op.outputs[i]]
        off = None if raw[i] is None else apart(got, wanted[i], beside)
        rows.append(_row(op, tensor, off, (got, wanted[i], whole[i], real[i]), wrong))
    place = next((i for i, row in enumerate(rows) if row.differ), 0)
    return LayerResult(rows[place], fed, wanted, place, found[place][1])


def _largest_of(inputs: Sequence[NDArray[Any] | None]) -> float:
    """Give the largest of the floats that an op reads; 0 where one is not finite."""
    floats = [x for x in inputs if x is not None and x.dtype.kind == "f"]
    largest = max((float(np.abs(x).max(initial=0)) for x in floats), default=0.0)
    return largest if np.isfinite(largest) else 0.0


def _row(
    op: Op,
    tensor: Tensor,
    off: NDArray[Any] | None,
    arrays: tuple[Any, Any, Any, NDArray[Any] | None],
    wrong: Wrong | None,
) -> LayerRow:
    got, wanted, whole, real = arrays
    differ = share = largest = of_whole = None
    if off is not None:
        differ = int(np.count_nonzero(off)) if wrong is None else wrong.differ
        most = off.max(initial=0)
        largest = int(most) if got.dtype.kind in "iub" else float(most) if np.isfinite(most) else None
        share, of_whole = differ / max(wanted.size, 1), int(np.count_nonzero(apart(got, whole)))
    lsb, sqnr = _against(tensor, got, real)
    words = op.name, op.kind, tensor.name, op.rule
    return LayerRow(*words, differ, largest, share, _saturated(tensor, got), lsb, sqnr, of_whole, None)


def _saturated(tensor: Tensor, got: NDArray[Any]) -> float | None:
    """The share of codes at an end of the type that is not real 0."""
    if got.dtype.kind not in "iu" or tensor.scale is None:
        return None
    info = np.iinfo(got.dtype)
    ends = [end for end in (info.min, info.max) if tensor.zero_point != end]
    return float(np.count_nonzero(np.isin(got, ends)) / max(got.size, 1))


def _against(tensor: Tensor, got: NDArray[Any], real: NDArray[Any] | None) -> tuple[float | None, float | None]:
    """The largest distance from the real values in steps of the tensor, and the SQNR."""
    if real is None or real.size != got.size or got.dtype.kind not in "iuf" or not got.size:
        return None, None
    with np.errstate(all="ignore"):
        off = tensor.values(got) - real.reshape(got.shape)
        sqnr = float(10 * np.log10((real * real).sum() / (off * off).sum()))
        lsb = (
            float(np.abs(off).max() / float(tensor.scale)) if tensor.scale is not None and tensor.axis is None else None
        )
    return lsb if lsb is not None and np.isfinite(lsb) else None, sqnr if np.isfinite(sqnr) else None

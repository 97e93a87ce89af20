"""Walks a network and a device's dump of it layer by layer: which layer differs first, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.numbers import shown
from qops.checks import choice
from qops.models import Graph, Op, load
from qops.tools.case import Case, Worst, apart
from qops.tools.causes import Cause, Seen, cause_of
from qops.tools.device import Wrong, as_nhwc, named, noise, tensors_of
from qops.tools.fused import as_fused
from qops.tools.hunt import First, Hunt, LayerRow
from qops.tools.progress import Progress

__all__ = ["debug", "debugged"]

Arrays = dict[str, NDArray[Any]]
Bad = tuple[float, float]  # which share of codes differ from the device, and how far they are from float


class Walk(NamedTuple):
    """All tensors of one hunt, by name.

    `whole` is what the graph gives of the data, `device` what the device gave, in the order of axes of the graph,
    `wrong` what was wrong with its layout, `real` the network in real numbers.
    """

    graph: Graph
    whole: Arrays
    device: Arrays
    wrong: dict[str, Wrong]
    real: Arrays


def debug(
    model: str | Path | Graph,
    data: ArrayLike | Mapping[str, ArrayLike] | str | Path | None = None,
    *,
    device: Mapping[str, ArrayLike] | str | Path | None = None,
    float_model: str | Path | Graph | None = None,
    runtime: str | None = None,
) -> Hunt:
    """Compare a device with a model file layer by layer, and name the first layer that differs, and why.

    Each layer is run on what the device gave it, so that an error shows in the layer that makes it, and nowhere else;
    beside that the whole network is run, where errors add up. What differs first is explained: the rule that gives the
    device's integers, or what is wrong before the rounding.

    Parameters
    ----------
    model : str, Path or Graph
        A model file, or one that `qops.models.load` has read.
    data : array_like, dict, str or Path, optional
        Codes of the input, or of each input by its name; or an ``.npz`` file of these. By default they are those of the
        dump; without these, seeded noise in each input's range.
    device : dict, str or Path, optional
        The device's tensors by their names: a dict, an ``.npz`` file, or a folder of ``.npy``, ``.bin`` or ``.raw``
        files. Not all need be there.
    float_model : str, Path or Graph, optional
        The float network, whose tensors have the same names. By default the model itself in real numbers, without
        rounding between its layers.
    runtime : str, optional
        Whose bits the model is taken to give, as in `qops.models.load`.

    Returns
    -------
    Hunt
        A row a layer; the first layer that differs, and its cause.

    Raises
    ------
    TypeError, ValueError, OSError
        A file that cannot be read, data that do not fit, a dump without any tensor of the model.

    See Also
    --------
    qops.explain : which rule made some integers.

    Examples
    --------
    >>> import os
    >>> os.path.exists("model.tflite") and qops.debug("model.tflite", device="dump.npz")
    False
    """
    graph = graph_of(model, "model", runtime)
    twin = None if float_model is None else graph_of(float_model, "float_model")
    with Progress() as progress:
        path = Path("") if isinstance(model, Graph) else Path(model)
        return debugged(graph, data, device, twin, progress, path)


def graph_of(model: Any, name: str, runtime: str | None = None) -> Graph:
    """Give the graph of a model, or of a file.

    Parameters
    ----------
    model : str, Path or Graph
        What the caller gave.
    name : str
        What the caller calls it.
    runtime : str, optional
        Whose bits.

    Returns
    -------
    Graph

    Raises
    ------
    TypeError, ValueError, OSError
        Another thing, a file that cannot be read, another runtime than the graph has.
    """
    if isinstance(model, Graph):
        if runtime is not None:
            choice(runtime, "runtime", [model.runtime])
        return model
    if not isinstance(model, str | Path):
        raise TypeError(f"{name}: expected a file or a graph, got {shown(model)}")
    try:
        return load(model, runtime=runtime)
    except (ValueError, TypeError) as why:  # by the name that the caller gave
        raise type(why)(str(why).replace("path:", f"{name}:", 1)) from None


def debugged(
    graph: Graph,
    data: Any,
    device: Any,
    float_model: Graph | None,
    progress: Callable[[str], None],
    path: Path = Path(""),
) -> Hunt:
    """Do the work of `debug`, with progress told to a caller.

    Parameters
    ----------
    graph, data, device, float_model
        Those of `debug`, read.
    progress : callable
        Called with words that say what is done next.
    path : Path
        The file that the graph was read from, if there is one.

    Returns
    -------
    Hunt

    Raises
    ------
    TypeError, ValueError
        As `debug`.
    """
    dumped, unknown = ({}, []) if device is None else named(graph, tensors_of(device, "device"))
    notes = [f"no tensor of the model is called {key!r}" for key in unknown[:5]]
    inputs, said = _inputs(graph, data, dumped)
    notes += said
    walk = _walked(graph, inputs, dumped, float_model, progress)
    missing = [op.outputs[0] for op in graph.ops if op.outputs[0] not in walk.device]
    if device is not None and missing:
        notes.append(f"{len(missing)} of {len(graph.ops)} results are not in the dump, the first {missing[0]!r}")
    rows, first, case = [], _unlike_inputs(graph, inputs, walk), None
    worst: tuple[Bad, Worst] | None = None
    for seen, row in _rows(walk, progress):
        rows.append(row)
        worst = _worse(walk, seen, row, worst)
        output = seen.op.outputs[0]
        if first is None and row.differ:
            wrong = walk.wrong.get(output)
            fused = "" if wrong else as_fused(path, graph, inputs, walk.device, output)
            known = Cause(wrong.words if wrong else fused, ["ort"] if fused else [])
            cause = known if known.words else cause_of(graph, seen, walk.whole, progress)
            first, case = First(row.name, output, *cause), None if wrong else Case(graph, *seen)
    if first is None and device is not None:
        first = _inherited(rows) or _elsewhere(graph, device, unknown, walk)
    return Hunt(graph.name, rows, first, notes, case, worst[1] if worst is not None else None)


def _inputs(graph: Graph, data: Any, dumped: Arrays) -> tuple[Arrays, list[str]]:
    """Give the inputs of the whole network, and what must be said of them."""
    if data is None:
        if all(name in dumped for name in graph.inputs):
            return {name: _of_shape(graph, name, dumped[name]) for name in graph.inputs}, []
        return noise(graph), ["no data: the inputs are seeded noise, each code as likely as the next"]
    if not isinstance(data, Mapping | str | Path):
        return graph.inputs_of(data, "data"), []
    found = dict(tensors_of(data, "data"))
    if len(found) == 1 and len(graph.inputs) == 1 and isinstance(data, str | Path):
        found = {graph.inputs[0]: next(iter(found.values()))}
    for name, value in found.items():
        tensor = graph.tensors.get(name)
        if tensor is not None and tensor.scale is not None and value.dtype.kind == "f":
            found[name] = tensor.codes(value)
    return graph.inputs_of(found, "data"), []


def _of_shape(graph: Graph, name: str, codes: NDArray[Any]) -> NDArray[Any]:
    shape = [n or 1 for n in graph.tensors[name].shape]
    each = int(np.prod(shape[1:])) or 1
    if codes.ndim == len(shape) and list(codes.shape[1:]) == shape[1:]:
        return codes
    if codes.size % each:
        raise ValueError(f"device: {name!r} has {codes.size:,} elements, the model {each:,} an item")
    if codes.ndim == 4 and len(shape) == 4 and list(codes.shape) == [shape[0], shape[3], *shape[1:3]]:
        return np.ascontiguousarray(codes.transpose(0, 2, 3, 1))
    return codes.reshape(-1, *shape[1:])


def _walked(graph: Graph, inputs: Arrays, dumped: Arrays, twin: Graph | None, progress: Callable[[str], None]) -> Walk:
    progress("running the whole network")
    whole = graph.run(inputs, keep="all")
    device, wrong = {}, {}
    for name, codes in dumped.items():
        if name in whole:
            device[name], fault = as_nhwc(codes, whole[name])
            if fault is not None:
                wrong[name] = fault
    progress("running it in real numbers")
    values = {name: graph.tensors[name].values(codes) for name, codes in inputs.items()}
    own = graph.real(values, keep="all")
    if twin is None:
        return Walk(graph, whole, device, wrong, own)
    return Walk(graph, whole, device, wrong, _matched(graph, twin, values))


def _matched(graph: Graph, twin: Graph, values: Arrays) -> Arrays:
    """Run the float model; tensors belong together by their names, or by their places if all ops are the same."""
    given = {t: v for t, v in zip(twin.inputs, values.values(), strict=True)}
    run = twin.real(given, keep="all")
    found = {name: value for name, value in run.items() if name in graph.tensors}
    ours, theirs = ([op for op in g.ops if op.kind not in ("QUANTIZE", "DEQUANTIZE")] for g in (graph, twin))
    if [op.kind for op in ours] == [op.kind for op in theirs]:
        for a, b in zip(ours, theirs, strict=True):
            for name, other in zip(a.outputs, b.outputs, strict=True):
                found.setdefault(name, run[other])
    return found


def _unlike_inputs(graph: Graph, inputs: Arrays, walk: Walk) -> First | None:
    for name in graph.inputs:
        if name in walk.wrong:
            return First("input", name, walk.wrong[name].words, [])
        if name in walk.device and not np.array_equal(walk.device[name], inputs[name]):
            return First("input", name, "the inputs differ already: the dump's input is not the data", [])
    return None


def _rows(walk: Walk, progress: Callable[[str], None]) -> Iterator[tuple[Seen, LayerRow]]:
    """Run each layer on what the device gave it. Where the dump lacks a tensor, the graph makes it of what is there."""
    fed = {**walk.whole, **{name: walk.device[name] for name in walk.graph.inputs if name in walk.device}}
    for op in walk.graph.ops:
        progress(f"running {op.name} alone")
        taken = [fed[name] for name in op.reads]
        made = op.call(*taken)
        for name, codes in zip(op.outputs, made, strict=True):
            fed[name] = walk.device.get(name, codes)
        output = op.outputs[0]
        got = walk.device.get(output, made[0])
        yield Seen(op, taken, got, made[0]), _row(walk, op, got, made[0])


def _worse(walk: Walk, seen: Seen, row: LayerRow, before: tuple[Bad, Worst] | None) -> tuple[Bad, Worst] | None:
    """Give the worse of a layer and the worst before it: by what differs from the device, then by the float network."""
    tensor, real = walk.graph.tensors[row.output], walk.real.get(row.output)
    bad = row.share or 0.0, row.lsb or 0.0
    if bad <= (before[0] if before is not None else (0.0, 0.0)):
        return before
    channel = 1 if walk.graph.name.endswith(".onnx") else -1
    if row.share or real is None or tensor.scale is None:
        return bad, Worst(row.name, seen.got.astype(np.float64) - seen.wanted.astype(np.float64), "codes", channel)
    off = (tensor.values(seen.got) - real.reshape(seen.got.shape)) / float(tensor.scale)
    return bad, Worst(row.name, off, "LSB", channel)


def _row(walk: Walk, op: Op, got: NDArray[Any], wanted: NDArray[Any]) -> LayerRow:
    output, size = op.outputs[0], max(wanted.size, 1)
    tensor = walk.graph.tensors[output]
    given = output in walk.device
    differ = whole = largest = None
    if given:
        off = apart(got, wanted)
        differ, largest = int(np.count_nonzero(off)), float(off.max(initial=0))
        whole = int(np.count_nonzero(apart(got, walk.whole[output])))
        differ = walk.wrong[output].differ if output in walk.wrong else differ
    saturated = None
    if got.dtype.kind in "iu" and tensor.scale is not None:
        info = np.iinfo(got.dtype)
        ends = [end for end in (info.min, info.max) if tensor.zero_point != end]  # real 0 is no saturation
        saturated = float(np.count_nonzero(np.isin(got, ends)) / size)
    lsb, sqnr = _against_float(walk, output, got)
    share = None if differ is None else differ / size
    return LayerRow(op.name, op.kind, output, op.rule, differ, largest, share, saturated, lsb, sqnr, whole)


def _against_float(walk: Walk, output: str, got: NDArray[Any]) -> tuple[float | None, float | None]:
    """The largest distance from the float network in steps of the tensor, and the SQNR."""
    tensor, real = walk.graph.tensors[output], walk.real.get(output)
    if real is None or real.size != got.size or got.dtype.kind not in "iuf":
        return None, None
    off = tensor.values(got) - real.reshape(got.shape)
    lsb = None
    if tensor.scale is not None and tensor.scale.ndim == 0 and off.size:
        lsb = float(np.abs(off).max() / float(tensor.scale))
    with np.errstate(all="ignore"):
        sqnr = float(10 * np.log10((real * real).sum() / (off * off).sum()))
    return lsb, sqnr if np.isfinite(sqnr) else None


def _inherited(rows: list[LayerRow]) -> First | None:
    """No layer alone differs, but the whole does: what the layer read differs already, where there is no dump of it."""
    for row in rows:
        if row.whole:
            return First(row.name, row.output, "inputs differ already: the layer itself gives the device's codes", [])
    return None


def _elsewhere(graph: Graph, device: Any, unknown: list[str], walk: Walk) -> First | None:
    """A result without a dump whose codes stand in the dump under a name that no tensor has."""
    arrays = tensors_of(device, "device")
    for op in graph.ops:
        output = op.outputs[0]
        if output in walk.device:
            continue
        for key in unknown:
            if np.array_equal(arrays[key].reshape(-1), walk.whole[output].reshape(-1)):
                return First(op.name, output, f"the dump has it under another name, {key!r}", [])
    return None

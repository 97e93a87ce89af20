"""Walks a network and a device's dump of it layer by layer: which layer differs first, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import shown
from qops.models import Graph
from qops.models.argument import graph_of
from qops.models.live import Live
from qops.models.noise import noise
from qops.qtensor import TensorLike
from qops.tools.debug.case import Case
from qops.tools.debug.cause import Cause
from qops.tools.debug.causes import cause_of
from qops.tools.debug.columns import ColumnFound, column_of
from qops.tools.debug.device import batch_shape, named, never_written
from qops.tools.debug.device_tensors import tensors_of
from qops.tools.debug.executors import Cluster, Here
from qops.tools.debug.hunt import Hunt
from qops.tools.debug.layer_row import First, LayerRow
from qops.tools.debug.layout import Wrong, as_wanted
from qops.tools.debug.nnlib_network import debugged_ops, is_ops
from qops.tools.debug.places import places_of
from qops.tools.debug.twins import matched, unmatched
from qops.tools.debug.walk import States, WalkedLayer, walk
from qops.tools.progress import Progress

__all__ = ["debug"]

Arrays = dict[str, NDArray[Any]]
_OTHER_STATE = "the variable {!r} does not hold what the device wrote in the step before, or its first value"
_ONE_STEP = "the model keeps states: the dump is taken for that of the first step"
_HAZARDS = 3
_FLOATS = "it rounds {!r}, floats that the dump lacks: sums in another order change their last bits, and a code by 1"
_NEVER_WRITTEN = "{} results of constants alone, the first {!r}, are other numbers in the dump: taken for never written"
_NOISE = "no data: the inputs are seeded noise, each code as likely as the next"


@refusing_unknown
def debug(
    model: str | Path | Graph | Sequence[Callable[..., Any]] | Mapping[str, Callable[..., Any]],
    data: ArrayLike | TensorLike | Mapping[str, ArrayLike] | str | Path | Sequence[Any] | None = None,
    *,
    device: Mapping[str, Any] | str | Path | Sequence[Any] | None = None,
    float_model: str | Path | Graph | None = None,
    runtime: str | None = None,
    client: Any = None,
    **unknown: Never,
) -> Hunt:
    """Compare a device with a model file layer by layer, and name the first layer that differs, and why.

    Each layer is run on what the device gave it, so that an error shows in the layer that makes it, and nowhere else;
    beside that the whole network is run, where errors add up. What differs first is explained: the rule that gives the
    device's integers, what is wrong before the rounding, or the scale with which a rule gives them.

    Of oneDNN and onnxruntime, only versions whose results were stored can be named.

    Parameters
    ----------
    model : str, Path or Graph
        A model file, or one that `qops.models.load` has read. Or a list of prepared ops of `qops.nnlib`, or a dict of
        them by their names, each of which reads what the one before gives. Then `data` is the tensor that the first one
        reads, and `device` has a tensor, with its range, for each op: in a list, None where there is none, or by its
        name, which in a list of ops is that of its class, ``supernode``, ``supernode_1``. What differs is told as by
        `qops.explain`: a range, a rule, the other chip, and which channels a V65 rescales.
    data : array_like, dict, str or Path, optional
        Codes of the input, or of each input by its name; or an ``.npz`` file of these. The default is what the dump
        holds for the inputs, or seeded noise in each input's range. Where `device` is a list, a list as long.
    device : dict, str or Path, optional
        The device's tensors by their names: a dict; an ``.npz`` file; a ``.log`` or ``.txt`` file in which they are
        printed; ``.tflm``, the file that TFLM's ``layer_by_layer_output_tool`` writes; or a folder with one file for
        each tensor: ``.npy``; ``.bin`` or ``.raw``, plain bytes; ``.txt`` or ``.csv``, printed numbers; ``.pb`` or
        ``.tensorproto`` of ONNX. File names may have ``_`` for other characters. Arrays may be flat, of wider integers,
        or hold more images than the model has; real numbers are taken to the nearest codes. Names may be the numbers of
        the tensors in the file, as interpreters count them. The inputs must be there, unless `data` has them; other
        tensors may be missing. A list holds the dumps of steps that follow each other, the first one first: variables
        and memories of SVDF and LSTM are kept from step to step, and what is told is the first step that differs.
    float_model : str, Path or Graph, optional
        The float network, whose tensors have the same names, or these with what onnxruntime's ``quantize_static`` adds;
        a ReLU that it removed is taken into account, and a note says what has no tensor there. By default the model
        itself in real numbers, without rounding between its layers.
    runtime : str, optional
        The runtime whose bits the model is expected to give, as in `qops.models.load`.
    client : distributed.Client, optional
        A client of dask, on whose workers the layers run, each as a task; here if not given. The answer is the same.

    Returns
    -------
    Hunt
        A row a layer; the first layer that differs, and its cause. Before these, ``column`` names another runtime that
        gives every tensor of the device, if there is one: a library on another kind of CPU. An operator that qops does
        not have is a row that says "not checked"; the walk goes on behind it with its results in the dump.

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
    if unknown:
        raise unknown_keyword(debug, unknown)
    if is_ops(model):
        for name, value in {"float_model": float_model, "runtime": runtime, "client": client}.items():
            if value is not None:
                raise bad_value(name, f"expected none beside a list of ops, got {shown(value)}")
        with Progress() as progress:
            return debugged_ops(model, data, device, progress)
    graph = graph_of(model, "model", runtime, gaps=True)
    twin = None if float_model is None else graph_of(float_model, "float_model", gaps=True)
    if not (client is None or (hasattr(client, "submit") and hasattr(client, "scatter"))):
        raise bad_type("client", f"expected a client of dask, got {shown(client)}")
    steps = _steps(data, device)
    states, of_twin, so_far = States({}, {}, {}), dict[str, Any](), list[tuple[Arrays, Arrays]]()
    with Progress() as progress:
        path = Path(model) if isinstance(model, str | Path) else None
        at = Here() if client is None else Cluster(client)
        for step, (values, dump) in enumerate(steps):
            debugger = _Debugger(graph, path, values, dump, progress, states, so_far)
            found, so_far = debugger.hunt(twin, of_twin, at), debugger.steps
            if found.differs or step == len(steps) - 1:
                break
    if len(steps) > 1:
        which = "the first that differs" if found.differs else "the last; no step differs"
        found.notes.insert(0, f"step {step}, counted from 0, of {len(steps)}: {which}")
    elif graph.states and device is not None:
        found.notes.append(_ONE_STEP)
    return found


def _most(hazards: Sequence[str]) -> list[str]:
    """Give the layers that may saturate on the runtime, the first ones, and how many there are."""
    more = len(hazards) - _HAZARDS
    return [*hazards[:_HAZARDS], *([f"{more} more can lose sums so"] if more > 0 else [])]


def _steps(data: Any, device: Any) -> list[tuple[Any, Any]]:
    """Give data and dump of each step."""
    if not isinstance(device, list | tuple):
        return [(data, device)]
    if not device:
        raise bad_value("device", "expected a dump for each step, got an empty list")
    if data is None:
        return [(None, dump) for dump in device]
    if not isinstance(data, list | tuple) or len(data) != len(device):
        raise bad_value("data", f"expected a list of {len(device)}, one for each dump, got {shown(data)}")
    return list(zip(data, device, strict=True))


class _Debugger:
    """What is known of a device, and the inputs of the network."""

    def __init__(
        self,
        graph: Graph,
        path: Path | None,
        data: Any,
        device: Any,
        progress: Callable[[str], None],
        states: States,
        steps: list[tuple[Arrays, Arrays]],
    ) -> None:
        self.states, self.before = states, dict(states.whole)
        self.graph, self.path, self.progress, self.notes = graph, path, progress, list[str]()
        self.has_device = device is not None
        self.arrays = {} if device is None else tensors_of(device, "device")
        self.dumped, self.unknown = named(graph, self.arrays)
        self.never_written = never_written(graph, self.dumped)
        for name in self.never_written:
            del self.dumped[name]
        if self.never_written:
            self.notes.append(_NEVER_WRITTEN.format(len(self.never_written), self.never_written[0]))
        self.fed, self.wrong = self._inputs_of_the_dump()
        self.inputs = self._inputs(data)
        self.steps: list[tuple[Arrays, Arrays]] = [*steps, (self.inputs, self.dumped)]
        self.column: ColumnFound | None = None
        self.notes += [f"no tensor of the model is called {key!r}" for key in self.unknown[:5]]
        self.notes += _most(graph.hazards)

    def _inputs_of_the_dump(self) -> tuple[Arrays, dict[str, Wrong]]:
        """Give the inputs that the device had, in the shapes of the graph, and what is wrong with their layout."""
        fed: Arrays = {}
        wrong: dict[str, Wrong] = {}
        for name in self.graph.inputs:
            if name in self.dumped:
                array = self.dumped[name]
                shape = batch_shape(array, self.graph.tensors[name].shape, f"device[{name!r}]")
                fed[name], fault = as_wanted(array, np.zeros(shape, array.dtype))
                if fault is not None:
                    wrong[name] = fault
        return fed, wrong

    def _inputs(self, data: Any) -> Arrays:
        """Give the inputs of the whole network."""
        graph = self.graph
        if data is None:
            if self.has_device:
                for name in graph.inputs:
                    if name not in self.fed:
                        raise bad_value("data", f"missing, and the dump has no tensor {name!r}, which the device read")
                return self.fed
            self.notes.append(_NOISE)
            return noise(graph)
        if not isinstance(data, Mapping | str | Path):
            return graph.inputs_of(data, "data")
        found = tensors_of(data, "data")
        if len(found) == 1 and len(graph.inputs) == 1 and isinstance(data, str | Path):
            found = dict.fromkeys(graph.inputs, next(iter(found.values())))
        for name, value in found.items():
            tensor = graph.tensors.get(name)
            if tensor is not None and tensor.scale is not None and value.dtype.kind == "f":
                found[name] = tensor.codes(value)
        return graph.inputs_of(found, "data")

    def hunt(self, twin: Graph | None, of_twin: dict[str, Any], at: Here | Cluster) -> Hunt:
        """Walk the layers. `of_twin` has the states of the float model, and is changed."""
        graph = self.graph
        real = None
        if twin is not None:
            self.progress("running the float model")
            values = {name: graph.tensors[name].values(x) for name, x in self.inputs.items()}
            real = matched(graph, twin, values, of_twin)
            self.notes += unmatched(graph, real)
        rows: list[LayerRow] = []
        first, case = self._unlike_inputs(), None
        worst: WalkedLayer | None = None
        differing: WalkedLayer | None = None
        for layer in walk(graph, self.inputs, {**self.inputs, **self.fed}, self.dumped, real, at, self.states):
            row = layer.result.row
            rows.append(row)
            self.progress(f"{len(rows)} of {len(graph.ops)} layers: {row.name}")
            if layer.badness > (worst.badness if worst is not None else (0.0, 0.0)):
                worst = layer
            if first is None and self.has_device:
                first, case = self._judged(layer)
                differing = layer if first is not None and row.differ and case is not None else None
        missing = [row.output for row in rows if row.differ is None and row.unchecked is None]
        missing = [name for name in missing if name not in self.never_written]
        self.notes += [f"{row.unchecked}: {row.rule}" for row in rows if row.unchecked and row.rule]
        if self.has_device and missing:
            self.notes.append(f"{len(missing)} of {len(rows)} results are not in the dump, the first {missing[0]!r}")
        if first is None:
            first = _inherited(rows)
        far, unlike = (None if layer is None else layer.off() for layer in (worst, differing))
        return Hunt(graph.name, rows, first, self.notes, case, far, unlike, self.column)

    def _judged(self, layer: WalkedLayer) -> tuple[First | None, Case | None]:
        """Say whether a layer differs, and why."""
        row, wrong = layer.result.row, layer.result.wrong
        if row.unchecked:
            return None, None
        if row.differ is None:
            key = next((key for key in self.unknown if _are_same(self.arrays[key], layer.result)), None)
            if key is None:
                return None, None
            return First(row.name, row.output, f"the dump has it under another name, {key!r}", []), None
        if not row.differ:
            return None, None
        if wrong:
            return First(row.name, row.output, wrong.words, []), None
        case = layer.case()
        if case.op.states and not case.op.reads:
            return First(row.name, row.output, _OTHER_STATE.format(*case.op.states), []), case
        where = tuple(places_of(case))
        self.progress("other runtimes")
        column = self.column = column_of(self.graph, self.path, self.steps, row.output)
        cause = cause_of(case, self._tensors(row.output), self.progress)
        floats = self._floats_not_dumped(case)
        if floats and not cause.rules:
            cause = Cause(_FLOATS.format(floats[0]), [])
        if column is None:
            return First(row.name, row.output, *cause, where), case
        words = f"as the runtime {column.runtimes[0]!r} computes it{column.fused}"
        if cause.rules and not {*cause.rules} & {*column.runtimes}:
            words = cause.words if words in cause.words else f"{words}; in this layer: {cause.words}"
        rules = list(dict.fromkeys([*column.runtimes, *cause.rules]))
        return First(row.name, row.output, words, rules, where), case

    def _floats_not_dumped(self, case: Case) -> list[str]:
        """Name the floats that an op rounds to codes, where the dump lacks them and no code is off by more than 1."""
        if case.got.dtype.kind not in "iu" or np.abs(case.got.astype(np.int64) - case.wanted).max(initial=0) > 1:
            return []
        tensors = self.graph.tensors
        return [x for x in case.op.reads if tensors[x].dtype.startswith("float") and x not in self.dumped]

    def _tensors(self, output: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """Give all tensors of the whole network, and those of the dump that are not made of `output`."""
        made_of = {output}
        for op in self.graph.ops:
            if made_of & set(op.reads):
                made_of |= set(op.outputs)
        yield from ((name, array) for name, array in self.dumped.items() if name not in made_of)
        live = Live(self.graph.ops, self.inputs, states=dict(self.before))
        yield from self.inputs.items()
        for op in self.graph.ops:
            if op.gap or not live.has(op):
                made: Sequence[Any] = [self.dumped.get(name) for name in op.outputs]
            else:
                made = op.call(*live.read(op))
            live.write(op, made)
            results = zip(op.outputs, made, strict=False)
            yield from ((name, array) for name, array in results if array is not None and not op.gap)

    def _unlike_inputs(self) -> First | None:
        for name in self.fed:
            if name in self.wrong:
                return First("input", name, self.wrong[name].words, [])
            if not np.array_equal(self.fed[name], self.inputs[name]):
                return First("input", name, "the inputs differ already: the dump's input is not the data", [])
        return None


def _are_same(array: NDArray[Any], result: Any) -> bool:
    wanted, codes = result.wanted[result.place].reshape(-1), array.reshape(-1)
    return bool(np.unique(wanted).size > 1 and np.array_equal(codes, wanted))


def _inherited(rows: list[LayerRow]) -> First | None:
    """No layer alone differs, but the whole does: what the layer read differs already, where there is no dump of it."""
    for row in rows:
        if row.whole:
            return First(row.name, row.output, "inputs differ already: the layer itself gives the device's codes", [])
    return None

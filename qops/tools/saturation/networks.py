"""A model, looked at: all of its layers, and with data the results of the model on the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops._kernels.arrays.refusal import bad_value
from qops.models.argument import graph_of
from qops.models.graph import Graph
from qops.models.kinds import OPERATORS
from qops.models.lanes.read import counted, layers_of
from qops.models.lanes.route import NEON_TAPS, TFLITE_KERNELS, route
from qops.models.lanes.runtimes import Place, place_of
from qops.models.lanes.sums import Sums
from qops.models.live import Live
from qops.models.op import Op
from qops.onnx.runtimes import COLUMNS
from qops.tools.saturation.file_found import FileFound
from qops.tools.saturation.looked import looked_at
from qops.tools.saturation.report import Saturation
from qops.tools.saturation.report_layer import SaturationLayer
from qops.tools.saturation.result import result_there

__all__ = ["of_network"]


def of_network(what: Any, data: Any, machine: Any, runtime: str | None) -> Saturation:
    """Look at all layers of a model, and with data run it twice, exactly and as the machine does.

    Parameters
    ----------
    what : str, Path or Graph
    data : array_like, dict of str to array_like, or None
    machine : str, Machine or None
    runtime : str or None
        As `saturation` takes them.

    Returns
    -------
    Saturation

    Raises
    ------
    TypeError, ValueError, OSError
        What `saturation` refuses.
    """
    if isinstance(what, Graph):
        kind, known = "onnx" if what.runtime in COLUMNS else "tflite", what.runtime
        runtime = known if runtime is None and machine is None and known in _NARROW else runtime
    else:
        kind = "onnx" if Path(what).suffix == ".onnx" else "tflite"
    place = place_of(runtime, machine, kind)
    graph = _exact(what, place.exact)
    layers, unread = layers_of(graph.ops, graph.tensors, graph.runtime)
    layers, unread = _routed(layers, _with_pairs(graph, unread, place), place)
    taps = {name for name, sums in layers.items() if route(sums, place.machine, place.runtime).machine == NEON_TAPS}
    graph = replace(graph, ops=tuple(_exact_sums(op) if op.name in taps else op for op in graph.ops)) if taps else graph
    graph = replace(graph, ops=tuple(_by_exact_kernel(op) for op in graph.ops))
    if not layers and not unread:
        raise bad_value("what", f"{graph.name} has no layer that multiplies codes; a file with QDQ needs runtime 'ort'")
    told = Saturation(graph.name, place.machine.name, place.runtime, (), tuple(unread))
    if not isinstance(what, Graph):
        weights = {key: _weights(graph, key, sums) for key, sums in layers.items()}
        look = partial(of_network, machine=place.machine, runtime=place.runtime)
        told = replace(told, _file=FileFound(Path(what), graph.runtime, weights, data, look))
    if data is None:
        return replace(told, layers=tuple(looked_at(sums, place, None)[0] for sums in layers.values()))
    given = graph.inputs_of(data, "data")
    there, made = _run(graph, given, layers, place)
    exact = graph.run(given)
    outputs = {key: there.get(key, exact[key]) for key in graph.outputs}
    errors = {key: _difference(value, exact[key]) for key, value in outputs.items()}
    return replace(told, layers=made, outputs=outputs, errors=errors, exact=exact)


def _with_pairs(graph: Graph, unread: list[str], place: Place) -> list[str]:
    """Say of layers that are not read how many of their pairs can leave 16 bits, where the kernel there has such."""
    said = list(unread)
    for op in graph.ops:
        start = f"{op.name} ({op.kind}): "
        at = next((i for i, words in enumerate(said) if words.startswith(start)), None)
        if at is not None and op.remade is not None and place.runtime in TFLITE_KERNELS:
            words = counted(op.remade(place.runtime))
            said[at] = f"{start}{words}; its accumulator is not read" if words else said[at]
    return said


def _routed(layers: dict[str, Sums], unread: list[str], place: Place) -> tuple[dict[str, Sums], list[str]]:
    """Give the layers whose lanes are known, and in words those that are not read."""
    known, said = {}, [*unread]
    for name, sums in layers.items():
        try:
            route(sums, place.machine, place.runtime)
            known[name] = sums
        except ValueError as why:
            if getattr(why, "argument", None) != "runtime":
                raise
            said.append(f"{name} ({sums.kind}): {getattr(why, 'reason', why)}")
    return known, said


_NARROW = (
    *("ort_avx2", "ort_neon", "reference_arm", "optimized_arm", "optimized_neon", "xnnpack_arm", "xnnpack_neon"),
)


def _exact_sums(op: Op) -> Op:
    """Give a depthwise layer that loses nothing: no runtime has its rule with exact sums on ARM."""
    layer = op.layer
    if layer is None or layer.exact is None or layer.requantize is None:
        return op
    exact, requantize, bias = layer.exact, layer.requantize, layer.bias

    def call(x: NDArray[Any]) -> tuple[NDArray[Any]]:
        return (np.asarray(requantize(exact(x, bias).astype(np.int32))),)

    return replace(op, call=call, direct=None)


def _by_exact_kernel(op: Op) -> Op:
    """Give an op of 64-bit ARM by the kernel that loses nothing and else computes the same, if there is one."""
    kernel = OPERATORS[op.kind].exact_kernel if op.kind in OPERATORS else ""
    return op.remade(kernel) if kernel and op.remade is not None and op.runtime.endswith("_arm") else op


def _exact(what: Any, runtime: str) -> Graph:
    """Give the graph of a model whose sums are exact, with what else the runtime does."""
    if not isinstance(what, Graph):
        return graph_of(what, "what", runtime)
    if what.runtime not in _NARROW:
        return what
    ops = tuple(op if op.remade is None else op.remade(runtime) for op in what.ops)
    return replace(what, ops=ops, runtime=runtime, hazards=())


def _weights(graph: Graph, name: str, sums: Sums) -> str:
    """Give the name of the tensor with the weights of a layer."""
    (op,) = (op for op in graph.ops if op.name == name)
    constants = ((key, graph.tensors[key].data) for key in op.inputs if key in graph.tensors)
    shape = sums.weights.size, sums.weights.dtype
    return next(key for key, data in constants if data is not None and (data.size, data.dtype) == shape)


def _run(
    graph: Graph, given: dict[str, NDArray[Any]], layers: dict[str, Sums], place: Place
) -> tuple[dict[str, Any], tuple[SaturationLayer, ...]]:
    """Run a model as the machine does, layer by layer."""
    live, told = Live(graph.ops, given, keep=graph.outputs), []
    is_column = place.runtime in TFLITE_KERNELS
    for op in graph.ops:
        x = live.read(op)
        there = op.remade(place.runtime) if is_column and op.remade is not None and op.name not in layers else op
        y = there.call(*x)
        if op.name in layers:
            layer, made = _ran(op, layers[op.name], place, x, y[0])
            told.append(layer)
            y = (made, *y[1:])
        live.write(op, y)
    return live.values, tuple(told)


def _ran(
    op: Op, sums: Sums, place: Place, given: Sequence[NDArray[Any]], y: NDArray[Any]
) -> tuple[SaturationLayer, NDArray[Any]]:
    """Give the report of a layer, and its result on the machine."""
    x = codes_of_x = given[0]
    if op.with_zero is not None:
        sums = replace(sums, x_zero=int(given[1].reshape(())))
    if x.dtype.kind == "f":
        dynamic = onnx.dynamic_quantize_linear(x, runtime="ort")
        codes_of_x, sums = dynamic.y, replace(sums, x_zero=int(dynamic.y_zero_point))
    layer, found = looked_at(sums, place, codes_of_x)
    assert found is not None
    stage = None if op.layer is None else op.layer.requantize
    made = result_there(op.prepared, sums, found, x, y, stage)
    if made is None:
        raise bad_value("data", f"it is not known how {op.name} ({op.kind}) goes on from its sums; give no data")
    if y.dtype.kind in "iu" and layer.seen is not None:
        apart = np.abs(made.astype(np.int64) - y.astype(np.int64))
        mean = float(apart.mean()) if apart.size else 0.0
        count, largest = int(np.count_nonzero(apart)), int(apart.max(initial=0))
        layer = replace(layer, seen=layer.seen._replace(codes=count, code=largest, mean_code=mean))
    return layer, made


def _difference(got: NDArray[Any], exact: NDArray[Any]) -> float:
    return float(np.abs(got.astype(np.float64) - exact.astype(np.float64)).max(initial=0.0))

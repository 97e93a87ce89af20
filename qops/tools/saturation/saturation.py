"""saturation: whether the sums of a layer or of a network fit the lanes and the accumulators of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import codes, onnx
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, int32, shown
from qops.isa.machines import Machine
from qops.models.argument import graph_of
from qops.models.graph import Graph
from qops.models.lanes.read import layers_of
from qops.models.lanes.route import Route, route
from qops.models.lanes.runtimes import Place, place_of
from qops.models.lanes.sums import MADE, Sums, of_prepared, type_of
from qops.models.lanes.worst import accumulator, worst
from qops.models.live import Live
from qops.models.op import Op
from qops.onnx.runtimes import COLUMNS
from qops.tools.saturation import front
from qops.tools.saturation.file_found import FileFound
from qops.tools.saturation.report import Saturation, SaturationLayer
from qops.tools.saturation.seen import Found, measured, result_there

__all__ = ["saturation"]

_CODES = ("uint8", "int8", "int16")


@refusing_unknown
def saturation(
    what: str | Path | Graph | Any,
    data: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    machine: str | Machine | None = None,
    runtime: str | None = None,
    ends: tuple[int, int] | None = None,
    **unknown: Never,
) -> Saturation:
    """Tell whether sums of products saturate or overflow on a machine: for every input, and for data.

    A lane of the machine adds a group of products. With codes x in [lo, hi], the sums of a group with weights w lie
    between ``sum(min(w * lo, w * hi))`` and ``sum(max(w * lo, w * hi))``, and inputs meet both ends. A layer is safe if
    all of these fit the lane, and if the sums of all products, less the zero points and with the bias, fit the
    accumulator. If a lane is not safe, the report has an input that saturates.

    Parameters
    ----------
    what : str, Path, Graph, prepared layer, or ndarray
        A model file; a graph of `qops.models.load`; a layer such as `qops.MatMul`, `qops.onnx.QLinearConv` or
        `qops.tflite.Conv2D`; or weights of 8 bits: (outputs, k), or (outputs, channels, taps...), one group of filters.
    data : array_like, or dict of str to array_like, optional
        What the model or the layer reads, as `Graph.run` takes it. For weights, codes (rows, k).
    machine : str or Machine, optional
        A name of `qops.isa.MACHINES`, or the lanes of a kernel of your own. By default "avx2"; for TFLite "s32".
    runtime : {"ort", "fbgemm", "openvino", "tflite", "plain"}, optional
        Whose order of codes along k, and whose narrow and wide kernels. "plain" uses the lanes of the machine for each
        layer, taps before channels, and moves codes of 8 bits to its types by 128. By default "ort" for what is of
        ONNX, "tflite" for what is of TFLite where no `machine` is given, and else "plain".
    ends : (int, int), optional
        For weights and layers: the lowest and the highest code of the data, padding included. By default those of the
        type.

    Returns
    -------
    Saturation
        ``print`` shows a table. ``.safe``, ``.layers`` and ``.as_dict()`` say it to programs.

    Raises
    ------
    TypeError, ValueError
        Another `what`, `machine` or `runtime`; a machine on which a runtime is not known, or that multiplies other
        types; a model without layers of codes; data that do not fit.
    OSError
        A file that cannot be opened.

    See Also
    --------
    qops.safe_products : how many products a lane of a hand-written kernel holds.
    qops.isa.Machine : lanes of a machine of your own.

    Notes
    -----
    onnxruntime and fbgemm order the codes of a convolution as (kernel height, kernel width, channels), so pairs cross
    from one tap to the next when the channels are odd, and padding takes part with the code of its zero point.
    OpenVINO, and TensorFlow with oneDNN, begin a pair at each tap. ConvInteger of onnxruntime is
    safe for uint8 images; for int8 images with uint8 weights it swaps the roles. A window is taken to lie inside of the
    image somewhere.

    **Hazards.** Weights with a scale for each channel have a code of 127 in each channel, and are often unsafe:

    >>> found = qops.saturation(np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8))
    >>> found.safe, found.layers[0].channels.tolist(), found.layers[0].witness.there
    (False, [0], 32767)

    Data of 7 bits are safe with any weights of 8 bits:

    >>> qops.saturation(np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8), ends=(0, 127)).safe
    True

    Examples
    --------
    >>> print(qops.saturation(
    ...     np.array([[127, 1, 127, 127], [64, 64, -64, 127]], np.int8), np.array([[9, 9, 200, 90]], np.uint8)
    ... ))
    weights on avx2, plain: 1 of 1 layers can saturate or overflow
      layer    lanes          unsafe  channels  may lose  bits   wrong  lost  codes
      weights  pairs along k     1/4         1     32003    18  50.00%  4063
    """
    if unknown:
        raise unknown_keyword(saturation, unknown)
    if isinstance(what, str | Path | Graph):
        if ends is not None:
            raise bad_value("ends", f"a model has its own, got {shown(ends)}")
        return _of_graph(what, data, machine, runtime)
    is_tflite = type(what).__module__.startswith("qops.tflite")
    kind = "tflite" if is_tflite else "onnx" if type(what).__module__.startswith("qops.onnx") else ""
    place = place_of(runtime, machine, kind)
    x_type = place.machine.left if data is None or isinstance(data, Mapping) else type_of(_codes_of(data, "data").dtype)
    found = _sums_of(what, x_type)
    if ends is not None:
        found = replace(found, x_ends=_given_ends(ends, found))
    found = replace(found, name=found.name or found.kind)
    layer, _ = _layer(found, place, None if data is None else _codes_of(data, "data"))
    return Saturation(found.name, place.machine.name, place.runtime, (layer,))


def _codes_of(x: Any, name: str) -> NDArray[Any]:
    found = as_array(getattr(x, "data", x) if hasattr(x, "zero_point") else x, name)
    if found.dtype.name not in _CODES:
        raise bad_type(name, f"expected codes of {', '.join(_CODES)}, got {found.dtype}")
    return found


def _given_ends(ends: Any, found: Sums) -> tuple[int, int]:
    row = codes.TABLE[found.x_type]
    try:
        lo, hi = ends
    except (TypeError, ValueError):
        raise bad_type("ends", f"expected two codes, got {shown(ends)}") from None
    lo, hi = (int32(end, "ends", row.lowest, row.highest) for end in (lo, hi))
    if lo > hi:
        raise bad_value("ends", f"{lo} > {hi}")
    return lo, hi


def _sums_of(what: Any, x_type: str) -> Sums:
    """Give the sums of a prepared layer or of weights."""
    if type(what) in MADE:
        found = of_prepared(what, x_type)
        assert found is not None
        return found
    if type(what) in front.MADE:
        return front.MADE[type(what)](what, x_type)
    if not isinstance(what, np.ndarray):
        known = ", ".join(kind.__name__ for kind in (*MADE, *front.MADE))
        raise bad_type("what", f"expected a model, a graph, weights, or one of {known}; got {shown(what)}")
    what = as_array(what, "what")
    if what.dtype.name not in ("int8", "uint8"):
        raise bad_type("what", f"expected weights of int8 or uint8, got {what.dtype}")
    if what.ndim < 2 or not what.size:
        raise bad_value("what", f"expected weights (outputs, k) or (outputs, channels, taps...), got {what.shape}")
    cells = what.reshape(1, *what.shape[:2], -1)
    row = codes.TABLE[x_type]
    return Sums("weights", "weights", cells, x_type, (row.lowest, row.highest), is_convolution=what.ndim > 2)


def _layer(sums: Sums, place: Place, x: NDArray[Any] | None) -> tuple[SaturationLayer, Found | None]:
    """Give the report of one layer, and with data its sums."""
    how = route(sums, place.machine, place.runtime)
    bad, acc = worst(sums, how), accumulator(sums, how)
    layer = SaturationLayer(
        *(sums.name, sums.kind, _told(how), bad.unsafe.size, int(np.count_nonzero(bad.unsafe))),
        *(np.flatnonzero(bad.unsafe.any(axis=1)), bad.loss, bad.witness, acc),
        unsafe=bad.unsafe,
        _sums=sums,
        _route=how,
    )
    if x is None:
        return layer, None
    if sums.window is None and (sums.is_convolution or not x.ndim or x.size % sums.length):
        if sums.is_convolution:
            raise bad_value("data", "filters alone do not say how windows move; give a prepared layer")
        raise bad_value("data", f"expected rows of {sums.length} codes, got shape {x.shape}")
    if type_of(x.dtype) != ("s8" if sums.as_uint8 else sums.x_type):
        raise bad_type("data", f"expected {sums.x_type}, got {x.dtype}")
    found = measured(sums, how, bad.unsafe, x, acc.has)
    return replace(layer, seen=found.seen), found


def _told(how: Route) -> str:
    if how.why:
        return how.why
    group = {0: "all", 2: "pairs"}.get(how.machine.group, f"groups of {how.machine.group}")
    return f"{group} along {how.order}"


def _of_graph(what: Any, data: Any, machine: Any, runtime: str | None) -> Saturation:
    """Look at all layers of a model, and with data run it twice, exactly and as the machine does."""
    if isinstance(what, Graph):
        kind, known = "onnx" if what.runtime in COLUMNS else "tflite", what.runtime
        runtime = known if runtime is None and machine is None and known in _NARROW else runtime
    else:
        kind = "onnx" if Path(what).suffix == ".onnx" else "tflite"
    place = place_of(runtime, machine, kind)
    graph = _exact(what, place.exact)
    layers, unread = layers_of(graph.ops, graph.tensors, graph.runtime)
    if not layers and not unread:
        raise bad_value("what", f"{graph.name} has no layer that multiplies codes; a file with QDQ needs runtime 'ort'")
    told = Saturation(graph.name, place.machine.name, place.runtime, (), tuple(unread))
    if not isinstance(what, Graph):
        weights = {key: _weights(graph, key, sums) for key, sums in layers.items()}
        look = partial(_of_graph, machine=place.machine, runtime=place.runtime)
        told = replace(told, _file=FileFound(Path(what), graph.runtime, weights, data, look))
    if data is None:
        return replace(told, layers=tuple(_layer(sums, place, None)[0] for sums in layers.values()))
    given = graph.inputs_of(data, "data")
    there, made = _run(graph, given, layers, place)
    exact = graph.run(given)
    outputs = {key: there.get(key, exact[key]) for key in graph.outputs}
    errors = {key: _difference(value, exact[key]) for key, value in outputs.items()}
    return replace(told, layers=made, outputs=outputs, errors=errors, exact=exact)


_NARROW = ("ort_avx2", "ort_neon", "optimized_neon", "xnnpack_neon")


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
    for op in graph.ops:
        x = live.read(op)
        y = op.call(*x)
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
    layer, found = _layer(sums, place, codes_of_x)
    assert found is not None
    stage = None if op.layer is None else op.layer.requantize
    made = result_there(op.prepared, sums, found, x, y, stage)
    if made is None:
        raise bad_value("data", f"it is not known how {op.name} ({op.kind}) goes on from its sums; give no data")
    if y.dtype.kind in "iu" and layer.seen is not None:
        apart = np.abs(made.astype(np.int64) - y.astype(np.int64))
        seen = layer.seen._replace(codes=int(np.count_nonzero(apart)), code=int(apart.max(initial=0)))
        layer = replace(layer, seen=seen)
    return layer, made


def _difference(got: NDArray[Any], exact: NDArray[Any]) -> float:
    return float(np.abs(got.astype(np.float64) - exact.astype(np.float64)).max(initial=0.0))

"""The constants of a layer under the names and with the signs of the system that it is ported to, and its C."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.checks import choice
from qops.models import Graph, Op
from qops.models.kinds import OPERATORS, kind_named
from qops.models.target import PORTS, PortedLayer, Target
from qops.models.tflite.writer import packed_int4

__all__ = ["ported"]


def ported(op: Op, graph: Graph, port: str, name: str) -> PortedLayer:
    """Give the constants of an op.

    Parameters
    ----------
    op : Op
        Made for the runtime of the port.
    graph : Graph
        Where it stands.
    port : str
        One of `PORTS`.
    name : str
        Its name in C.

    Returns
    -------
    PortedLayer
    """
    target = PORTS[choice(port, "port", PORTS)]
    made = _with_code(PortedLayer(name, op.kind, [], {}, gap=op.gap), op, graph, target)
    extra = _sizes(op, graph) | _packed(op, graph, port)
    reads, writes = (tuple(graph.tensors[t] for t in names) for names in (op.inputs, op.outputs))
    return made._replace(constants={**made.constants, **extra}, reads=reads, writes=writes)


def _with_code(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Give what is particular to the kind of an op, or else the integers that it has.

    A port computes what is made of constants alone once, so that has no code.
    """
    has_code = bool(op.reads or op.states) and not op.gap and not _is_of_floats(op, graph)
    code = kind_named(op.kind).code if has_code else None
    found: PortedLayer | None = None if code is None else code(made, op, graph, target)
    if found is not None:
        return found
    integers = getattr(op.prepared, "integers", None) or {}
    return made._replace(constants={key: v for key, v in integers.items() if not isinstance(v, str)})


def _is_of_floats(op: Op, graph: Graph) -> bool:
    """Whether an op of TFLite reads and writes floats alone: it has no integers, and a port takes it from a library."""
    ends = [graph.tensors[name] for name in (*op.inputs[:1], *op.outputs[:1])]
    return op.kind in OPERATORS and op.prepared is None and op.rule == "float32" and all(t.scale is None for t in ends)


def _sizes(op: Op, graph: Graph) -> dict[str, Any]:
    """Give sizes of images, and how windows move over them."""
    windows = getattr(op.prepared, "windows", None)
    if windows is None or not op.reads or len(graph.tensors[op.outputs[0]].shape) != len("nhwc"):
        return {}
    is_first = op.layer is not None and op.layer.requantize is not None and op.layer.requantize.axis == 1
    x, y = (tuple(n or 1 for n in graph.tensors[name].shape) for name in (op.reads[0], op.outputs[0]))
    named, axes = (("input", x), ("output", y)), "nchw" if is_first else "nhwc"
    sizes = {f"{which}_{axis}": n for which, shape in named for axis, n in zip(axes, shape, strict=True)}
    return sizes | windows(x)


def _packed(op: Op, graph: Graph, port: str) -> dict[str, NDArray[Any]]:
    """Give weights and biases as a port wants them packed, and sums of weights where it takes them."""
    layer = op.layer
    if layer is None or layer.weights is None:
        return {}
    found: dict[str, NDArray[Any]] = {}
    w = layer.weights.astype(np.int64) - layer.w_zero_point
    tensors = [graph.tensors[name] for name in op.inputs]
    if port == "cmsis-nn" and any(t.dtype == "int4" for t in tensors):
        found["packed_weights"] = packed_int4(layer.weights)
    outputs = layer.channel % w.ndim
    sums = w.sum(tuple(axis for axis in range(w.ndim) if axis != outputs))
    bias = 0 if layer.bias is None else layer.bias.reshape(-1).astype(np.int64)
    moved = bias - layer.x_zero_point * sums
    if np.abs(moved).max(initial=0) >= 2**31:
        return found
    if port in kind_named(op.kind).sums_for:
        found |= {"kernel_sums": sums.astype(np.int32), "kernel_sums_with_bias": moved.astype(np.int32)}
    elif port == "xnnpack":
        found |= {"kernel_sums": sums.astype(np.int32), "packed_bias": moved.astype(np.int32)}
    return found

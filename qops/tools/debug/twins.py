"""Matches the tensors of a quantized network with those of the float network that it was made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models import Graph, Op
from qops.models.kinds import kind_named

__all__ = ["matched", "unmatched"]

Arrays = Mapping[str, NDArray[Any]]
_ADDED = (  # what onnxruntime's quantizers put behind the name of a tensor
    "_QuantizeLinear_Output",
    "_DequantizeLinear_Output",
    "_QuantizeLinear_Input",
    "_QuantizeLinear",
    "_DequantizeLinear",
    "_quantized",
    "_output_quantized",
)


def matched(graph: Graph, twin: Graph, values: Arrays, states: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Run a float model; tensors belong together by their names, or by their places if all ops are the same.

    Names may have what `quantize_static` of onnxruntime adds to them. Where it removed a ReLU, the codes before it
    stand for the values behind it.

    Parameters
    ----------
    graph, twin : Graph
        The model and the float model.
    values : dict of str to ndarray
        Real values of the model's inputs, in their order.
    states : dict of str to ndarray
        What the float model keeps from the step before; it is changed.

    Returns
    -------
    dict of str to ndarray
        Real values by the names of the model's tensors.

    Raises
    ------
    ValueError
        Another number of inputs, or a tensor of other shape.
    """
    if len(twin.inputs) != len(graph.inputs):
        raise bad_value("float_model", f"{twin.name} has {len(twin.inputs)} inputs, {graph.name} {len(graph.inputs)}")
    inputs = dict(zip(twin.inputs, (values[name] for name in graph.inputs), strict=True))
    run = twin.real(inputs, keep="all", states=states)
    found = {}
    for name in graph.tensors:
        other = _name_in(run, name)
        if other is not None:
            found[name] = run[_behind_removed(graph, twin, other)]
    found |= _of_the_same_op(graph, twin, run)
    ours, theirs = ([op for op in g.ops if not kind_named(op.kind).recodes] for g in (graph, twin))
    if [op.kind for op in ours] == [op.kind for op in theirs]:
        for a, b in zip(ours, theirs, strict=True):
            for name, other in zip(a.outputs, b.outputs, strict=True):
                found.setdefault(name, run[other])
    return found


def _of_the_same_op(graph: Graph, twin: Graph, run: Arrays) -> dict[str, NDArray[Any]]:
    """Match the results of float ops by the names of the ops.

    Where a ReLU was removed, what the op before it makes has the name of the ReLU's result.
    """
    ops = {(op.name, op.kind): op for op in twin.ops if not kind_named(op.kind).recodes}
    both = [(op, ops[op.name, op.kind]) for op in graph.ops if (op.name, op.kind) in ops]
    return {
        name: run[other]
        for op, same in both
        for name, other in zip(op.outputs, same.outputs, strict=False)
        if graph.tensors[name].scale is None and other in run
    }


def _name_in(names: Iterable[str] | Arrays, name: str) -> str | None:
    """Give the name of the float model that a name was made of; None if there is none."""
    if name in names:
        return name
    for added in _ADDED:
        if name.endswith(added) and name.removesuffix(added) in names:
            return name.removesuffix(added)
    return None


def _behind_removed(graph: Graph, twin: Graph, name: str) -> str:
    """Give the tensor behind the activations that read this one alone, and that the quantized model does not have."""
    names = [name for op in twin.ops for name in op.outputs[:1]] + list(twin.inputs)
    while True:
        readers = [op for op in twin.ops if name in op.reads]
        if len(readers) != 1 or not kind_named(readers[0].kind).clamps or _has(graph, readers[0], names):
            return name
        name = readers[0].outputs[0]


def _has(graph: Graph, op: Op, names: Iterable[str]) -> bool:
    """Whether the quantized model has an activation of the float model, or its result under the name of its own."""
    source, made = op.reads[0], op.outputs[0]
    for other in graph.ops:
        if other.kind == op.kind and _name_in(names, other.reads[0]) == source:
            return True
        if not kind_named(other.kind).recodes and any(_name_in(names, name) == made for name in other.outputs):
            return True
    return False


def unmatched(graph: Graph, found: Arrays) -> list[str]:
    """Say which results have no tensor in the float model.

    Parameters
    ----------
    graph : Graph
        The model.
    found : dict of str to ndarray
        What `matched` gave.

    Returns
    -------
    list of str
        A note, or nothing.
    """
    missing = [name for op in graph.ops for name in op.outputs[:1] if name not in found]
    if not missing:
        return []
    few = ", ".join(repr(name) for name in missing[:3])
    return [f"{len(missing)} of {len(graph.ops)} results have no tensor in the float model: {few}"]

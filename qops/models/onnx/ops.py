"""Makes an op of a graph of each node of an .onnx file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.checks import choice
from qops.models.onnx.alone import alone
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import Spec, constant, with_scales
from qops.models.onnx.kinds import KINDS, OWN_DOMAIN, kind_of, spec_of
from qops.models.onnx.layers import layer_of
from qops.models.onnx.make import as_run, made_of, rule_of
from qops.models.onnx.site import NodeRunner, PlacedNode
from qops.models.op import Layer, Missing, Op
from qops.models.tensor import Tensor
from qops.onnx.runtimes import RUNTIMES

__all__ = ["op_of", "with_scales_of"]

Arrays = tuple[NDArray[Any], ...]
Given = Sequence[Any]


def op_of(node: Node, tensors: dict[str, Tensor], runtime: str) -> Op:
    """Make the op of one node.

    Parameters
    ----------
    node : Node
        A node of the file, or one that onnxruntime makes of several.
    tensors : dict of str to Tensor
        The tensors that the node reads and writes.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The runtime whose bits the op gives.

    Returns
    -------
    Op

    Raises
    ------
    Missing
        A node, or a form of it, that qops does not have.
    ValueError
        Another runtime.
    """
    choice(runtime, "runtime", RUNTIMES)
    if isinstance(node.get("gap"), str):  # a fusion that is not modelled
        raise Missing(node.get("gap"))
    for name, value in node.attributes.items():
        if value is None and node.kind in KINDS:
            raise Missing(f"its attribute {name!r} is a subgraph, or of another type that qops does not read")
    outputs = tuple(name for name in node.outputs if name)
    if not outputs:
        raise Missing("it has no result")
    own = {name: tensors[name] for name in (*node.inputs, *outputs) if name in tensors}
    reads = tuple(dict.fromkeys(name for name in node.inputs if name and own[name].data is None))
    site = PlacedNode(as_run(node, runtime), own, runtime)
    try:
        made, real, rule = _run_and_rule(site)
        layer = layer_of(site, made.prepared)
    except (ValueError, TypeError, KeyError, IndexError, OverflowError) as why:
        raise Missing(str(why)) from why
    inputs = tuple(name for name in node.inputs if name)
    return Op(
        node.name,
        node.kind,
        inputs,
        outputs,
        reads,
        _call(site, reads, made.run, [own[name].data for name in node.inputs if name]),
        real=None if real is None else _call(site, reads, real, _values(site)),
        rule=rule,
        layer=layer,
        remade=partial(op_of, node, own),
        prepared=made.prepared if made.is_own else None,
        on_uint8=None if made.is_own else made.prepared,
        with_zero=made.with_zero,
        alone=partial(alone, as_run(node, runtime), own, reads),
        runtime=runtime,
        axis=_channels(node, layer),
        direct=made.direct if len(outputs) == 1 and reads == tuple(node.inputs[:1]) else None,
        is_threaded=made.direct is not None,
    )


def _channels(node: Node, layer: Layer | None) -> int:
    """Give which axis of the results has the channels: as the prepared op of a layer says, or that of images."""
    if layer is not None and layer.requantize is not None:
        axis: int = layer.requantize.axis
        return axis
    return -1 if node.get("channels_last", 0) else 1


def _call(
    site: PlacedNode, reads: Sequence[str], run: Callable[[Given], Any], constants: Sequence[Any]
) -> Callable[..., Arrays]:
    """Give a function of the tensors that a node reads, which fills in the constants."""
    fixed = dict(zip((name for name in site.node.inputs if name), constants, strict=True))
    wanted = [bool(name) for name in site.node.outputs]

    def call(*arrays: NDArray[Any]) -> Arrays:
        given = {**fixed, **dict(zip(reads, arrays, strict=True))}
        taken = [given[name] if name else None for name in site.node.inputs]
        try:
            with np.errstate(all="ignore"):
                made = run(taken)
        except AttributeError as why:
            if all(x is not None for x in taken):
                raise
            raise ValueError("an input that it needs is left out") from why
        each = made if isinstance(made, tuple) else (made,)
        if any(wanted[len(each) :]):
            raise ValueError(f"it has {len(wanted)} results, where the operator gives {len(each)}")
        return tuple(np.asarray(y) for y, is_wanted in zip(each, wanted, strict=False) if is_wanted)

    return call


def _values(site: PlacedNode) -> list[Any]:
    """Give the constants in real numbers. A bias of integers has the scale of the sums."""
    spec, found = spec_of(site.node), []
    for place, name in enumerate(site.node.inputs):
        if not name:
            continue
        tensor = site.tensors[name]
        if tensor.data is None or tensor.data.dtype.kind not in "iuf":
            found.append(tensor.data)
        elif spec is not None and spec.bias == place:
            found.append(tensor.data * _scale_of_sums(site, spec))
        else:
            found.append(tensor.values(tensor.data))
    return found


def _scale_of_sums(site: PlacedNode, spec: Spec) -> Any:
    scale: Any = np.float64(site.node.get("alpha", 1.0))
    for codes in spec.of:
        part = site.constant(codes.scale)
        scale = scale * (1.0 if part is None else part.astype(np.float64))
    return np.asarray(scale).reshape(-1) if np.size(scale) > 1 else float(np.ravel(scale)[0])


def _run_and_rule(site: PlacedNode) -> tuple[NodeRunner, Callable[[Given], Any] | None, str]:
    """Give what runs a node on codes, what it does in real numbers, and whose bits these are."""
    node, row = site.node, kind_of(site.node)
    domain = OWN_DOMAIN if row.is_own else ""
    reads_codes = site.is_given(0) and site.tensors[node.inputs[0]].dtype in ("uint8", "int8")
    if node.domain != domain and not (row.recodes and node.domain == OWN_DOMAIN):
        raise Missing(f"qops has no such operator of {node.domain!r}")
    if row.results and any(node.outputs[row.results :]) and node.kind in KINDS:
        raise Missing(f"it has {len(node.outputs)} results, where qops gives {row.results}")
    if row.check is not None:
        row.check(site)
    if row.make is not None or (row.function is not None and (row.real is None or reads_codes)):
        made = made_of(site)
        return made, _real(site), rule_of(site, made.prepared)
    if row.moves is not None:
        run = partial(row.moves, node)
        return NodeRunner(run), run, row.rule
    if row.real is not None:
        return NodeRunner(partial(_in_float32, site)), partial(row.real, node), "float32"
    raise Missing("qops has no such operator")


def _in_float32(site: PlacedNode, given: Given) -> Any:
    """Compute in double, and round what is made of floats once, to their type; data of integers keep theirs."""
    real = kind_of(site.node).real
    assert real is not None
    floats = [x.dtype for x in given if x is not None and x.dtype.kind == "f"]
    wide = [x.astype(np.float64) if x is not None and x.dtype.kind == "f" else x for x in given]
    made = real(site.node, wide)
    is_float = floats and (given[0] is None or given[0].dtype.kind not in "iu")
    return np.asarray(made).astype(floats[0] if is_float else given[0].dtype)


def _real(site: PlacedNode) -> Callable[[Given], Any] | None:
    """Give a quantized node in real numbers. Where real 0 is the lowest code, the quantizer has folded a ReLU in it."""
    node, spec, row = site.node, spec_of(site.node), kind_of(site.node)
    if row.real is not None:
        return partial(row.real, node)
    if spec is None or not (spec.real or row.recodes):
        return None
    places = [codes.tensor for codes in spec.of] or [0]
    other = KINDS[spec.real or "Identity"]
    function, last, floor = other.real or other.moves, node.get("channels_last", 0), _floor(site, spec)
    assert function is not None

    def real(given: Given) -> Any:
        taken = [given[i] for i in places]
        if spec.bias is not None and spec.bias < len(given):
            taken.append(given[spec.bias])
        if last:
            taken[0] = np.moveaxis(taken[0], -1, 1)
        made = function(node, taken)
        if spec.addend is not None and len(given) > spec.addend and given[spec.addend] is not None:
            made = made + given[spec.addend]
        made = np.moveaxis(made, 1, -1) if last else made
        return made if floor is None else np.maximum(made, floor)

    return real


def _floor(site: PlacedNode, spec: Spec) -> float | None:
    """0 if the zero point of the result is the lowest code."""
    if spec.y is None:
        return None
    zero, name = site.constant(spec.y[1]), site.node.outputs[0]
    if zero is None or zero.dtype.kind not in "iu" or zero.size != 1:
        is_lowest = not site.is_given(spec.y[1]) and site.tensors[name].dtype == "uint8"
    else:
        is_lowest = int(zero.reshape(())) == np.iinfo(zero.dtype).min
    return 0.0 if is_lowest else None


def with_scales_of(nodes: Sequence[Node], tensors: dict[str, Tensor]) -> None:
    """Note on inputs and constants what the nodes that read them say of their codes.

    Parameters
    ----------
    nodes : sequence of Node
    tensors : dict of str to Tensor
        A tensor that gets scales is replaced in it.
    """
    for node in nodes:
        spec = spec_of(node)
        for codes in spec.of if spec is not None else ():
            name = node.inputs[codes.tensor] if codes.tensor < len(node.inputs) else ""
            if name in tensors:
                scale, zero = (constant(tensors, node, place) for place in (codes.scale, codes.zero_point))
                tensors[name] = with_scales(tensors[name], scale, zero, codes.axis)

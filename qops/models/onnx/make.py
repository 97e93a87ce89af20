"""Makes what runs a quantized node: the function of `qops.onnx`, or its prepared op where all but data is constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.codes import CASTS
from qops.models.onnx.file import Node, name_of_type
from qops.models.onnx.kinds import kind_of, spec_of
from qops.models.onnx.site import Given, NodeRunner, PlacedNode, Run, own_runtime
from qops.models.op import Missing, takes_threads
from qops.onnx.runtimes import COLUMNS

__all__ = ["as_run", "as_uint8", "made_of", "rule_of"]

_MOST_STEPS = 2**20  # of padding, strides and dilations


def made_of(site: PlacedNode) -> NodeRunner:
    """Make what runs a quantized node.

    Raises
    ------
    Missing, ValueError, TypeError
        What qops does not have, or refuses.
    """
    node, row = site.node, kind_of(site.node)
    if row.make is not None:
        made: NodeRunner = row.make(site)
        return made
    if len(node.inputs) > row.count:
        raise Missing(f"it has {len(node.inputs)} inputs, where {row.count} are known")
    attributes = _attributes(node, row.attributes) | ({"runtime": _runtime(site)} if row.has_runtime else {})
    if row.implied is not None:
        attributes = row.implied(site, attributes)
    flipped = _flipped(node) if node.get("as_uint8") else frozenset[int]()
    function, others = row.function, [i for i in range(row.count) if i not in row.data]
    assert function is not None
    if row.prepared is None or not all(site.is_fixed(i) for i in others):
        run: Run = partial(_by_function, function, attributes)
        return NodeRunner(_on_uint8(site, run, flipped) if flipped else run, with_zero=_with_zero(site, attributes))
    fixed = [as_uint8(x) if i in flipped and x is not None else x for i in others for x in [site.constant(i)]]
    op = row.prepared(*_without_last_nones(fixed), **attributes)
    if row.data != (0,) or not takes_threads(op):
        run = partial(_by_op, op, row.data)
        return NodeRunner(_on_uint8(site, run, flipped), op, False) if flipped else NodeRunner(run, op)
    product: Run = partial(_rows, op) if row.takes_matrices else op
    if flipped:
        product = partial(_product_on_uint8, product, 0 in flipped, _is_signed(site))
    return NodeRunner(lambda given: product(given[0]), op, not flipped, product)


def _by_function(function: Callable[..., Any], attributes: dict[str, Any], given: Given) -> Any:
    return function(*_without_last_nones(given), **attributes)


def _by_op(op: Callable[..., Any], data: tuple[int, ...], given: Given) -> Any:
    return op(*(given[i] for i in data))


def rule_of(site: PlacedNode, op: Any) -> str:
    """Give whose bits a node gives: the rule of its prepared op, that of its kind, or the runtime.

    Parameters
    ----------
    site : PlacedNode
    op : Prepared or None
        The prepared op of the node. Where its products share words of 16 bits, as those of MatMulInteger do on some
        CPUs, its sums are not exact but the runtime's.

    Returns
    -------
    str
    """
    row, runtime = kind_of(site.node), _runtime(site)
    if hasattr(row.prepared, "pairs_of"):
        loses = COLUMNS[runtime].pairs if op is None else op.pairs_of(site.tensors[site.node.inputs[0]].dtype)
        return runtime if loses else row.rule or runtime
    rule: str = getattr(op, "rule", "")  # that of two tensors may depend on their scales
    return rule or row.rule or runtime


def _runtime(site: PlacedNode) -> str:
    return own_runtime(site) if kind_of(site.node).is_own else site.runtime


def as_run(node: Node, runtime: str) -> Node:
    """Give a node as a runtime runs it: a product of int8 codes that x86 makes uint8 first, where that changes bits.

    Parameters
    ----------
    node : Node
        With "kernel_as_uint8" among its attributes if onnxruntime on x86 makes uint8 of its data.
    runtime : str
        A name of `qops.onnx.runtimes.COLUMNS`.

    Returns
    -------
    Node
    """
    if not node.get("kernel_as_uint8"):
        return node
    attributes = {name: value for name, value in node.attributes.items() if name != "kernel_as_uint8"}
    if COLUMNS[runtime].pairs == "saturate":
        attributes["as_uint8"] = 1
    return replace(node, attributes=attributes)


def _with_zero(site: PlacedNode, attributes: dict[str, Any]) -> Callable[[int], Any] | None:
    """Give what makes the prepared op of a node that reads the zero point of its data, and no other number."""
    row, spec = kind_of(site.node), spec_of(site.node)
    place = None if spec is None or not spec.of else spec.of[0].zero_point
    others = [i for i in range(row.count) if i not in row.data]
    if row.prepared is None or place is None or not all(site.is_fixed(i) for i in others if i != place):
        return None
    prepared, dtype = row.prepared, site.tensors[site.node.inputs[0]].dtype

    def made(zero: int) -> Any:
        fixed = [np.array(zero, dtype) if i == place else site.constant(i) for i in others]
        return prepared(*_without_last_nones(fixed), **attributes)

    return made


def _rows(op: Callable[..., Any], a: NDArray[Any], out: None = None, num_threads: int = 1) -> NDArray[Any]:
    """Multiply a matrix, or more of them, as those of a MatMul that onnxruntime makes a QGemm of."""
    if a.ndim <= 2:
        return op(a, out, num_threads)
    made = op(a.reshape(-1, a.shape[-1]), out, num_threads)
    return made.reshape(*a.shape[:-1], made.shape[-1])


def _product_on_uint8(
    product: Run, is_flipped: bool, is_signed: bool, x: NDArray[Any], out: None = None, num_threads: int = 1
) -> NDArray[Any]:
    """Run a product of codes of int8 as one of uint8, as onnxruntime does on x86."""
    made = product(as_uint8(x) if is_flipped else x, out, num_threads)
    return (made ^ np.uint8(128)).view(np.int8) if is_signed else made


def _is_signed(site: PlacedNode) -> bool:
    return site.tensors[site.node.outputs[0]].dtype == "int8"


def _without_last_nones(values: Given) -> list[Any]:
    """Leave out inputs at the end that are left out: their defaults are those of the function."""
    found = list(values)
    while found and found[-1] is None:
        found.pop()
    return found


def _attributes(node: Node, names: Sequence[str]) -> dict[str, Any]:
    """Give the attributes as the functions of `qops.onnx` take them."""
    found = {name: node.get(name) for name in names if node.get(name) is not None}
    if found.get("auto_pad", "NOTSET") != "NOTSET":
        found.pop("pads", None)
    for name in ("strides", "dilations", "pads"):
        if any(n > _MOST_STEPS for n in found.get(name, ())):
            raise Missing(f"its {name} are too large: {found[name]!s:.80}")
    if "saturate" in found:
        found["saturate"] = bool(found["saturate"])
    for name in ("output_dtype", "precision"):
        number = found.pop(name, 0)
        if number not in (0, *CASTS):
            raise Missing(f"its {name} is {name_of_type(number)}")
        if number:
            found[name] = CASTS[number]
    return found


def _flipped(node: Node) -> frozenset[int]:
    """Which inputs onnxruntime takes as uint8: data and zero points; weights, which stand second, stay as they are."""
    spec = spec_of(node)
    assert spec is not None
    operands = spec.of[:1] if spec.has_weights else spec.of
    places = [place for one in operands for place in (one.tensor, one.zero_point)]
    return frozenset(places if spec.y is None else (*places, spec.y[1]))


def as_uint8(x: NDArray[Any]) -> NDArray[Any]:
    """Give codes of int8 as uint8, which are 128 larger, as their zero points are; others stay."""
    return np.ascontiguousarray(x).view(np.uint8) ^ np.uint8(128) if x.dtype == np.int8 else x


def _on_uint8(site: PlacedNode, run: Run, flipped: frozenset[int]) -> Run:
    """Run codes of int8 as uint8, as onnxruntime does on x86."""
    is_signed = _is_signed(site)

    def on_uint8(given: Given) -> NDArray[Any]:
        made = run([as_uint8(x) if i in flipped and x is not None else x for i, x in enumerate(given)])
        return (made ^ np.uint8(128)).view(np.int8) if is_signed else made

    return on_uint8

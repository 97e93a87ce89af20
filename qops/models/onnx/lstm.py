"""LSTM, and DynamicQuantizeLSTM, whose weights are codes and whose data are quantized in each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops.models.graph import Graph
from qops.models.onnx.file import Node
from qops.models.onnx.kind import Kind
from qops.models.onnx.site import NodeRunner, PlacedNode, own_runtime
from qops.models.op import Missing, Op
from qops.models.real_functions import sigmoid
from qops.models.target import PortedLayer, Target

__all__ = ["KINDS"]

Array = NDArray[Any]
Given = Sequence[Any]
Product = Callable[[Array], Array]
F32, F64 = np.float32, np.float64
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each direction runs from the last step to the first."""
_BIAS, _LENGTHS, _H, _C, _PEEPHOLES = 3, 4, 5, 6, 7
"""Places of optional inputs; DynamicQuantizeLSTM has the numbers of its weights behind them."""


def _at(given: Given, place: int, direction: int) -> Any:
    """Give the part of an optional input for one direction; 0 if it is left out."""
    x = given[place] if place < len(given) else None
    return 0.0 if x is None else np.asarray(x)[direction]


def _steps(node: Node, given: Given, direction: int, products: tuple[Product, Product], dtype: Any) -> tuple[Any, ...]:
    """Run one direction over data of (steps, batch, size); gates in the order of i, o, f and c.

    Sums of gates have the type `dtype`; what follows them is computed in double, and rounded to it once in each step.
    """
    x, size = given[0], node.get("hidden_size")
    of_data, of_state = products
    bias = np.asarray(_at(given, _BIAS, direction))
    before = bias[: 4 * size] + bias[4 * size :] if bias.ndim else bias
    p_i, p_o, p_f = np.split(np.broadcast_to(np.asarray(_at(given, _PEEPHOLES, direction), F64), 3 * size), 3)
    start = np.zeros((x.shape[1], size), dtype)
    h, c = (np.asarray(start + _at(given, place, direction), dtype) for place in (_H, _C))
    limit, each, of_x = node.get("clip", np.inf), [], of_data(x)
    for gates in of_x:
        sums = np.asarray(gates + of_state(h), dtype)
        i, o, f, g = np.split(np.asarray(sums + before, F64), 4, -1)
        wide = c.astype(F64)
        i, f = (sigmoid(np.clip(part + p * wide, -limit, limit)) for part, p in ((i, p_i), (f, p_f)))
        wide = f * wide + i * np.tanh(np.clip(g, -limit, limit))
        o = sigmoid(np.clip(o + p_o * wide, -limit, limit))
        h, c = (o * np.tanh(wide)).astype(dtype), wide.astype(dtype)
        each.append(h)
    return np.stack(each) if each else np.zeros((0, *h.shape), dtype), h, c


def _run(node: Node, given: Given, products: Callable[[int], tuple[Product, Product]], dtype: Any) -> tuple[Any, ...]:
    """Give all hidden states, the last one and the last state of the cells, of each direction."""
    made = []
    for direction, is_reversed in enumerate(_DIRECTIONS[node.get("direction", "forward")]):
        x = given[0][::-1] if is_reversed else given[0]
        y, h, c = _steps(node, [x, *given[1:]], direction, products(direction), dtype)
        made.append((y[::-1] if is_reversed else y, h, c))
    y, h, c = zip(*made, strict=True)
    return np.stack(y, 1), np.stack(h), np.stack(c)


def _real_products(given: Given, direction: int) -> tuple[Product, Product]:
    w, r = (np.asarray(given[place][direction], F64).T for place in (1, 2))
    return lambda x: np.asarray(x @ w), lambda h: np.asarray(h.astype(F64) @ r)


def _real_lstm(node: Node, given: Given) -> tuple[Any, ...]:
    return _run(node, given, partial(_real_products, given), F64)


def _weights(given: Given, place: int, direction: int) -> tuple[Array, Array, Array]:
    """Give the codes of weights of one direction, their scale and zero point."""
    scale, zero = (np.asarray(given[i])[direction] for i in (6 + 2 * place, 7 + 2 * place))
    return np.ascontiguousarray(np.asarray(given[place])[direction]), scale, zero


def _real_quantized(node: Node, given: Given) -> tuple[Any, ...]:
    def products(direction: int) -> tuple[Product, Product]:
        each = [_weights(given, place, direction) for place in (1, 2)]
        w, r = ((codes.astype(F64) - zero) * scale for codes, scale, zero in each)
        return lambda x: np.asarray(x @ w), lambda h: np.asarray(h @ r)

    return _run(node, given, products, F64)


def _product(runtime: str, codes: Array, scale: Array, zero: Array) -> Product:
    """Quantize all data at once, multiply integers, and give float32."""

    def product(x: Array) -> Array:
        data, x_scale, x_zero = onnx.dynamic_quantize_linear(np.ascontiguousarray(x, F32), runtime=runtime)
        rows = data.reshape(-1, x.shape[-1])
        sums = onnx.matmul_integer(rows, codes, x_zero, zero.astype(codes.dtype), runtime=runtime)
        made = sums.astype(F32) * np.asarray(x_scale * scale, F32)
        return np.asarray(made).reshape(*x.shape[:-1], codes.shape[-1])

    return product


def _checked(site: PlacedNode) -> None:
    """Refuse what qops does not have of a node; each is named."""
    node = site.node
    if node.get("direction", "forward") not in _DIRECTIONS or not isinstance(node.get("hidden_size"), int):
        raise Missing(
            f"its direction is {node.get('direction')!s:.40}, its hidden_size {node.get('hidden_size')!s:.40}"
        )
    functions = node.get("activations") or []
    if [str(one).lower() for one in functions] != ["sigmoid", "tanh", "tanh"] * (len(functions) // 3):
        raise Missing(f"its activations are {', '.join(map(str, functions))!s:.80}")
    for name in ("input_forget", "layout"):
        if node.get(name, 0):
            raise Missing(f"its {name} is {node.get(name)!s:.40}")
    if site.is_given(_LENGTHS):
        raise Missing("it has lengths of sequences")


def _make_lstm(site: PlacedNode) -> NodeRunner:
    _checked(site)

    def run(given: Given) -> tuple[Any, ...]:
        return tuple(y.astype(given[0].dtype) for y in _real_lstm(site.node, given))

    return NodeRunner(run)


def _make_quantized(site: PlacedNode) -> NodeRunner:
    _checked(site)
    if not all(site.is_given(place) for place in range(8, 12)):
        raise Missing("it lacks scales or zero points of its weights")
    runtime = own_runtime(site)

    def run(given: Given) -> tuple[Any, ...]:
        def products(direction: int) -> tuple[Product, Product]:
            of_data, of_state = (_product(runtime, *_weights(given, place, direction)) for place in (1, 2))
            return of_data, of_state

        return _run(site.node, given, products, F32)

    return NodeRunner(run)


def _no_c(made: PortedLayer, op: Op, graph: Graph, target: Target) -> None:
    """Steps of floats, which a port takes from a library of its own."""


KINDS = {
    "LSTM": Kind(make=_make_lstm, real=_real_lstm, rule="float32", results=3, code=_no_c),
    "DynamicQuantizeLSTM": Kind(make=_make_quantized, real=_real_quantized, is_own=True, results=3, code=_no_c),
}

"""ONNX's operators in real numbers, in double: what a float model computes, and what quantized ones stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf, prod
from typing import Any

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.moves import bounded, whole
from qops.models.onnx.sums import SUMS
from qops.models.tensor import Values

__all__ = ["REAL"]

Given = Sequence[Any]


def _reduced(reduce: Callable[..., Any]) -> Callable[[Node, Given], Values]:
    def run(node: Node, given: Given) -> Values:
        x, axes = given[0], whole(given[1]) if len(given) > 1 else whole(node.get("axes"))
        if not axes and node.get("noop_with_empty_axes", 0):
            return x
        return np.asarray(reduce(x, axis=tuple(axes) or None, keepdims=bool(node.get("keepdims", 1))))

    return run


def _binary(function: Callable[..., Any]) -> Callable[[Node, Given], Any]:
    def run(node: Node, given: Given) -> Any:
        bounded(np.broadcast_shapes(given[0].shape, given[1].shape))
        return function(given[0], given[1])

    return run


def _many(function: Callable[[Any, Any], Any]) -> Callable[[Node, Given], Any]:
    def run(node: Node, given: Given) -> Any:
        made = given[0]
        for x in given[1:]:
            bounded(np.broadcast_shapes(made.shape, x.shape))
            made = function(made, x)
        return made

    return run


def _one(function: Callable[[Any], Any]) -> Callable[[Node, Given], Any]:
    return lambda node, given: function(given[0])


def _divided(a: Any, b: Any) -> Any:
    """Integers are divided toward zero."""
    if a.dtype.kind in "iu":
        return np.trunc(a / np.where(b == 0, 1, b)).astype(a.dtype)
    return a / b


def _log_softmax(node: Node, given: Given) -> Values:
    """Up to version 12 over all axes from one on, then over one axis."""
    x = given[0]
    if node.opset < 13:
        axis = node.get("axis", 1) % max(x.ndim, 1)
        flat = x.reshape(*x.shape[:axis], prod(x.shape[axis:]))
        return _log_softmax_over(flat, -1).reshape(x.shape)
    return _log_softmax_over(x, node.get("axis", -1))


def _log_softmax_over(x: Values, axis: int) -> Values:
    far = x - x.max(axis, keepdims=True)
    return np.asarray(far - np.log(np.exp(far).sum(axis, keepdims=True)))


def _clip(node: Node, given: Given) -> Any:
    x, low, high = (*given, None, None)[:3]
    low, high = node.get("min", low), node.get("max", high)
    x = x if low is None else np.maximum(x, np.ravel(low)[0])
    return x if high is None else np.minimum(x, np.ravel(high)[0])


def _batch_norm(node: Node, given: Given) -> Values:
    x, scale, bias, mean, var = given[:5]
    each = [part.reshape(-1, *[1] * (x.ndim - 2)) for part in (scale, bias, mean, var)]
    return np.asarray(each[0] * (x - each[2]) / np.sqrt(each[3] + node.get("epsilon", 1e-5)) + each[1])


def _instance_norm(node: Node, given: Given) -> Values:
    x, scale, bias = given
    axes, shape = tuple(range(2, x.ndim)), (-1, *[1] * (x.ndim - 2))
    near = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + node.get("epsilon", 1e-5))
    return np.asarray(near * scale.reshape(shape) + bias.reshape(shape))


def _layer_norm(node: Node, given: Given) -> Values:
    x, scale, bias = (*given, None)[:3]
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    near = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + node.get("epsilon", 1e-5))
    return np.asarray(near * scale + (0 if bias is None else bias))


def _gelu(node: Node, given: Given) -> Values:
    x = given[0]
    if node.get("approximate", "none") == "tanh":
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + _erf(x / np.sqrt(2))))


def _erf(x: Values) -> Values:
    return np.vectorize(erf, otypes=[np.float64])(x)


def _sigmoid(x: Values) -> Values:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _hard_sigmoid(node: Node, given: Given) -> Values:
    return np.clip(given[0] * node.get("alpha", 0.2) + node.get("beta", 0.5), 0, 1)


def _leaky(node: Node, given: Given) -> Values:
    return np.where(given[0] >= 0, given[0], given[0] * node.get("alpha", 0.01))


def _prelu(node: Node, given: Given) -> Values:
    return np.where(given[0] >= 0, given[0], given[0] * given[1])


def _elu(node: Node, given: Given) -> Values:
    x = given[0]
    return np.where(x >= 0, x, node.get("alpha", 1.0) * np.expm1(np.minimum(x, 0)))


REAL: dict[str, Callable[[Node, Given], Any]] = {
    **SUMS,
    "ReduceMean": _reduced(np.mean),
    "ReduceSum": _reduced(np.sum),
    "ReduceMax": _reduced(np.max),
    "ReduceMin": _reduced(np.min),
    "Add": _binary(np.add),
    "Sub": _binary(np.subtract),
    "Mul": _binary(np.multiply),
    "Div": _binary(_divided),
    "Pow": _binary(np.power),
    "PRelu": _prelu,
    "Min": _many(np.minimum),
    "Max": _many(np.maximum),
    "Sum": _many(np.add),
    "Clip": _clip,
    "Relu": _one(lambda x: np.maximum(x, 0)),
    "LeakyRelu": _leaky,
    "Elu": _elu,
    "Sigmoid": _one(_sigmoid),
    "HardSigmoid": _hard_sigmoid,
    "HardSwish": _one(lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    "Tanh": _one(np.tanh),
    "Softplus": _one(lambda x: np.logaddexp(x, 0)),
    "Softsign": _one(lambda x: x / (1 + np.abs(x))),
    "Gelu": _gelu,
    "Erf": _one(_erf),
    "Softmax": lambda node, given: np.exp(_log_softmax(node, given)),
    "LogSoftmax": _log_softmax,
    "BatchNormalization": _batch_norm,
    "InstanceNormalization": _instance_norm,
    "LayerNormalization": _layer_norm,
    "Abs": _one(np.abs),
    "Neg": _one(np.negative),
    "Exp": _one(np.exp),
    "Log": _one(np.log),
    "Sqrt": _one(np.sqrt),
    "Reciprocal": _one(lambda x: 1 / x),
    "Floor": _one(np.floor),
    "Ceil": _one(np.ceil),
    "Round": _one(np.rint),
}
"""The function of each operator: it takes the node and its inputs, None for one that is left out."""

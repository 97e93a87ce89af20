"""Operators of float32: functions of elements, reductions, normalizations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erf
from typing import Any

import numpy as np

from qops.models.onnx.code import c_of_codes
from qops.models.onnx.cut import cut_floats
from qops.models.onnx.file import Node
from qops.models.onnx.kind import Kind
from qops.models.onnx.shapes import bounded, shape_of_data, shape_of_pair, whole
from qops.models.real_functions import sigmoid
from qops.models.tensor import Values

__all__ = ["KINDS"]


_LEAK, _EPSILON, _LRN_ALPHA = float(np.float32(0.01)), float(np.float32(1e-5)), float(np.float32(1e-4))
"""Attributes that are left out are float32, as all attributes are."""
Given = Sequence[Any]


def _real_reduced(reduce: Callable[..., Any]) -> Callable[[Node, Given], Values]:
    def run(node: Node, given: Given) -> Values:
        axes = tuple(whole(given[1]) if len(given) > 1 else whole(node.get("axes")))
        is_each = not axes and node.get("noop_with_empty_axes", 0)  # the function of each element alone
        return np.asarray(
            reduce(given[0], axis=axes or (() if is_each else None), keepdims=bool(node.get("keepdims", 1)))
        )

    return run


def _length_1(x: Values, **how: Any) -> Values:
    return np.asarray(np.sum(np.abs(x), **how))


def _length_2(x: Values, **how: Any) -> Values:
    return np.asarray(np.sqrt(np.sum(x * x, **how)))


def _sum_of_squares(x: Values, **how: Any) -> Values:
    return np.asarray(np.sum(x * x, **how))


def _log_of_sum(x: Values, **how: Any) -> Values:
    return np.asarray(np.log(np.sum(x, **how)))


def _log_of_sum_of_exp(x: Values, **how: Any) -> Values:
    largest = np.max(x, axis=how["axis"], keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    sums = np.sum(np.exp(x - largest), **how)
    return np.asarray(np.log(sums) + largest.reshape(sums.shape))


def _real_pair(function: Callable[..., Any]) -> Callable[[Node, Given], Any]:
    def run(node: Node, given: Given) -> Any:
        bounded(np.broadcast_shapes(given[0].shape, given[1].shape))
        return function(given[0], given[1])

    return run


def _real_power(node: Node, given: Given) -> Any:
    """The result has the type of the base."""
    made = _real_pair(np.power)(node, given)
    return np.trunc(made) if given[0].dtype.kind in "iu" else made


def _real_many(function: Callable[[Any, Any], Any]) -> Callable[[Node, Given], Any]:
    def run(node: Node, given: Given) -> Any:
        made = given[0]
        for x in given[1:]:
            bounded(np.broadcast_shapes(made.shape, x.shape))
            made = function(made, x)
        return made

    return run


def real_one(function: Callable[[Any], Any]) -> Callable[[Node, Given], Any]:
    return lambda node, given: function(given[0])


def _divided(a: Any, b: Any) -> Any:
    """Integers are divided toward zero."""
    if a.dtype.kind in "iu":
        return np.trunc(a / np.where(b == 0, 1, b)).astype(a.dtype)
    return a / b


def _real_clip(node: Node, given: Given) -> Any:
    x, low, high = (*given, None, None)[:3]
    low, high = node.get("min", low), node.get("max", high)
    x = x if low is None else np.maximum(x, np.ravel(low)[0])
    return x if high is None else np.minimum(x, np.ravel(high)[0])


def _real_batch_norm(node: Node, given: Given) -> Values:
    x, scale, bias, mean, var = given[:5]
    each = [part.reshape(-1, *[1] * (x.ndim - 2)) for part in (scale, bias, mean, var)]
    return np.asarray(each[0] * (x - each[2]) / np.sqrt(each[3] + node.get("epsilon", _EPSILON)) + each[1])


def _real_instance_norm(node: Node, given: Given) -> Values:
    x, scale, bias = given
    axes, shape = tuple(range(2, x.ndim)), (-1, *[1] * (x.ndim - 2))
    near = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + node.get("epsilon", _EPSILON))
    return np.asarray(near * scale.reshape(shape) + bias.reshape(shape))


def _real_layer_norm(node: Node, given: Given) -> Values:
    x, scale, bias = (*given, None)[:3]
    axes = tuple(range(node.get("axis", -1) % x.ndim, x.ndim))
    near = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + node.get("epsilon", _EPSILON))
    return np.asarray(near * scale + (0 if bias is None else bias))


def _real_gelu(node: Node, given: Given) -> Values:
    x = given[0]
    if node.get("approximate", "none") == "tanh":
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + _real_erf(x / np.sqrt(2))))


def _real_erf(x: Values) -> Values:
    return np.vectorize(erf, otypes=[np.float64])(x)


def _real_hard_sigmoid(node: Node, given: Given) -> Values:
    return np.clip(given[0] * node.get("alpha", float(np.float32(0.2))) + node.get("beta", 0.5), 0, 1)


def _real_leaky_relu(node: Node, given: Given) -> Values:
    return np.where(given[0] >= 0, given[0], given[0] * node.get("alpha", _LEAK))


def _real_prelu(node: Node, given: Given) -> Values:
    return np.where(given[0] >= 0, given[0], given[0] * given[1])


def _real_elu(node: Node, given: Given) -> Values:
    x = given[0]
    return np.where(x >= 0, x, node.get("alpha", 1.0) * np.expm1(np.minimum(x, 0)))


def _real_mean(node: Node, given: Given) -> Any:
    return _real_many(np.add)(node, given) / len(given)


_SELU = float(np.float32(1.67326319217681884765625)), float(np.float32(1.05070102214813232421875))


def _real_selu(node: Node, given: Given) -> Values:
    x, alpha, gamma = given[0], node.get("alpha", _SELU[0]), node.get("gamma", _SELU[1])
    return np.where(x > 0, gamma * x, gamma * alpha * np.expm1(np.minimum(x, 0)))


def _real_lrn(node: Node, given: Given) -> Values:
    """Each channel by the squares of those near it: `size` in all, the one more of an even size behind it.

    The reference takes the number of images for that of channels; this is the standard, as onnxruntime has it.
    """
    x, size = given[0], node.get("size")
    count = x.shape[1]
    ends = np.concatenate([np.zeros_like(x[:, :1]), np.cumsum(x**2, axis=1)], axis=1)
    channels = np.arange(count)
    last, first = np.minimum(channels + size // 2 + 1, count), np.maximum(channels - (size - 1) // 2, 0)
    alpha, beta, bias = node.get("alpha", _LRN_ALPHA), node.get("beta", 0.75), node.get("bias", 1.0)
    return np.asarray(x / (bias + alpha / size * (ends[:, last] - ends[:, first])) ** beta)


def _real_einsum(node: Node, given: Given) -> Any:
    """Letters are axes: those of the inputs that the result lacks are summed."""
    equation = str(node.get("equation", "")).replace(" ", "")
    terms = equation.partition("->")[0]
    sizes: dict[str, int] = {}
    for term, x in zip(terms.split(","), given, strict=True):
        letters = term.replace("...", "." * max(0, x.ndim - len(term) + 3), 1)
        if len(letters) != x.ndim:
            raise ValueError(f"its equation is {equation!s:.80}, which does not fit its inputs")
        dots = 0
        for letter, n in zip(letters, x.shape, strict=True):
            dots += letter == "."
            name = f".{x.ndim - dots}" if letter == "." else letter
            sizes[name] = max(n, sizes.get(name, 1))
    bounded([*sizes.values()])
    return np.einsum(equation, *given, optimize=False)


def _kind(real: Callable[..., Any], **more: Any) -> Kind:
    """An operator of floats. A port takes it from a library of its own; where it reads codes, it is a table."""
    return Kind(real=real, code=c_of_codes, **more)


KINDS = {
    "ReduceMean": _kind(_real_reduced(np.mean), adds=True),
    "ReduceSum": _kind(_real_reduced(np.sum), adds=True),
    "ReduceMax": _kind(_real_reduced(np.max)),
    "ReduceMin": _kind(_real_reduced(np.min)),
    "ReduceProd": _kind(_real_reduced(np.prod)),
    "ReduceL1": _kind(_real_reduced(_length_1)),
    "ReduceL2": _kind(_real_reduced(_length_2)),
    "ReduceSumSquare": _kind(_real_reduced(_sum_of_squares)),
    "ReduceLogSum": _kind(_real_reduced(_log_of_sum)),
    "ReduceLogSumExp": _kind(_real_reduced(_log_of_sum_of_exp)),
    "Add": _kind(_real_pair(np.add), cut=cut_floats, least=2, shape=shape_of_pair),
    "Sub": _kind(_real_pair(np.subtract), cut=cut_floats, shape=shape_of_pair),
    "Mul": _kind(_real_pair(np.multiply), cut=cut_floats, least=2, shape=shape_of_pair),
    "Div": _kind(_real_pair(_divided), cut=cut_floats, shape=shape_of_pair),
    "Pow": _kind(_real_power),
    "PRelu": _kind(_real_prelu),
    "Min": _kind(_real_many(np.minimum)),
    "Max": _kind(_real_many(np.maximum)),
    "Sum": _kind(_real_many(np.add)),
    "Mean": _kind(_real_mean),
    "Einsum": _kind(_real_einsum),
    "Clip": _kind(_real_clip, cut=cut_floats, least=1, shape=shape_of_data, clamps=True),
    "Relu": _kind(real_one(lambda x: np.maximum(x, 0)), cut=cut_floats, least=1, shape=shape_of_data, clamps=True),
    "LeakyRelu": _kind(_real_leaky_relu, cut=cut_floats, least=1, shape=shape_of_data),
    "Elu": _kind(_real_elu),
    "Sigmoid": _kind(real_one(sigmoid), cut=cut_floats, least=1, shape=shape_of_data),
    "HardSigmoid": _kind(_real_hard_sigmoid),
    "HardSwish": _kind(real_one(lambda x: x * np.clip(x / 6 + 0.5, 0, 1))),
    "Tanh": _kind(real_one(np.tanh), cut=cut_floats, shape=shape_of_data),
    "Selu": _kind(_real_selu),
    "Mish": _kind(real_one(lambda x: x * np.tanh(np.logaddexp(x, 0)))),
    "LRN": _kind(_real_lrn),
    "Softplus": _kind(real_one(lambda x: np.logaddexp(x, 0))),
    "Softsign": _kind(real_one(lambda x: x / (1 + np.abs(x)))),
    "Gelu": _kind(_real_gelu, shape=shape_of_data),
    "Erf": _kind(real_one(_real_erf)),
    "BatchNormalization": _kind(_real_batch_norm),
    "InstanceNormalization": _kind(_real_instance_norm),
    "LayerNormalization": _kind(_real_layer_norm),
    "Abs": _kind(real_one(np.abs)),
    "Neg": _kind(real_one(np.negative), shape=shape_of_data),
    "Exp": _kind(real_one(np.exp)),
    "Sin": _kind(real_one(np.sin)),
    "Cos": _kind(real_one(np.cos)),
    "Atan": _kind(real_one(np.arctan)),
    "Log": _kind(real_one(np.log)),
    "Sqrt": _kind(real_one(np.sqrt)),
    "Reciprocal": _kind(real_one(lambda x: 1 / x)),
    "Floor": _kind(real_one(np.floor)),
    "Ceil": _kind(real_one(np.ceil)),
    "Round": _kind(real_one(np.rint)),
}

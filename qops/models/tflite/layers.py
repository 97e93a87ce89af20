"""Makes prepared ops of the operators that `qops.explain` can ask: sums of products, sums and products of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops.models.op import Layer, Missing
from qops.models.tensor import Tensor
from qops.models.tflite.real import LIMITS, products
from qops.models.tflite.site import Made, Maker, Site
from qops.tflite.kernels import KERNELS

__all__ = ["LAYERS", "SUMS"]

SUMS = {"CONV_2D": (0, 1), "DEPTHWISE_CONV_2D": (0, 1), "FULLY_CONNECTED": (0, 1), "TRANSPOSE_CONV": (2, 1)}
"""Where the data and the weights of a layer stand among its inputs; the bias is the one after the last of them."""
_INT32 = 2  # the number of the type in the schema
_OFF = 0.02  # steps of the result that a step of the bias may be away from one of the sums
_IMAGES = 4  # axes of images and filters


def _layer(site: Site, how: dict[str, Any], shape: Sequence[int] | None = None) -> Layer:
    """Give a layer as `qops.explain` and ports read it: its exact sums, its scales, its clamp."""
    _check_bias(site, how)
    x, w = SUMS[site.kind]
    zero = how["x_zero_point"]
    centred = site.constant(w).astype(np.float64) - how["w_zero_point"]

    def sums(codes: NDArray[Any], bias: NDArray[Any] | None) -> NDArray[np.int64]:
        made = np.rint(products(site.operator, codes.astype(np.float64) - zero, centred, shape)).astype(np.int64)
        return made if bias is None else made + bias.astype(np.int64)

    lo, hi = _ends(site.outputs[0], how["y_scale"], how["y_zero_point"], how["activation"])
    scales = {"in_scale": how["x_scale"], "w_scale": how["w_scale"], "out_scale": how["y_scale"]}
    numbers = {**scales, "zero_point": how["y_zero_point"], "qmin": lo, "qmax": hi}
    bias, channel = site.bias(max(x, w) + 1), 3 if site.kind == "DEPTHWISE_CONV_2D" else 0
    return Layer("requantize", numbers, site.constant(w), bias, sums, zero, how["w_zero_point"], channel=channel)


def _check_bias(site: Site, how: dict[str, Any]) -> None:
    """Refuse what LiteRT refuses of a bias, or would read past its end."""
    bias, facts = max(SUMS[site.kind]) + 1, KERNELS[site.kernel]
    if not site.has(bias):
        return
    tensor, dtype = site.tensor(bias), site.tensor(SUMS[site.kind][0]).dtype
    by_option = site.kind in ("CONV_2D", "TRANSPOSE_CONV") and facts.biases_by_option
    if by_option and dtype == "int16" and tensor.dtype == "int32" and site.options.get("QuantizedBiasType") != _INT32:
        raise Missing(f"its bias {tensor.name!r} is int32, which the option quantized_bias_type must say")
    has_one_scale = np.ndim(how["w_scale"]) == 0 and (dtype == "uint8" or site.kind == "FULLY_CONNECTED")
    if facts.checks_bias and has_one_scale and tensor.scale is not None and tensor.scale.ndim == 0:
        off = abs(how["x_scale"] * how["w_scale"] - float(tensor.scale)) / how["y_scale"]
        if off > _OFF:
            raise Missing(f"the scale of its bias, {tensor.scale}, is not that of its sums")


def _ends(y: Tensor, scale: float, zero: int, activation: str) -> tuple[int, int]:
    """The lowest and the highest code after a fused activation, as ``CalculateActivationRangeQuantized`` has them."""
    info = np.iinfo(y.dtype)
    lo, hi = (None if np.isinf(end) else zero + _steps(end, scale) for end in LIMITS[activation])
    return max(info.min, info.min if lo is None else lo), min(info.max, info.max if hi is None else hi)


def _steps(value: float, scale: float) -> int:
    """``half_away(value / scale)``, the quotient in float32."""
    quotient = float(np.float32(value) / np.float32(scale))  # float32 would round 0.5 less its last bit, + 0.5, to 1
    return int(np.floor(abs(quotient) + 0.5) * np.sign(quotient))


def _channels(site: Site, w: NDArray[Any]) -> int:
    """Give the channels of the data; each group of filters takes a share of them."""
    channels = site.tensor(0).shape[-1:]
    if not channels or not channels[0] or w.ndim != _IMAGES or not w.shape[3]:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    return channels[0]


def _conv(site: Site) -> Made:
    w, how = site.constant(1), {**site.x(), **site.weights(1, 0), **site.y, **site.activation}
    groups, rest = divmod(_channels(site, w), w.shape[3])
    if rest or not groups:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    more = {**site.moves, **site.dilation, **site.own(), "groups": groups}
    return Made((0,), tflite.Conv2D(w, site.bias(2), **how, **more), _layer(site, how))


def _depthwise(site: Site) -> Made:
    w, how = site.constant(1), {**site.x(), **site.weights(1, 3), **site.y, **site.activation}
    multiplier, rest = divmod(w.shape[-1], _channels(site, w))
    if rest:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    more = {**site.moves, **site.dilation, **site.own(), "depth_multiplier": multiplier}
    return Made((0,), tflite.DepthwiseConv2D(w, site.bias(2), **how, **more), _layer(site, how))


def _connected(site: Site) -> Made:
    how = {**site.x(), **site.weights(1, 0), **site.y, **site.activation}
    if site.options.get("WeightsFormat"):
        raise Missing("its weights are shuffled")
    keeps = bool(site.options.get("KeepNumDims", False))
    op = tflite.FullyConnected(site.constant(1), site.bias(2), **how, **site.own(), keep_num_dims=keeps)
    return Made((0,), op, _layer(site, how))


def _transposed(site: Site) -> Made:
    shape = site.size(0)
    how = {**site.x(2), **site.weights(1, 0), **site.y, **site.activation}
    if how["w_type"] == "int4":
        raise Missing("its weights have 4 bits, for which TFLite has no kernel")
    given = {name: value for name, value in how.items() if name != "w_type"}
    op = tflite.TransposeConv(shape, site.constant(1), site.bias(3), **given, **site.moves, **site.own(2))
    return Made((2,), op, _layer(site, how, shape))


def _binary(maker: Callable[..., Any], explained: str = "") -> Maker:
    """An operator of two tensors with a fused activation; `explained` is its kind for `qops.explain`."""

    def make(site: Site) -> Made:
        how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y}
        more: dict[str, Any] = dict(site.activation)
        if "PotScaleInt16" in site.options:
            more["pot_scale_int16"] = bool(site.options["PotScaleInt16"])
        layer = None
        if explained:
            lo, hi = _ends(site.outputs[0], how["y_scale"], how["y_zero_point"], more["activation"])
            layer = Layer(explained, {**how, "qmin": lo, "qmax": hi})
        return Made((0, 1), maker(**how, **more, **site.own()), layer)

    return make


LAYERS: dict[str, Maker] = {
    "CONV_2D": _conv,
    "DEPTHWISE_CONV_2D": _depthwise,
    "FULLY_CONNECTED": _connected,
    "TRANSPOSE_CONV": _transposed,
    "ADD": _binary(tflite.Add, "add"),
    "SUB": _binary(tflite.Sub),
    "MUL": _binary(tflite.Mul, "mul"),
}
"""The makers of these operators, by kind."""

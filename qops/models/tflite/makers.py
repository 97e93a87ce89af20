"""Makes prepared ops of `qops.tflite`: a maker an operator. Those of `LAYERS` stand in a module of their own."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from qops import tflite
from qops.models.op import Missing
from qops.models.tflite.layers import LAYERS
from qops.models.tflite.site import MOST, Made, Maker, Site
from qops.tflite.kernels import KERNELS

__all__ = ["MAKERS"]

_INNER = 5  # inner tensors of an LSTM; the last is its hidden state


def _codes_alone(maker: Callable[..., Any], takes: tuple[int, ...]) -> Maker:
    """An operator that ignores scales."""
    return lambda site: Made(takes, maker(**site.own()))


def _difference(site: Site) -> Made:
    how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y}
    return Made((0, 1), tflite.SquaredDifference(**how, **site.own()))


def _pool(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        window = site.options["FilterHeight"], site.options["FilterWidth"]
        how = {**site.x(), **site.y, **site.moves, **site.activation, **site.own()}
        return Made((0,), maker(window=window, **how))

    return make


def _reduced(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        keeps = bool(site.options.get("KeepDims", False))
        return Made((0,), maker(site.constant(1), keep_dims=keeps, **site.x(), **site.y, **site.own()))

    return make


def _one(maker: Callable[..., Any], **options: str) -> Maker:
    """An operator of one tensor; `options` are its own arguments, by their names in the schema."""

    def make(site: Site) -> Made:
        more = {name: site.options[field] for name, field in options.items()}
        return Made((0,), maker(**site.x(), **site.y, **more, **site.own()))

    return make


def _softmax(site: Site) -> Made:
    types = {"dtype": site.tensor(0).dtype, "y_dtype": site.outputs[0].dtype}
    how = {**site.x(), **site.y, **types, "kernel": site.kernel, "beta": site.options["Beta"]}
    return Made((0,), tflite.Softmax(**how))


def _gelu(site: Site) -> Made:
    approximate = bool(site.options.get("Approximate", False))
    return Made((0,), tflite.Gelu(**site.x(), **site.y, **site.own(), approximate=approximate))


def _prelu(site: Site) -> Made:
    how = {**site.x(), **site.numbers("alpha", site.tensor(1)), **site.y}
    if site.tensor(1).data is None:
        return Made((0, 1), partial(tflite.prelu, **how, kernel=site.kernel))
    return Made((0,), tflite.Prelu(site.constant(1), **how, **site.own()))


def _quantize(site: Site) -> Made:
    given = {} if site.tensor(0).dtype == "float32" else site.x()
    return Made((0,), tflite.Quantize(**site.y, dtype=site.outputs[0].dtype, kernel=site.kernel, **given))


def _dequantize(site: Site) -> Made:
    x, y = site.tensor(0), site.outputs[0]
    if y.dtype != "float32":
        raise Missing(f"its result {y.name!r} is {y.dtype}")
    return Made((0,), tflite.Dequantize(**site.x(), dtype=x.dtype, kernel=site.kernel))


def _concatenated(site: Site) -> Made:
    parts = range(len(site.operator.inputs))
    each = [site.x(i) for i in parts]
    scales, zeros = ([numbers[f"x_{word}"] for numbers in each] for word in ("scale", "zero_point"))
    how = {**site.y, **site.activation, "axis": site.options["Axis"]}
    for i in parts:
        how |= site.own(i)  # each has the type of the result
    op = tflite.Concatenation(**how, x_scale=scales, x_zero_point=zeros)
    op.shape_of([(0,) * len(site.tensor(i).shape) for i in parts])  # refuses before it runs
    return Made(tuple(parts), lambda *arrays: op(arrays), prepared=op)


def _padded(site: Site) -> Made:
    x, pads = site.tensor(0), site.constant(1)
    if prod(n or 1 for n in site.outputs[0].shape) > MOST or np.abs(pads.astype(np.float64)).max(initial=0) > MOST:
        raise Missing("its result is too large")
    if site.kind == "PADV2":
        tensors = (x, site.tensor(2), site.outputs[0])
        if len({site.numbers("t", tensor)["t_zero_point"] for tensor in tensors}) > 1:
            raise Missing("its data, its value and its result have several zero points")
        return Made((0,), tflite.PadV2(pads, int(site.constant(2).reshape(-1)[0]), **site.own()))
    zeros = {"x_zero_point": site.x()["x_zero_point"], "y_zero_point": site.y["y_zero_point"]}
    return Made((0,), tflite.Pad(pads, **zeros, dtype=x.dtype, kernel=site.kernel))


def _resized(maker: Callable[..., Any]) -> Maker:
    def make(site: Site) -> Made:
        flags = {"align_corners": "AlignCorners", "half_pixel_centers": "HalfPixelCenters"}
        given = {name: bool(site.options.get(field, False)) for name, field in flags.items()}
        return Made((0,), maker(site.size(1), **given, **site.own()))

    return make


def _matmul(site: Site) -> Made:
    how = {**site.numbers("a", site.tensor(0)), **site.numbers("b", site.tensor(1)), **site.y, "kernel": site.kernel}
    how |= {"adj_x": bool(site.options.get("AdjX")), "adj_y": bool(site.options.get("AdjY"))}
    if site.tensor(1).data is None:
        return Made((0, 1), partial(tflite.batch_matmul, **how))
    return Made((0,), tflite.BatchMatmul(site.constant(1), **how, dtype=site.tensor(0).dtype))


def _svdf(site: Site) -> Made:
    scales = {"feature_scale": site.numbers("w", site.tensor(1))["w_scale"]}
    scales["time_scale"] = site.numbers("w", site.tensor(2))["w_scale"]
    how = {**site.x(), **scales, **site.numbers("state", site.tensor(4)), **site.y, "rank": site.options["Rank"]}
    if site.has(3):
        off = abs(site.numbers("bias", site.tensor(3))["bias_scale"] - how["state_scale"] * how["time_scale"])
        if off >= KERNELS[site.kernel].svdf_bias_off:
            raise Missing(f"the scale of its bias, {site.tensor(3).scale}, is not that of its sums")
    op = tflite.Svdf(site.constant(1), site.constant(2), site.bias(3), **how, **site.own())
    return Made((0,), lambda x: op(x).y, prepared=op)


def _lstm(site: Site) -> Made:
    """Inputs 1 to 4 and 5 to 8 are the weights of input, forget, cell and output; 12 to 15 the biases."""
    if any(site.has(i) for i in (*range(9, 12), 16, 17, *range(20, 24))):
        raise Missing("its LSTM has peepholes, a projection or layer norm")
    if len(site.operator.intermediates) < _INNER:
        raise Missing("its LSTM has no scales of its inner tensors")
    w, r, b = (np.stack([site.constant(i) for i in range(at, at + 4)]) for at in (1, 5, 12))
    scales = {
        name: [site.numbers("w", site.tensor(i))["w_scale"] for i in range(at, at + 4)]
        for name, at in (("w_scale", 1), ("r_scale", 5))
    }
    numbers = {**site.x(), **scales, **site.numbers("hidden", site.operator.intermediates[_INNER - 1])}
    cell = {"cell_scale": site.numbers("cell", site.tensor(19))["cell_scale"], "cell_clip": site.options["CellClip"]}
    major = bool(site.options.get("TimeMajor"))
    op = tflite.UnidirectionalSequenceLstm(w, r, b, **numbers, **cell, time_major=major, **site.own())
    return Made((0,), lambda x: op(x).y, prepared=op)


MAKERS: dict[str, Maker] = {
    **LAYERS,
    "BATCH_MATMUL": _matmul,
    "SQUARED_DIFFERENCE": _difference,
    "MAXIMUM": _codes_alone(tflite.Maximum, (0, 1)),
    "MINIMUM": _codes_alone(tflite.Minimum, (0, 1)),
    "AVERAGE_POOL_2D": _pool(tflite.AveragePool2D),
    "MAX_POOL_2D": _pool(tflite.MaxPool2D),
    "MEAN": _reduced(tflite.Mean),
    "SUM": _reduced(tflite.Sum),
    "REDUCE_MAX": _reduced(tflite.ReduceMax),
    "REDUCE_MIN": _reduced(tflite.ReduceMin),
    "SOFTMAX": _softmax,
    "LOG_SOFTMAX": _one(tflite.LogSoftmax),
    "L2_NORMALIZATION": _one(tflite.L2Normalization),
    "LOGISTIC": _one(tflite.Logistic),
    "TANH": _one(tflite.Tanh),
    "HARD_SWISH": _one(tflite.HardSwish),
    "LEAKY_RELU": _one(tflite.LeakyRelu, alpha="Alpha"),
    "PRELU": _prelu,
    "RELU": _one(tflite.Relu),
    "RELU6": _one(tflite.Relu6),
    "RELU_N1_TO_1": _one(tflite.ReluN1To1),
    "RELU_0_TO_1": _one(tflite.Relu0To1),
    "ELU": _one(tflite.Elu),
    "GELU": _gelu,
    "EXP": _one(tflite.Exp),
    "SQRT": _one(tflite.Sqrt),
    "RSQRT": _one(tflite.Rsqrt),
    "ABS": _one(tflite.Abs),
    "NEG": _codes_alone(tflite.Neg, (0,)),
    "QUANTIZE": _quantize,
    "DEQUANTIZE": _dequantize,
    "CONCATENATION": _concatenated,
    "PAD": _padded,
    "PADV2": _padded,
    "RESIZE_BILINEAR": _resized(tflite.ResizeBilinear),
    "RESIZE_NEAREST_NEIGHBOR": _resized(tflite.ResizeNearestNeighbor),
    "SVDF": _svdf,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _lstm,
}
"""The maker of each operator, by kind."""

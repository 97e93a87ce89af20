"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops._kernels.arrays.axis import Axis
from qops.models.code.sums import c_of_sums
from qops.models.cut import Index, needed, readers, sized
from qops.models.op import Missing
from qops.models.tensor import Values, zero_of
from qops.models.tflite.cut import CutOperator, arrays_of, of_channel, with_data
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import HybridLayer, Kind, always
from qops.models.tflite.layers import real_layer, sums_made
from qops.models.tflite.site import MOST, OperatorRunner, PlacedOperator, activated
from qops.models.tflite.windows import axes_of, taps_of, windows_of
from qops.tflite.hybrid import conv_2d_steps, depthwise_conv_2d_steps

__all__ = ["KINDS"]


Given = Sequence[Any]
_IMAGES = 4  # axes of images and filters
_DEEP = 3  # the axis of the output channels in the filters of DEPTHWISE_CONV_2D
_DENSE = {"StrideH": 1, "StrideW": 1, "Padding": 1, "DilationHFactor": 1, "DilationWFactor": 1}
"""Options of a window that is as large as its image."""


def _channels(site: PlacedOperator, w: NDArray[Any]) -> int:
    """Give the channels of the data; each group of filters takes a share of them."""
    channels = site.tensor(0).shape[-1:]
    if not channels or not channels[0] or w.ndim != _IMAGES or not w.shape[3]:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    return channels[0]


def _make_conv(site: PlacedOperator) -> OperatorRunner:
    w, how = site.constant(1), {**site.x(), **site.weights(1, 0), **site.y, **site.activation}
    groups, rest = divmod(_channels(site, w), w.shape[3])
    if rest or not groups:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    more = {**site.moves, **site.dilation, **site.own(), "groups": groups}
    return sums_made(site, tflite.Conv2D(w, site.bias(2), **how, **more), _conv_sums, tells_bias_type=True)


def _make_depthwise(site: PlacedOperator) -> OperatorRunner:
    w, how = site.constant(1), {**site.x(), **site.weights(1, 3), **site.y, **site.activation}
    multiplier, rest = divmod(w.shape[-1], _channels(site, w))
    if rest:
        raise Missing(f"its weights of shape {w.shape} do not fit {site.tensor(0).shape}")
    more = {**site.moves, **site.dilation, **site.own(), "depth_multiplier": multiplier}
    op = tflite.DepthwiseConv2D(w, site.bias(2), **how, **more)
    return sums_made(site, op, _depthwise_sums, channel=_DEEP)


def _make_transposed(site: PlacedOperator) -> OperatorRunner:
    shape = site.size(0) if site.tensor(0).data is not None else _announced(site)
    how = {**site.x(2), **site.weights(1, 0), **site.y, **site.activation}
    if how["w_type"] == "int4":
        raise Missing("its weights have 4 bits, for which TFLite has no kernel")
    given = {name: value for name, value in how.items() if name != "w_type"}
    op = tflite.TransposeConv(shape, site.constant(1), site.bias(3), **given, **site.moves, **site.own(2))
    made = sums_made(site, op, partial(_transposed_sums, shape=shape), (2, 1), tells_bias_type=True)
    if site.tensor(0).data is not None:
        return made

    def run(x: NDArray[Any], told: NDArray[Any]) -> NDArray[Any]:
        if told.reshape(-1)[1:].tolist() != shape[1:]:
            raise ValueError(f"its first input tells a result of shape {told.tolist()}, the file one of {shape}")
        return np.asarray(op(x))

    return OperatorRunner((2, 0), run, made.layer, op)


def _announced(site: PlacedOperator) -> list[int]:
    """Give the shape that the file announces for the result, where its first input, which tells it, is computed."""
    shape = [n or (0 if i else 1) for i, n in enumerate(site.outputs[0].shape)]
    if not all(shape) or prod(shape) > MOST:
        raise Missing(f"its result has shape {site.outputs[0].shape}, and what tells it is no constant")
    return shape


def _conv_sums(op: Operator, x: Values, w: Values) -> Values:
    groups = x.shape[3] // w.shape[3]
    made = [
        np.einsum("nhwcij,oijc->nhwo", windows_of(op, a, b.shape[1:3]), b, optimize=True)
        for a, b in zip(np.split(x, groups, 3), np.split(w, groups, 0), strict=True)
    ]
    return np.concatenate(made, 3)


def _depthwise_sums(op: Operator, x: Values, w: Values) -> Values:
    filters = w[0].reshape(*w.shape[1:3], x.shape[3], -1)
    made = np.einsum("nhwcij,ijcm->nhwcm", windows_of(op, x, w.shape[1:3]), filters, optimize=True)
    return made.reshape(*made.shape[:3], -1)


def _transposed_sums(op: Operator, x: Values, w: Values, shape: Sequence[int]) -> Values:
    """Add each pixel's copy of the filters to the result, where it does not lie on the padding."""
    down, across = _scattering(op, tuple(shape), x, w)
    sums = np.zeros((len(x), *shape[1:3], len(w)))
    for i, j in np.ndindex(w.shape[1:3]):
        (rows, to_rows), (columns, to_columns) = down.seen(i), across.seen(j)
        sums[:, to_rows, to_columns] += x[:, rows, columns] @ w[:, i, j].T
    return sums


def _scattering(op: Operator, shape: tuple[int, ...], x: NDArray[Any], w: NDArray[Any]) -> list[Axis]:
    """Give how the filters of TRANSPOSE_CONV lie on a result of this shape: one place for each pixel of the data."""
    each = zip(axes_of(op, shape, w.shape[1:3]), x.shape[1:3], strict=True)
    return [axis.placed(places) for axis, places in each]


def _real_transpose_conv(operator: Operator, given: Given) -> Values:
    shape, w, x, bias = (*given, None)[:4]
    y = _transposed_sums(operator, x, w, [int(n) for n in shape])
    return activated(operator, y if bias is None else y + bias)


def _cut_convolution(operator: Operator, given: Sequence[Any], index: Index, channel: int = 0) -> CutOperator:
    """One filter on the pixels under it, VALID; `channel` is the axis of the weights that has the output channels."""
    x, w = given[:2]
    o = index[3]
    filters = w[0, :, :, o, None] if channel == _DEEP else w[o]
    seen = taps_of(operator, x, filters.shape[:2], index)
    first = o // (w.shape[channel] // (x.shape[3] // filters.shape[2])) * filters.shape[2]
    seen = seen[..., first : first + filters.shape[2]]
    kept = needed(seen, zero_of(operator.inputs[0]), filters, zero_of(operator.inputs[1]))
    image, small = seen[kept][None], filters[kept][None]
    options = {**operator.options, **_DENSE, **({"DepthMultiplier": 1} if channel == _DEEP else {})}
    how = sized("output channel at one place", x.shape[1:], image.shape[1:])
    made = replace(operator, inputs=of_channel(operator, small, given[2:], o), options=options)
    return CutOperator(made, arrays_of(made, image), [(1, 1, 1, 1)], (0, 0, 0, 0), how)


def _cut_transposed(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """TRANSPOSE_CONV: the pixels that an element is made of, with their weights, as the channels of one pixel."""
    size, w, x = given[:3]
    o, (down, across) = index[3], _scattering(operator, tuple(np.ravel(size).tolist()), x, w)
    taps = [(row, i, column, j) for row, i in readers(down, index[1]) for column, j in readers(across, index[2])]
    pixels = [x[index[0], row, column] for row, _, column, _ in taps]
    filters = [w[o, i, j] for _, i, _, j in taps]
    seen, taken = (np.concatenate(part) if part else np.zeros(1, w.dtype) for part in (pixels, filters))
    if not pixels:
        seen = np.full(1, zero_of(operator.inputs[2]), x.dtype)
    (kept,) = needed(seen, zero_of(operator.inputs[2]), taken, zero_of(operator.inputs[1]))
    image, small = seen[kept].reshape(1, 1, 1, -1), taken[kept].reshape(1, 1, 1, -1)
    options = {**operator.options, "StrideH": 1, "StrideW": 1, "Padding": 1}
    biases = zip(operator.inputs[3:], given[3:], strict=True)
    rest = [None if t is None else with_data(t, bias[o : o + 1], o) for t, bias in biases]
    one = with_data(operator.inputs[0], np.ones(4, np.int32))
    inputs = [one, with_data(operator.inputs[1], small, o), operator.inputs[2], *rest]
    made = replace(operator, inputs=inputs, options=options)
    arrays = [one.data, small, image, *(None if t is None else t.data for t in rest)]
    how = f"one output channel at one place, its {image.size} products that are not 0 as channels of one pixel"
    return CutOperator(made, arrays, [(1, 1, 1, 1)], (0, 0, 0, 0), how)


KINDS = {
    "CONV_2D": Kind(
        make=_make_conv,
        real=real_layer(_conv_sums),
        hybrid=HybridLayer(_conv_sums, conv_2d_steps),
        cut=_cut_convolution,
        code=c_of_sums,
        schema="Conv2DOptions",
        version=3,
        sums=(0, 1),
        by_image=always,
    ),
    "DEPTHWISE_CONV_2D": Kind(
        make=_make_depthwise,
        real=real_layer(_depthwise_sums),
        hybrid=HybridLayer(_depthwise_sums, depthwise_conv_2d_steps),
        cut=partial(_cut_convolution, channel=_DEEP),
        code=c_of_sums,
        schema="DepthwiseConv2DOptions",
        version=3,
        sums=(0, 1),
        channel=_DEEP,
        by_image=always,
    ),
    "TRANSPOSE_CONV": Kind(
        make=_make_transposed,
        real=_real_transpose_conv,
        cut=_cut_transposed,
        code=c_of_sums,
        schema="TransposeConvOptions",
        sums=(2, 1),
    ),
}

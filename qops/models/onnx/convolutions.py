"""Convolutions over any number of axes, of codes and of floats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from qops import onnx
from qops._kernels.arrays.axis import Axis
from qops.models.code.sums import c_of_sums
from qops.models.cut import Index, needed, sized, under_window
from qops.models.onnx.code import c_of_codes
from qops.models.onnx.cut import CutNode, given_at, of_channel, zero_at
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Fusion, Kind
from qops.models.onnx.products import INTEGERS, OF_WEIGHTS, OF_X, c_of_integers
from qops.models.onnx.shapes import bounded
from qops.models.onnx.site import PlacedNode
from qops.models.onnx.windows import grid_of, shape_of_windows
from qops.models.op import Missing
from qops.models.tensor import Values
from qops.onnx.pool_window import taps
from qops.onnx.window import ConvolutionWindow

__all__ = ["KINDS"]

Given = Sequence[Any]
_WINDOW = {"auto_pad": "NOTSET", "dilations": None, "group": 1, "kernel_shape": None, "pads": None, "strides": None}
"""The attributes of a convolution, and what they are when they are left out."""


def conv(node: Node, x: Values, w: Values) -> Values:
    """Give the sums of products of a convolution, exactly if they are integers that double holds.

    Parameters
    ----------
    node : Node
        Conv, or a node with its attributes.
    x, w : ndarray of float64
        (N, C, ...) and (M, C / group, ...).

    Returns
    -------
    ndarray of float64, (N, M, ...)

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    group, axes = node.get("group", 1), grid_of(node, x, w.shape[2:])
    if w.ndim != x.ndim or group < 1 or len(w) % group or x.shape[1] != w.shape[1] * group:
        raise ValueError(f"weights of shape {w.shape}, group {group}, do not fit {x.shape}")
    made = np.zeros((len(x), len(w), *bounded([axis.positions for axis in axes])))
    parts, each = np.split(x, group, 1), len(w) // group
    for (of_result, of_image), tap in zip(taps(axes), np.ndindex(w.shape[2:]), strict=True):
        for g, part in enumerate(parts):
            factors = w[(slice(g * each, (g + 1) * each), slice(None), *tap)]
            found = np.moveaxis(np.tensordot(factors, part[of_image], (1, 1)), 0, 1)
            made[:, g * each : (g + 1) * each][of_result] += found
    return made


def _real_conv(node: Node, given: Given) -> Values:
    x, w, bias = (*given, None)[:3]
    made = conv(node, x, w)
    return made if bias is None else made + bias.reshape(-1, *[1] * (x.ndim - 2))


def _transposed(axis: Axis, places: int, grows: int) -> Axis:
    """Give the axis of a result on which a window has so many places, and which is larger by what it `grows`."""
    size = (places - 1) * axis.stride + axis.span - axis.before - axis.after + grows
    return axis.over(size).placed(places)


def _check_conv_transpose(site: PlacedNode) -> None:
    if site.node.get("auto_pad", "NOTSET") != "NOTSET" or site.node.get("output_shape"):
        raise Missing("ConvTranspose with auto_pad or output_shape is not read")


def _real_conv_transpose(node: Node, given: Given) -> Values:
    """Each pixel of the image adds its product with the filter to a part of the result."""
    x, w, bias = (*given, None)[:3]
    group, rank = node.get("group", 1), x.ndim - 2
    strides, dilations = node.get("strides") or [1] * rank, node.get("dilations") or [1] * rank
    pads, more = node.get("pads") or [0] * 2 * rank, node.get("output_padding") or [0] * rank
    if min([0, *pads, *more]) < 0 or min([1, *strides, *dilations]) < 1 or len(x.shape) != len(w.shape):
        raise ValueError("its attributes do not fit")
    axes = [
        _transposed(Axis(k, s, d, before, after), places, grows)
        for k, s, d, before, after, places, grows in zip(
            w.shape[2:], strides, dilations, pads[:rank], pads[rank:], x.shape[2:], more, strict=True
        )
    ]
    outs = w.shape[1]
    made = np.zeros(bounded([len(x), outs * group, *(axis.size for axis in axes)]))
    for g, (part, factors) in enumerate(zip(np.split(x, group, 1), np.split(w, group, 0), strict=True)):
        for (of_image, of_result), tap in zip(taps(axes), np.ndindex(w.shape[2:]), strict=True):
            found = np.moveaxis(np.tensordot(factors[(..., *tap)], part[of_image], (0, 1)), 0, 1)
            made[:, g * outs : (g + 1) * outs][of_result] += found
    return made if bias is None else made + bias.reshape(-1, *[1] * rank)


def _cut_convolution(spec: Spec, node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One filter on what is under it, without padding."""
    of_x, of_w = spec.of
    x, w, o = data[of_x.tensor], data[of_w.tensor], index[1]
    if node.get("channels_last"):
        return None
    moves = ConvolutionWindow.of(w, {name: node.get(name, otherwise) for name, otherwise in _WINDOW.items()})
    zeros = zero_at(given_at(data, of_x.zero_point)), zero_at(given_at(data, of_w.zero_point), o)
    each = w.shape[1]
    first = o // (len(w) // moves.group) * each
    seen = under_window(x[index[0], first : first + each], moves.axes(x.shape[2:]), index[2:], 1, zeros[0])
    kept = needed(seen, zeros[0], w[o], zeros[1])
    few, filters = seen[kept][None], w[o][kept][None]
    inputs = {of_x.tensor: few, of_w.tensor: filters} | of_channel(data, spec.channels, o)
    return CutNode({}, inputs, (1,) * x.ndim, sized("output channel at one place", x.shape[1:], few.shape[1:]))


_CONV = Spec((OF_X, QuantizedInput(*OF_WEIGHTS, 0)), (6, 7), "Conv", 8)
KINDS = {
    "QLinearConv": Kind(
        function=onnx.qlinear_conv,
        prepared=onnx.QLinearConv,
        inputs=_CONV,
        sums=conv,
        cut=partial(_cut_convolution, _CONV),
        code=c_of_sums,
    ),
    "ConvInteger": Kind(
        function=onnx.conv_integer,
        prepared=onnx.ConvInteger,
        rule="exact",
        inputs=INTEGERS,
        cut=partial(_cut_convolution, INTEGERS),
        code=partial(c_of_integers, operands=("x", "w")),
        result="int32",
    ),
    "Conv": Kind(
        real=_real_conv,
        code=c_of_codes,
        least=2,
        shape=shape_of_windows,
        fusion=Fusion(has_filters=True, checks_bias_scale=True, fails_as="QLinearConv"),
        quantizes_weights=True,
    ),
    "ConvTranspose": Kind(
        real=_real_conv_transpose, check=_check_conv_transpose, code=c_of_codes, quantizes_weights=True
    ),
}

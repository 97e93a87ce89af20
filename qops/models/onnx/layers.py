"""What `qops.explain` and a port need of ONNX's layers: exact sums, scales, ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.onnx.inputs import spec_of
from qops.models.onnx.makers import Site
from qops.models.onnx.sums import conv, gemm, matmul
from qops.models.op import Layer
from qops.models.tensor import Values
from qops.rules import Requantize

__all__ = ["layer_of"]

_RULES = {"onnx": "double-even-zp-inside", "ort": "fp32-even"}
_LAYERS = ("QLinearConv", "QLinearMatMul", "QGemm")
_BINARY = {"QLinearAdd": "add", "QLinearMul": "mul"}


def layer_of(site: Site) -> Layer | None:
    """Give the layer of a node, as `qops.explain` and ports read it.

    Parameters
    ----------
    site : Site

    Returns
    -------
    Layer or None
        None for other operators, or if a scale or a zero point is not constant.
    """
    node, spec = site.node, spec_of(site.node)
    if spec is None or spec.y is None or node.kind not in (*_LAYERS, *_BINARY):
        return None
    parts = [(site.constant(codes.scale), _zero(site, codes.zero_point)) for codes in spec.of]
    y_scale, y_zero = site.constant(spec.y[0]), _zero(site, spec.y[1])
    if y_scale is None or any(scale is None for scale, _ in parts) or any(len(np.unique(z)) != 1 for _, z in parts):
        return None
    ends = np.iinfo(y_zero.dtype)
    zeros = [int(zero.flat[0]) for _, zero in parts]
    (a_scale, b_scale), y = (scale for scale, _ in parts), {"qmin": int(ends.min), "qmax": int(ends.max)}
    assert a_scale is not None
    assert b_scale is not None
    if node.kind in _BINARY:
        numbers = {
            "a_scale": _one(a_scale),
            "a_zero_point": zeros[0],
            "b_scale": _one(b_scale),
            "b_zero_point": zeros[1],
        }
        numbers |= {"y_scale": _one(y_scale), "y_zero_point": int(y_zero.flat[0])}
        return Layer(_BINARY[node.kind], numbers | y)
    return _sums(site, zeros, (a_scale, b_scale, y_scale), int(y_zero.flat[0]), y)


def _sums(
    site: Site, zeros: list[int], scales: tuple[NDArray[Any], ...], zero: int, ends: dict[str, int]
) -> Layer | None:
    """Give a layer of sums of products, whose channels are axis 1 of images, or the last axis of matrices."""
    node, weights = site.node, site.constant(3)
    if weights is None:
        return None
    is_conv = node.kind == "QLinearConv"
    products: dict[str, Callable[..., Values]] = {"QLinearConv": conv, "QGemm": gemm, "QLinearMatMul": _matmul}
    product = products[node.kind]
    spec = spec_of(node)
    centred = weights.astype(np.float64) - zeros[1]
    bias = None if spec is None or spec.bias is None else site.constant(spec.bias)
    along = [-1, *[1] * (weights.ndim - 2)] if is_conv else [-1]

    def sums(codes: NDArray[Any], bias: NDArray[Any] | None) -> NDArray[np.int64]:
        made = np.rint(product(node, codes.astype(np.float64) - zeros[0], centred)).astype(np.int64)
        return made if bias is None else made + _along(bias.astype(np.int64), along)

    w_scale = scales[1] * np.float32(node.get("alpha", 1.0))
    axis = 1 if is_conv else -1
    numbers: dict[str, Any] = {"in_scale": _one(scales[0]), "w_scale": _one(w_scale), "out_scale": _one(scales[2])}
    numbers |= {"zero_point": zero, **ends} | ({"axis": axis} if w_scale.size > 1 else {})
    dtype = "uint8" if ends["qmin"] == 0 else "int8"
    step = np.ravel(np.float32(scales[0]) * w_scale / np.float32(scales[2])).astype(np.float64)
    scale = step if step.size > 1 else float(step[0])
    rule = Requantize(
        _RULES[site.runtime if node.kind != "QGemm" else "ort"], scale=scale, zero_point=zero, dtype=dtype, axis=axis
    )
    channel = 0 if is_conv or node.get("transB", 0) else -1
    return Layer("requantize", numbers, weights, bias, sums, zeros[0], zeros[1], rule, channel)


def _along(bias: NDArray[Any], shape: list[int]) -> NDArray[Any]:
    """Give a bias so that it broadcasts along the channels of the sums."""
    return bias.reshape(shape) if bias.ndim == 1 else bias


def _matmul(node: Node, a: Values, b: Values) -> Values:
    return matmul(a, b)


def _zero(site: Site, place: int) -> NDArray[Any]:
    """A zero point that is left out is 0, of the type of the codes that the node writes."""
    found = site.constant(place)
    return np.zeros(1, site.tensors[site.node.outputs[0]].dtype) if found is None else found


def _one(scale: NDArray[Any]) -> Any:
    return float(np.ravel(scale)[0]) if scale.size == 1 else scale.astype(np.float64).ravel()

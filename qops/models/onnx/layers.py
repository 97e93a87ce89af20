"""What `qops.explain` and a port need of ONNX's layers: sums, scales, ends."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.kinds import kind_of, spec_of
from qops.models.onnx.lost import lost_of
from qops.models.onnx.site import PlacedNode
from qops.models.op import Layer
from qops.rules import Requantize

__all__ = ["layer_of"]


def layer_of(site: PlacedNode, op: Any) -> Layer | None:
    """Give the layer of a node, as `qops.explain` and ports read it; what the prepared op has is read off it.

    Parameters
    ----------
    site : PlacedNode
    op : Prepared or None
        The prepared op of the node; None where more than the data is known at run time only.

    Returns
    -------
    Layer or None
        None for other operators, or if a scale or a zero point is not constant.
    """
    row, spec = kind_of(site.node), spec_of(site.node)
    if spec is None or spec.y is None or op is None or (row.sums is None and not row.explained):
        return None
    parts = [(site.constant(codes.scale), _zero(site, codes.zero_point)) for codes in spec.of]
    y_scale, y_zero = site.constant(spec.y[0]), _zero(site, spec.y[1])
    if y_scale is None or any(scale is None for scale, _ in parts) or any(len(np.unique(z)) != 1 for _, z in parts):
        return None
    (a_scale, b_scale), zeros = (scale for scale, _ in parts), [int(zero.flat[0]) for _, zero in parts]
    assert a_scale is not None
    assert b_scale is not None
    if row.sums is not None:
        return _sums(site, op, zeros, (a_scale, b_scale, y_scale), y_zero)
    both = {"a": (a_scale, zeros[0]), "b": (b_scale, zeros[1]), "y": (y_scale, int(y_zero.flat[0]))}
    numbers: dict[str, Any] = {}
    for name, (scale, zero) in both.items():
        numbers |= {f"{name}_scale": _one(scale), f"{name}_zero_point": zero}
    ends = np.iinfo(y_zero.dtype)
    return Layer(row.explained, {**numbers, "qmin": int(ends.min), "qmax": int(ends.max)})


def _sums(
    site: PlacedNode, op: Any, zeros: list[int], scales: tuple[NDArray[Any], ...], y_zero: NDArray[Any]
) -> Layer | None:
    """Give a layer of sums of products, whose channels are axis 1 of images, or the last axis of matrices."""
    node, row, spec = site.node, kind_of(site.node), spec_of(site.node)
    product = row.sums
    assert spec is not None
    assert product is not None
    own = site.constant(spec.of[1].tensor)
    if own is None:
        return None
    requantize = _in_type(op.requantize(y_zero.dtype), y_zero)
    centred, bias = own.astype(np.float64) - zeros[1], None if spec.bias is None else site.constant(spec.bias)
    along = [-1, *[1] * (own.ndim - 2)] if requantize.axis == 1 else [-1]

    def exact(codes: NDArray[Any], bias: NDArray[Any] | None, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
        by = centred if weights is None else weights.astype(np.float64) - zeros[1]
        made = np.rint(product(node, codes.astype(np.float64) - zeros[0], by)).astype(np.int64)
        return made if bias is None else made + _along(bias.astype(np.int64), along)

    lost = lost_of(site, op, zeros[0])

    def sums(codes: NDArray[Any], bias: NDArray[Any] | None, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
        assert lost is not None
        return exact(codes, bias, weights) + lost(codes, own if weights is None else weights)

    w_scale = scales[1] * np.float32(node.get("alpha", 1.0))
    numbers: dict[str, Any] = {"in_scale": _one(scales[0]), "w_scale": _one(w_scale), "out_scale": _one(scales[2])}
    numbers |= {"zero_point": int(y_zero.flat[0]), **dict(zip(("qmin", "qmax"), requantize.ends, strict=True))}
    numbers |= {"axis": requantize.axis} if w_scale.size > 1 else {}
    made = Layer("requantize", numbers, own, bias, exact, zeros[0], zeros[1], requantize, spec.of[1].axis or 0)
    return made if lost is None else replace(made, sums=sums, exact=exact)


def _in_type(requantize: Requantize, zero: NDArray[Any]) -> Requantize:
    """Give the same for the type that the node writes, where onnxruntime computes codes of int8 as uint8."""
    info, axis = np.iinfo(zero.dtype), requantize.axis
    if requantize.ends == (info.min, info.max):
        return requantize
    number = int(zero.flat[0])
    return Requantize(requantize.rule, scale=requantize.scale, zero_point=number, dtype=zero.dtype, axis=axis)


def _along(bias: NDArray[Any], shape: list[int]) -> NDArray[Any]:
    """Give a bias so that it broadcasts along the channels of the sums."""
    return bias.reshape(shape) if bias.ndim == 1 else bias


def _zero(site: PlacedNode, place: int) -> NDArray[Any]:
    """A zero point that is left out is 0, of the type of the codes that the node writes."""
    found = site.constant(place)
    return np.zeros(1, site.tensors[site.node.outputs[0]].dtype) if found is None else found


def _one(scale: NDArray[Any]) -> Any:
    return float(np.ravel(scale)[0]) if scale.size == 1 else scale.astype(np.float64).ravel()

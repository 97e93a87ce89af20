"""Layers of sums of products: what `explain` and ports read of them, off the prepared op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Layer, Missing
from qops.models.tensor import Values
from qops.models.tflite.file import Operator
from qops.models.tflite.site import OperatorRunner, PlacedOperator, activated
from qops.tflite.kernels import KERNELS

__all__ = ["real_layer", "sums_made"]


Given = Sequence[Any]
_INT32 = 2  # the number of the type in the schema
_OFF = 0.02  # steps of the result that a step of the bias may be away from one of the sums


def sums_made(
    site: PlacedOperator,
    op: Any,
    sums: Callable[..., Values],
    places: tuple[int, int] = (0, 1),
    channel: int = 0,
    *,
    tells_bias_type: bool = False,
    checks_bias_scale: bool = False,
) -> OperatorRunner:
    """Give what is made of an operator that sums up products; what the prepared op has is read off it.

    Parameters
    ----------
    site : PlacedOperator
        The operator in its place.
    op : Prepared
        The prepared op, whose last axis has the channels.
    sums : callable
        ``sums(operator, x, w)`` gives the sums of products.
    places : (int, int)
        Where data and weights stand among the inputs; the bias is the one after them.
    channel : int
        Which axis of the weights has the output channels.
    tells_bias_type : bool
        Whether an option must say that a bias is int32 where the data are int16.
    checks_bias_scale : bool
        Whether the scale of a bias is compared with that of the sums for all types of data, not for uint8 alone.

    Returns
    -------
    OperatorRunner
        With the layer as `qops.explain` and ports read it.

    Raises
    ------
    Missing
        A bias that LiteRT refuses, or would read past its end.
    """
    (x, w), shape = places, site.tensor(places[0]).shape
    requantize = op.requantize_for(shape) if shape else op.requantize
    if site.has(max(places) + 1):
        _check_bias(site, op, places, tells_bias_type, checks_bias_scale)
    (zero, w_zero), ends = op.zero_points, dict(zip(("qmin", "qmax"), requantize.ends, strict=True))
    centred = site.constant(w).astype(np.float64) - w_zero

    def exact(codes: NDArray[Any], bias: NDArray[Any] | None, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
        by = centred if weights is None else weights.astype(np.float64) - w_zero
        made = np.rint(sums(site.operator, codes.astype(np.float64) - zero, by)).astype(np.int64)
        return made if bias is None else made + bias.astype(np.int64)

    def kept(codes: NDArray[Any], bias: NDArray[Any] | None, weights: NDArray[Any] | None = None) -> NDArray[np.int64]:
        return np.asarray(op.kept(exact(codes, bias, weights), codes, weights))

    scales = {"in_scale": op.x_scale, "w_scale": op.w_scale, "out_scale": op.y_scale}
    numbers = {**scales, "zero_point": op.y_zero_point, **ends}
    bias = site.bias(max(places) + 1)
    layer = Layer("requantize", numbers, site.constant(w), bias, exact, zero, w_zero, requantize, channel)
    return OperatorRunner((x,), op, replace(layer, sums=kept, exact=exact) if op.loses else layer)


def _check_bias(site: PlacedOperator, op: Any, places: tuple[int, int], tells_type: bool, checks_scale: bool) -> None:
    """Refuse what LiteRT refuses of a bias, or would read past its end."""
    facts, tensor, dtype = KERNELS[site.kernel], site.tensor(max(places) + 1), site.tensor(places[0]).dtype
    if (
        tells_type
        and facts.biases_by_option
        and dtype == "int16"
        and tensor.dtype == "int32"
        and site.options.get("QuantizedBiasType") != _INT32
    ):
        raise Missing(f"its bias {tensor.name!r} is int32, which the option quantized_bias_type must say")
    has_one_scale = np.ndim(op.w_scale) == 0 and (dtype == "uint8" or checks_scale)
    if facts.checks_bias and has_one_scale and tensor.scale is not None and tensor.scale.ndim == 0:
        off = abs(op.x_scale * op.w_scale - float(tensor.scale)) / op.y_scale
        if off > _OFF:
            raise Missing(f"the scale of its bias, {tensor.scale}, is not that of its sums")


def real_layer(sums: Callable[..., Values]) -> Callable[[Operator, Given], Values]:
    """Give the real function of a layer of the sums that ``sums(operator, x, w)`` gives."""

    def real(operator: Operator, given: Given) -> Values:
        x, w, bias = (*given, None)[:3]
        y = sums(operator, x, w)
        return activated(operator, y if bias is None else y + bias)

    return real

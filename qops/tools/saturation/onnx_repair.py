"""Repairs written into an .onnx file: other codes and scales of weights, channels in another order, data of 7 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.lanes.sums import Sums
from qops.tools.saturation.onnx_model import OnnxModel, places_of
from qops.tools.saturation.repair import Repair

__all__ = ["put_into_onnx"]

_MOVES = ("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "MaxPool", "Identity")


def put_into_onnx(model: OnnxModel, weights: str, sums: Sums, made: Repair) -> None:
    """Let a layer of a model read what a repair has made.

    Parameters
    ----------
    model : OnnxModel
        Changed.
    weights : str
        The name of the weights of the layer.
    sums : Sums
        What it adds.
    made : Repair
        A repair that changes weights, scales or the order of channels.

    Raises
    ------
    ValueError
        A form of the layer in which the file cannot hold the repair.
    """
    node, holder = model.layer(weights)
    if made.channels is not None:
        _put_in_order(model, node, made.channels, sums)
    if made.data_scale != 1:
        _narrow_data(model, node, sums)
    _put_codes(model, node, holder, weights, made)
    factor = made.scale * made.data_scale
    if (made.scale != 1).any():
        _widen(model, node, holder, made.scale)
    if (factor != 1).any():
        _put_bias(model, node, factor)


def _put_codes(model: OnnxModel, node: Any, holder: Any, weights: str, made: Repair) -> None:
    """Put the codes in the order of the file: filters (outputs, channels, taps), matrices with outputs in either."""
    old = model.array(weights)
    cells = made.weights.reshape(-1, *made.weights.shape[2:])
    if old.ndim > 2 or node.op_type.endswith(("Conv", "ConvInteger")):
        new = cells.reshape(*cells.shape[:2], *old.shape[2:])
    else:
        new = cells[:, :, 0] if model.axis_of_outputs(node) == 0 else cells[:, :, 0].T
    model.put(holder, list(holder.input).index(weights), model.constant(weights, new.astype(old.dtype)))


def _widen(model: OnnxModel, node: Any, holder: Any, factor: NDArray[np.float64]) -> None:
    """Give the weights a scale for each output channel."""
    places = places_of(holder)
    assert places is not None
    _, scale, zero, _ = places.of[-1]
    if scale is None:
        _widen_behind(model, node, factor)
        return
    name, axis = model.given(holder, scale), model.axis_of_outputs(node)
    own = np.ravel(model.array(name))
    uniform = own.size == 1 and (factor == factor[0]).all()
    new = own * (factor[:1] if uniform else factor)
    shape = np.shape(model.array(name)) if uniform else new.shape
    model.put(holder, scale, model.constant(name, new.astype(own.dtype).reshape(shape)))
    if uniform:
        return
    given = model.given(holder, zero)
    if given:
        zeros = model.array(given)
        model.put(holder, zero, model.constant(given, np.broadcast_to(np.ravel(zeros), new.shape)))
    if holder.op_type == "DequantizeLinear":
        for one in [one for one in holder.attribute if one.name == "axis"]:
            holder.attribute.remove(one)
        holder.attribute.append(model.onnx.helper.make_attribute("axis", axis))


def _widen_behind(model: OnnxModel, node: Any, factor: NDArray[np.float64]) -> None:
    """The scale of MatMulInteger and ConvInteger stands behind a Cast, alone or multiplied by that of the data."""
    name, found = node.output[0], None
    for kind in ("Cast", "Mul"):
        readers = model.readers.get(name, [])
        if len(readers) != 1 or readers[0].op_type != kind:
            break
        found, before, name = readers[0], name, readers[0].output[0]
    if found is None or found.op_type != "Mul":
        raise bad_value("how", f"no Cast and Mul behind {node.op_type} {node.name!r} hold a scale that could be wider")
    place = 1 - list(found.input).index(before)
    scale = found.input[place]
    if scale not in model.constants:
        found = model.writer.get(scale)
        places = [] if found is None else [i for i, one in enumerate(found.input) if one in model.constants]
        if found is None or found.op_type != "Mul" or len(places) != 1 or len(model.readers[scale]) != 1:
            raise bad_value("how", f"the scale of {node.op_type} {node.name!r} is no constant of its own")
        place = places[0]
        scale = found.input[place]
    own = model.array(scale)
    axes = (1,) * (model.array(node.input[1]).ndim - 2)
    if own.size not in (1, factor.size):
        raise bad_value("how", f"the scale {scale!r} is not one for each output channel")
    wide = np.ravel(own) * factor
    model.put(found, place, model.constant(scale, wide.astype(own.dtype).reshape(-1, *axes)))


def _put_bias(model: OnnxModel, node: Any, factor: NDArray[np.float64]) -> None:
    """A bias of codes has the scale of the products: its codes become as much smaller as that becomes wider."""
    places = places_of(node)
    if places is not None:
        name = model.given(node, places.bias)
        if name and places.bias is not None:
            model.put(node, places.bias, model.constant(name, _smaller(model.array(name), factor)))
        return
    writer = model.writer.get(model.given(node, 2))
    if writer is None or writer.op_type != "DequantizeLinear":
        return
    name, scale, zero = (model.given(writer, i) for i in (0, 1, 2))
    wide = np.ravel(model.array(scale)) * factor
    numbers = [
        model.constant(name, _smaller(model.array(name), factor)),
        model.constant(scale, wide.astype(model.array(scale).dtype)),
    ]
    if zero:
        numbers.append(model.constant(zero, np.zeros(wide.shape, model.array(name).dtype)))
    own = model.node("DequantizeLinear", numbers, writer.output[0], node, axis=0)
    model.put(node, 2, own)


def _smaller(codes: NDArray[Any], factor: NDArray[np.float64]) -> NDArray[Any]:
    return np.rint(codes.astype(np.float64) / factor).astype(codes.dtype)


def _codes_before(model: OnnxModel, node: Any) -> tuple[Any, list[str]]:
    """Give the DequantizeLinear of the data of a node on floats, and the names of scale and zero point."""
    name = node.input[0]
    while True:
        writer = model.writer.get(name)
        if writer is None or writer.op_type not in (*_MOVES, "DequantizeLinear"):
            raise bad_value("how", f"the data of {node.op_type} {node.name!r} are no codes of the file")
        if writer.op_type == "DequantizeLinear":
            return writer, list(writer.input[1:])
        name = writer.input[0]


def _on_codes(model: OnnxModel, node: Any) -> tuple[str, list[str], bool]:
    """Give the codes that a node reads, their scale and zero point, and whether the node reads floats."""
    places = places_of(node)
    if places is not None:
        of_data = places.of[0][1:3] if len(places.of) > 1 else (None, None)  # a layer may quantize its data itself
        return node.input[0], [model.given(node, place) for place in of_data], False
    writer, numbers = _codes_before(model, node)
    if writer.output[0] == node.input[0]:
        return writer.input[0], numbers, True
    return model.node("QuantizeLinear", [node.input[0], *numbers], node.input[0], node), numbers, True


def _put_in_order(model: OnnxModel, node: Any, channels: NDArray[np.int64], sums: Sums) -> None:
    """Gather the channels of the data; beside those that are added stand weights of 0, so any channel serves."""
    if np.any(sums.w_zero):
        raise bad_value("how", "'pairs' adds weights of code 0, and the zero point of these weights is another")
    codes, numbers, is_float = _on_codes(model, node)
    index = model.constant("channels", np.maximum(channels, 0))
    moved = model.node("Gather", [codes, index], codes, node, axis=1 if sums.is_convolution else -1)
    if is_float:
        moved = model.node("DequantizeLinear", [moved, *numbers], node.input[0], node)
    model.put(node, 0, moved)


def _narrow_data(model: OnnxModel, node: Any, sums: Sums) -> None:
    """Quantize the data once more, to 7 bits: a scale twice as wide, half the zero point, and codes up to 127."""
    codes, numbers, is_float = _on_codes(model, node)
    if not numbers[0]:
        raise bad_value("how", f"{node.op_type} {node.name!r} does not say the scale of its data")
    scale = model.constant(numbers[0], model.array(numbers[0]) * np.float32(2))
    zero = model.constant(f"{numbers[0]}_zero", np.uint8(round(sums.x_zero / 2)))
    real = model.node("DequantizeLinear", [codes, *numbers], codes, node)
    half = model.node("QuantizeLinear", [real, scale, zero], codes, node)
    top = model.constant("top", np.uint8(127))
    half = model.node("Clip", [half, "", top], codes, node)
    places = places_of(node)
    if is_float or places is None:
        model.put(node, 0, model.node("DequantizeLinear", [half, scale, zero], node.input[0], node))
        return
    for place, name in zip(places.of[0][:3], (half, scale, zero), strict=True):
        model.put(node, place or 0, name)

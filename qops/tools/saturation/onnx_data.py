"""An .onnx file whose data are codes of int8 where they were of uint8: the same real values, 128 less."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops.tools.saturation.onnx_model import OnnxModel, is_layer_of_codes, places_of

__all__ = ["with_signed_data"]

_UINT8 = 2
_MAKES_UINT8 = ("DynamicQuantizeLinear", "DynamicQuantizeMatMul")


def with_signed_data(model: OnnxModel) -> None:
    """Change all data of uint8 to int8, and their zero points.

    Parameters
    ----------
    model : OnnxModel
        Changed.

    Raises
    ------
    ValueError
        Data of uint8 at the ends of the model, or made by a node that gives uint8 alone; a zero point that is no
        constant.
    """
    for end in (*model.graph.input, *model.graph.output):
        if end.type.tensor_type.elem_type == _UINT8 and end.name not in model.constants:
            raise bad_value("how", f"'data' would change the type of {end.name!r}, which the model reads or gives")
    for node in list(model.graph.node):
        is_cast = node.op_type == "Cast" and model.attribute(node, "to") == _UINT8
        if is_cast or node.op_type in _MAKES_UINT8:
            raise bad_value("how", f"{node.op_type} {node.name!r} makes codes of uint8 alone")
        for place in _of_data(model, node):
            _flip(model, node, place)
    for info in [one for one in model.graph.value_info if one.type.tensor_type.elem_type == _UINT8]:
        model.graph.value_info.remove(info)


def _of_data(model: OnnxModel, node: Any) -> list[int]:
    """Give the places of the zero points of data of a node, and of constants that must have the type of its data."""
    places = places_of(node)
    if places is None:
        return []
    found = [one.zero_point for one in places.of if _is_data(model, node.input[one.tensor])]
    if places.y is not None and model.given(node, places.y[0]):  # without a scale the result is float32
        found.append(places.y[1])
        if not is_layer_of_codes(node):  # whose weights have a type of their own
            constants = [one for one in places.of if node.input[one.tensor] in model.constants]
            like_data = [one for one in constants if model.array(node.input[one.tensor]).dtype == np.uint8]
            found += [place for one in like_data for place in (one.tensor, one.zero_point)]
    return sorted(found)


def _is_data(model: OnnxModel, name: str) -> bool:
    """Whether a tensor comes from data or from QuantizeLinear; constants stay constants when nodes move them."""
    if name in model.constants:
        return False
    writer = model.writer.get(name)
    places = None if writer is None else places_of(writer)
    if writer is None or (places is not None and places.y is not None):
        return True
    return any(_is_data(model, one) for one in writer.input if one)


def _flip(model: OnnxModel, node: Any, place: int) -> None:
    name = model.given(node, place)
    old = model.array(name) if name else np.zeros((), np.uint8)
    if old.dtype != np.uint8:
        return
    near = name or f"{node.output[0]}_zero_point"
    model.put(node, place, model.constant(near, (old ^ np.uint8(128)).view(np.int8)))

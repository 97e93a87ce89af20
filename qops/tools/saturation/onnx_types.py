"""An .onnx file whose weights have the other type of 8 bits: the same real values, on exact lanes of onnxruntime."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops.tools.saturation.onnx_model import OnnxModel, is_layer_of_codes, places_of

__all__ = ["with_other_types"]


def with_other_types(model: OnnxModel, names: Iterable[str]) -> None:
    """Give weights the other type, and a zero point that is moved by 128, for all nodes that read them.

    Parameters
    ----------
    model : OnnxModel
        Changed.
    names : iterable of str
        The initializers.

    Raises
    ------
    ValueError
        Weights that are no initializers, or that another operator reads too.
    """
    for name in dict.fromkeys(names):
        codes = model.array(name)
        for node in model.readers[name]:
            _move(model, node, name, codes.dtype)
        model.constants[name].CopyFrom(model.onnx.numpy_helper.from_array(_flipped(codes), name))


def _flipped(codes: Any) -> Any:
    """Give codes of the other type, 128 more or less."""
    other = np.uint8 if codes.dtype == np.int8 else np.int8
    return (codes.view(np.uint8) ^ np.uint8(128)).view(other)


def _move(model: OnnxModel, node: Any, name: str, dtype: Any) -> None:
    """Give a node a zero point of its own for weights that it reads."""
    places = places_of(node) if node.op_type == "DequantizeLinear" or is_layer_of_codes(node) else None
    if places is None or list(node.input).index(name) != places.of[-1].tensor:
        raise bad_value("path", f"{node.op_type} {node.name!r} reads the weights {name!r} too")
    _, scale, zero, _ = places.of[-1]
    given = model.given(node, zero)
    if given:
        old = model.array(given)
    else:
        like = model.array(node.input[scale]) if scale is not None else np.float32(1)
        old = np.zeros(np.shape(like), dtype)
    model.put(node, zero, model.constant(f"{name}_zero_point", _flipped(np.asarray(old))))

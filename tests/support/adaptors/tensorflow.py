"""Names of TensorFlow's ops, inputs, attributes and outputs <-> those of `qops.tensorflow`."""

from collections.abc import Callable
from typing import Any

from qops import tensorflow


def quantize_v2(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    return dict(zip(("output", "output_min", "output_max"), tensorflow.quantize_v2(**i, **attrs), strict=True))


def dequantize(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in attrs.items() if name != "dtype"}
    return {"output": tensorflow.dequantize((i["input"], i["min_range"], i["max_range"]), **options)}


def quantized_add(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_add((i["x"], i["min_x"], i["max_x"]), (i["y"], i["min_y"], i["max_y"]))
    return dict(zip(("z", "min_z", "max_z"), t, strict=True))


def quantized_bias_add(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    bias = (i["bias"], i["min_bias"], i["max_bias"])
    t = tensorflow.quantized_bias_add((i["input"], i["min_input"], i["max_input"]), bias)
    return dict(zip(("output", "min_out", "max_out"), t, strict=True))


def requantize(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    ends = (i["requested_output_min"], i["requested_output_max"])
    t = tensorflow.requantize((i["input"], i["input_min"], i["input_max"]), *ends, **attrs)
    return dict(zip(("output", "output_min", "output_max"), t, strict=True))


def requantization_range(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    found = tensorflow.requantization_range((i["input"], i["input_min"], i["input_max"]))
    return dict(zip(("output_min", "output_max"), found, strict=True))


def quantize_down_and_shrink_range(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantize_down_and_shrink_range((i["input"], i["input_min"], i["input_max"]))
    return dict(zip(("output", "output_min", "output_max"), t, strict=True))


ADAPTORS: dict[str, Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "QuantizeV2": quantize_v2,
    "Dequantize": dequantize,
    "QuantizedAdd": quantized_add,
    "QuantizedBiasAdd": quantized_bias_add,
    "Requantize": requantize,
    "RequantizationRange": requantization_range,
    "QuantizeDownAndShrinkRange": quantize_down_and_shrink_range,
}

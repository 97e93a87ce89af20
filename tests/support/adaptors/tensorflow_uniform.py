"""The adaptors of the Uniform* ops, of the ops with a range per channel, and of the norms."""

import re
from collections.abc import Callable
from typing import Any

from qops import tensorflow


def requantize_per_channel(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    ends = (i["requested_output_min"], i["requested_output_max"])
    t = tensorflow.requantize_per_channel((i["input"], i["input_min"], i["input_max"]), *ends, **attrs)
    return dict(zip(("output", "output_min", "output_max"), t, strict=True))


def requantization_range_per_channel(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    found = tensorflow.requantization_range_per_channel((i["input"], i["input_min"], i["input_max"]), **attrs)
    return dict(zip(("output_min", "output_max"), found, strict=True))


NOT_ARGUMENTS = re.compile(
    "(input_|lhs_|rhs_)quantization_m(in|ax)_val"
)  # attributes that change nothing in TensorFlow


def uniform(name: str) -> Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]:
    def call(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
        unused = {key for key in attrs if NOT_ARGUMENTS.fullmatch(key)}
        if name not in ("uniform_quantize", "uniform_requantize"):
            unused.add("Tout")  # of one type
        if name in ("uniform_dequantize", "uniform_quantized_clip_by_value"):
            unused |= {"quantization_min_val", "quantization_max_val"}
        options = {key: value for key, value in attrs.items() if key not in unused}
        return {"output": getattr(tensorflow, name)(**i, **options)}

    return call


REFUSALS = {
    "operatorsupports 4D tensors only": "input: RequantizePerChannel supports 4D tensors only",
    "If out_type is QINT8": "requested_output_min: If out_type is QINT8",
    "input_m(in|ax) has incorrect size": "input: input_min and input_max has incorrect size",
    "input must be in NHWC format": "input: input must be in NHWC format",
    "input must not be empty": "input: input must not be empty",
    "must have same number of channels": "input: must have same number of channels",
    "quantization_axis must be (>= -1|-1 or in range)": "quantization_axis: must be -1 or in range",
    "If quantization_axis is -1, scales": "scales: scales and zero_points must be scalar tensors",
    "must be a tensor of rank 1": "scales: scales and zero_points must be a tensor of rank 1",
    "scales and zero_points shape must be same": "zero_points: scales and zero_points must be a tensor of rank 1",
    "scales elements must be all positive": "(input|output|lhs|rhs)_scales: .* must be all positive",
    "If input and output is both per-axis": "output_quantization_axis: If input and output is both per-axis",
    "attr 'Tout' of quint8": "Tout: 'quint8' is not in the list",
    "Cannot Add tensors of shapes": "lhs, rhs: Cannot Add tensors of shapes",
    "quantization_axis must be -1 or within": "lhs_quantization_axis: must be -1 or in range",
    "attr 'T' of qint8": "lhs: expected int32 data, got int8",
    "lhs rank must be 2": "lhs: lhs rank must be 2",
    "dim_size.0. must be equal": "lhs, rhs: lhs.dim_size.1. and rhs.dim_size.0. must be equal",
    "lhs_quantization_axis Attr must be -1": "lhs_quantization_axis: lhs_quantization_axis Attr must be -1",
    "rhs input feature dimension must divide": "rhs: rhs input feature dimension must divide",
    "lhs and rhs must have same dims": "lhs, rhs: lhs and rhs must have same dims",
    "padding Attr must be one of": "padding: 'HALF' is not in the list",
    "Input min shape must be same": "min: Input min shape must be same",
}

ADAPTORS = {
    "RequantizePerChannel": requantize_per_channel,
    "RequantizationRangePerChannel": requantization_range_per_channel,
    "UniformQuantize": uniform("uniform_quantize"),
    "UniformDequantize": uniform("uniform_dequantize"),
    "UniformRequantize": uniform("uniform_requantize"),
    "UniformQuantizedAdd": uniform("uniform_quantized_add"),
    "UniformQuantizedClipByValue": uniform("uniform_quantized_clip_by_value"),
    "UniformQuantizedDot": uniform("uniform_quantized_dot"),
    "UniformQuantizedConvolution": uniform("uniform_quantized_convolution"),
}

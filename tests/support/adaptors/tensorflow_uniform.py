"""The adaptors of the Uniform* ops, of the ops with a range per channel, and of the norms."""

import re
from collections.abc import Callable
from typing import Any

from qops import tensorflow
from qops.checks import parts


def requantize_per_channel(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    ends = (i["requested_output_min"], i["requested_output_max"])
    t = tensorflow.requantize_per_channel((i["input"], i["input_min"], i["input_max"]), *ends, **attrs)
    return dict(zip(("output", "output_min", "output_max"), parts(t, "t"), strict=True))


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


def quantized_resize_bilinear(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_resize_bilinear((i["images"], i["min"], i["max"]), i["size"], **attrs)
    return dict(zip(("resized_images", "out_min", "out_max"), parts(t, "t"), strict=True))


def quantized_instance_norm(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_instance_norm((i["x"], i["x_min"], i["x_max"]), **attrs)
    return dict(zip(("y", "y_min", "y_max"), parts(t, "t"), strict=True))


def quantized_batch_norm(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    tensors = ((i[name], i[f"{name}_min"], i[f"{name}_max"]) for name in ("t", "m", "v", "beta", "gamma"))
    options = {name: value for name, value in attrs.items() if name != "out_type"}  # of one type
    t = tensorflow.quantized_batch_norm_with_global_normalization(*tensors, **options)
    return dict(zip(("result", "result_min", "result_max"), parts(t, "t"), strict=True))


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
    "input must be 4-dimensional": "(images|t): input must be 4-dimensional",
    "output dimensions must be positive": "size: output dimensions must be positive",
    "shape_t must have two elements": "size: shape_t must have two elements",
    "input image must be of non-zero size": "images: input image must be of non-zero size",
    "image must have at least one channel": "images: image must have at least one channel",
    "^min must be a scalar": "images min: must be rank 0 but is rank 1",
    "input_min must be less than input_max": "x: input_min must be less than input_max",
    "given_y_min must be less than": "given_y_min: given_y_min must be less than",
    "`x_min` must be rank 0": "x min: must be rank 0 but is rank 1",
    "NDIMS == dims": "x: expected 4 dimensions, with others TensorFlow's process ends",
    "mean must be 1-dimensional": "m: mean must be 1-dimensional",
    "var must be 1-dimensional": "v: var must be 1-dimensional",
    "input_min must have 1 element": "t min: must be rank 0 but is rank 1",
    "Mean and gamma tensors must have the same shape": "gamma: Mean and gamma tensors must have the same shape",
    "Must have at least a mean value": "m: Must have at least a mean value",
    "Input min shape must be same": "min: Input min shape must be same",
}

ADAPTORS = {
    "RequantizePerChannel": requantize_per_channel,
    "RequantizationRangePerChannel": requantization_range_per_channel,
    "QuantizedResizeBilinear": quantized_resize_bilinear,
    "QuantizedInstanceNorm": quantized_instance_norm,
    "QuantizedBatchNormWithGlobalNormalization": quantized_batch_norm,
    "UniformQuantize": uniform("uniform_quantize"),
    "UniformDequantize": uniform("uniform_dequantize"),
    "UniformRequantize": uniform("uniform_requantize"),
    "UniformQuantizedAdd": uniform("uniform_quantized_add"),
    "UniformQuantizedClipByValue": uniform("uniform_quantized_clip_by_value"),
    "UniformQuantizedDot": uniform("uniform_quantized_dot"),
    "UniformQuantizedConvolution": uniform("uniform_quantized_convolution"),
}

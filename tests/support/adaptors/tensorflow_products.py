"""TensorFlow's matrix product, convolution and pools, and the reasons of their refusals."""

from typing import Any

from qops import tensorflow


def quantized_matmul(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in attrs.items() if name != "Toutput"}
    t = tensorflow.quantized_matmul((i["a"], i["min_a"], i["max_a"]), (i["b"], i["min_b"], i["max_b"]), **options)
    return dict(zip(("out", "min_out", "max_out"), t, strict=True))


def quantized_conv2d(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in attrs.items() if name != "out_type"}
    x, w = ((i[name], i[f"min_{name}"], i[f"max_{name}"]) for name in ("input", "filter"))
    t = tensorflow.quantized_conv2d(x, w, **options)
    return dict(zip(("output", "min_output", "max_output"), t, strict=True))


def quantized_max_pool(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_max_pool((i["input"], i["min_input"], i["max_input"]), **attrs)
    return dict(zip(("output", "min_output", "max_output"), t, strict=True))


def quantized_avg_pool(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_avg_pool((i["input"], i["min_input"], i["max_input"]), **attrs)
    return dict(zip(("output", "min_output", "max_output"), t, strict=True))


REFUSALS = {
    "Pooling is not yet supported on the batch": "ksize: Pooling is not yet supported on the batch dimension",
    "Sliding window ksize field": "ksize: Sliding window ksize field must specify 4 dimensions",
    "must have 2 spatial dimensions": "input: tensor_in_shape must have 2 spatial dimensions",
    "Stride must be > 0": r"strides: expected an integer in \[1, .*, got 0",
    "Sliding window ksize must be positive|ProcessKilledBySignal8": r"ksize: expected an integer in \[1, .*, got 0",
    "Non-spatial pooling is not yet supported": "ksize: Non-spatial pooling is not yet supported",
    r"In\[0\] is not a matrix": r"a: In\[0\] is not a matrix",
    "Matrix size-incompatible": r"a, b: Matrix size-incompatible: In\[0\]: \[2,3\], In\[1\]: \[2,3\]",
    "max_a must be larger than min_a": "a: max_a must be larger than min_a",
    "max_b must be larger than min_b": "b: max_b must be larger than min_b",
    "min_a must be a scalar": "a min: must be rank 0 but is rank 1",
    r"QuantizedMatMul\[T1=DT_QUINT8, T2=DT_QINT8": "b: expected uint8 data, got int8",
    "input must be rank 4": "input: must be rank 4 but is rank 3",
    "filter must be rank 4": "filter: must be rank 4 but is rank 3",
    "input and filter must have the same depth": "filter: must have the same depth as input: 2 vs 3",
    "only supports equal length strides": "strides: Current implementation only supports equal length strides",
    "does not yet support strides in the batch": "strides: .* does not yet support strides in the batch and depth",
    "Sliding window stride.* field": "strides: Sliding window strides field must specify 4 dimensions",
    "only supports dilated rate as 1": "dilations: Current implementation only supports dilated rate as 1",
    "out_rows > 0": r"filter: \(.*\) does not fit in images of .*; TensorFlow's process ends",
    "Shapes dimension cannot be 0": "input: Shapes dimension cannot be 0",
    "out_depth > 0": "filter: Shapes dimension cannot be 0",
    r"QuantizedConv2D\[Tfilter=DT_QINT8, Tinput=DT_QINT8": "input: expected uint8 data, got int8",
}
ADAPTORS = {
    "QuantizedMatMul": quantized_matmul,
    "QuantizedConv2D": quantized_conv2d,
    "QuantizedMaxPool": quantized_max_pool,
    "QuantizedAvgPool": quantized_avg_pool,
}

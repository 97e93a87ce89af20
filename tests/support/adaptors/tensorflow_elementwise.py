"""TensorFlow's element-wise ops, concat and reshape, and the reasons of their refusals."""

from typing import Any

from qops import tensorflow


def quantized_relu(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_relu((i["features"], i["min_features"], i["max_features"]), **attrs)
    return dict(zip(("activations", "min_activations", "max_activations"), t, strict=True))


def quantized_relu6(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_relu6((i["features"], i["min_features"], i["max_features"]), **attrs)
    return dict(zip(("activations", "min_activations", "max_activations"), t, strict=True))


def quantized_reshape(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_reshape((i["tensor"], i["input_min"], i["input_max"]), i["shape"])
    return dict(zip(("output", "output_min", "output_max"), t, strict=True))


REFUSALS = {
    r"Relu6?\[Tinput=DT_QINT8": "features: expected uint8 or int32 data, got int8",
    r"Relu6?\[Tinput=DT_QUINT8, out_type=DT_QINT32": "out_type: TensorFlow has no kernel from quint8 to qint32",
    "Input to reshape is a tensor with": "shape: Input to reshape is a tensor with 6 values, but",
    "Only one input size may be -1": "shape: Only one input size may be -1",
    "Size 0 must be non-negative": "shape: Size 0 must be non-negative",
}
ADAPTORS = {
    "QuantizedRelu": quantized_relu,
    "QuantizedRelu6": quantized_relu6,
    "QuantizedReshape": quantized_reshape,
}

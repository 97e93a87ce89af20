"""TensorFlow's element-wise ops, concat and reshape, and the reasons of their refusals."""

from itertools import zip_longest
from typing import Any

from qops import tensorflow
from qops.checks import parts


def quantized_relu(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_relu((i["features"], i["min_features"], i["max_features"]), **attrs)
    return dict(zip(("activations", "min_activations", "max_activations"), parts(t, "t"), strict=True))


def quantized_relu6(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_relu6((i["features"], i["min_features"], i["max_features"]), **attrs)
    return dict(zip(("activations", "min_activations", "max_activations"), parts(t, "t"), strict=True))


def quantized_mul(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_mul((i["x"], i["min_x"], i["max_x"]), (i["y"], i["min_y"], i["max_y"]))
    return dict(zip(("z", "min_z", "max_z"), parts(t, "t"), strict=True))


def quantized_concat(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    pairs = zip_longest(i["values"], i["input_mins"], i["input_maxes"])
    tensors = [tuple(part for part in triple if part is not None) for triple in pairs]
    t = tensorflow.quantized_concat(i["concat_dim"], tensors)
    return dict(zip(("output", "output_min", "output_max"), parts(t, "t"), strict=True))


def quantized_reshape(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_reshape((i["tensor"], i["input_min"], i["input_max"]), i["shape"])
    return dict(zip(("output", "output_min", "output_max"), parts(t, "t"), strict=True))


REFUSALS = {
    r"Relu6?\[Tinput=DT_QINT8": "features: expected uint8 or int32 data, got int8",
    r"Relu6?\[Tinput=DT_QUINT8, out_type=DT_QINT32": "out_type: TensorFlow has no kernel from quint8 to qint32",
    r"QuantizedMul\[T1=DT_QINT8": "x: expected uint8 data, got int8",
    "max_x must be larger than min_a": "x: max_x must be larger than min_x|x min: nan is not finite",
    "max_x must be larger than min_b": "y: max_y must be larger than min_y",
    "min_x must be a scalar": "x min: must be rank 0 but is rank 1",
    "max_y must be a scalar": "y max: must be rank 0 but is rank 1",
    "vector must have at least 1 element": "x, y: vector must have at least 1 element",
    "Expected concatenating dimensions": "concat_dim: Expected concatenating dimensions in the range",
    "Ranks of all input tensors": "values: Ranks of all input tensors should match",
    "Dimensions of inputs should match": "values: Dimensions of inputs should match",
    "Value for attr 'N' of 1": "values: Value for attr 'N' of 1 must be at least minimum 2",
    "do not match 6 inputs specified": r"values\[1\]: expected a .data, min, max. triple, got 2 parts",
    "Input to reshape is a tensor with": "shape: Input to reshape is a tensor with 6 values, but",
    "Only one input size may be -1": "shape: Only one input size may be -1",
    "Size 0 must be non-negative": "shape: Size 0 must be non-negative",
}
ADAPTORS = {
    "QuantizedRelu": quantized_relu,
    "QuantizedRelu6": quantized_relu6,
    "QuantizedMul": quantized_mul,
    "QuantizedConcat": quantized_concat,
    "QuantizedReshape": quantized_reshape,
}

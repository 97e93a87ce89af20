"""Names of TensorFlow's ops, inputs, attributes and outputs <-> those of `qops.tensorflow`."""

from collections.abc import Callable
from typing import Any

import numpy as np
from adaptors import tensorflow_elementwise, tensorflow_products, tensorflow_uniform

from qops import tensorflow
from qops.checks import parts

PARTS = (tensorflow_elementwise, tensorflow_products, tensorflow_uniform)
"""Modules with adaptors and refusals of their own."""


def quantize_v2(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantize_v2(**i, **attrs)
    ends = [np.ravel(end) if isinstance(end, np.ndarray) else end for end in (t.min, t.max)]  # of slices: 1-D there
    return dict(zip(("output", "output_min", "output_max"), (t.data, *ends), strict=True))


def dequantize(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    options = {name: value for name, value in attrs.items() if name != "dtype"}
    return {"output": tensorflow.dequantize((i["input"], i["min_range"], i["max_range"]), **options)}


def quantized_add(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantized_add((i["x"], i["min_x"], i["max_x"]), (i["y"], i["min_y"], i["max_y"]))
    return dict(zip(("z", "min_z", "max_z"), parts(t, "t"), strict=True))


def quantized_bias_add(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    bias = (i["bias"], i["min_bias"], i["max_bias"])
    t = tensorflow.quantized_bias_add((i["input"], i["min_input"], i["max_input"]), bias)
    return dict(zip(("output", "min_out", "max_out"), parts(t, "t"), strict=True))


def requantize(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    ends = (i["requested_output_min"], i["requested_output_max"])
    t = tensorflow.requantize((i["input"], i["input_min"], i["input_max"]), *ends, **attrs)
    return dict(zip(("output", "output_min", "output_max"), parts(t, "t"), strict=True))


def requantization_range(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    found = tensorflow.requantization_range((i["input"], i["input_min"], i["input_max"]))
    return dict(zip(("output_min", "output_max"), found, strict=True))


def quantize_down_and_shrink_range(i: dict[str, Any], attrs: dict[str, Any]) -> dict[str, Any]:
    t = tensorflow.quantize_down_and_shrink_range((i["input"], i["input_min"], i["input_max"]))
    return dict(zip(("output", "output_min", "output_max"), parts(t, "t"), strict=True))


ONEDNN = {"QuantizeV2", "Dequantize", "QuantizedAvgPool"}
"""Ops that take `onednn`."""

ONEDNN_REFUSALS = {
    "NotFoundError": "input: TensorFlow has no kernel .NotFound.",
    "InvalidArgumentError": "input: dims must be <= 5 and >= 1",
    "ProcessKilledBySignal6": "input: has no elements",
}
"""Kind of error with oneDNN on, all that is recorded of it -> how qops names the argument and the reason."""

REFUSALS = {
    "`input_min` must be rank 0|`min_input` must be rank 0": "(input|features) min: must be rank 0 but is rank 1",
    "`min_x` must be rank 0": "x min: must be rank 0 but is rank 1",
    "`max_y` must be rank 0": "y max: must be rank 0 but is rank 1",
    "max_x must be larger than min_x": "x: max_x must be larger than min_x|x min: nan is not finite",
    "max_y must be larger than min_y": "y: max_y must be larger than min_y",
    "Incompatible shapes": "x, y: Incompatible shapes",
    "Broadcast between": "x, y: Broadcast between",
    "Must have some elements to add": "x, y: Must have some elements to add",
    "QuantizedAdd.T1=DT_QINT8": "x: expected uint8 data, got int8",
    "(Requantize|Range).Tinput=DT_QUINT8": "input: expected int32 data, got uint8",
    "Requantize.*out_type=DT_QINT32": "out_type: 'qint32' is not",
    "Input tensor must be at least 2D": "input: Input tensor must be at least 2D",
    "Biases must be 1D": "bias: Biases must be 1D",
    "Must provide as many biases": "bias: Must provide as many biases",
    "input_min_tensor must have as many": "input min: must have as many elements",
    "MIN_FIRST mode is not implemented": "axis: MIN_FIRST mode is not implemented",
    "Axis must be less than|Axis is on a zero-based": "axis: must be less than",
    "attr 'mode'": "mode: '(NONE|MIN_LAST)' is not in the list",
    "input_max_range must be larger": "max_range: input_max_range must be larger",
    "min_range must contain a single": "min_range: If axis is not specified",
    "min_range must be a 1-D tensor": "min_range: If axis is specified",
    "Round mode 'HALF_TO_EVEN' only": "round_mode: 'HALF_TO_EVEN' only",
    "requested_output_min must be <=": "requested_output_min: requested_output_min must be <= 0",
    "requested_output_max must be >=": "requested_output_max: requested_output_max must be >=",
    **{reason: words for part in PARTS for reason, words in part.REFUSALS.items()},
}
"""Reason of TensorFlow -> how qops names the argument and the reason."""

ADAPTORS: dict[str, Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]] = {
    "QuantizeV2": quantize_v2,
    "Dequantize": dequantize,
    "QuantizedAdd": quantized_add,
    "QuantizedBiasAdd": quantized_bias_add,
    "Requantize": requantize,
    "RequantizationRange": requantization_range,
    "QuantizeDownAndShrinkRange": quantize_down_and_shrink_range,
    **{op: adaptor for part in PARTS for op, adaptor in part.ADAPTORS.items()},
}

"""The golden cases of TFLite in the words of `qops.tflite`: arguments are renamed, nothing else."""

import re

import numpy as np

from qops import tflite

SUFFIXES = {"ref": "", "opt": "_optimized", "xnn": "_xnnpack", "tflm": "_tflm"}
"""What the keys of outputs end with, by the system that they differ for."""
KERNELS = {"ref": "reference", "opt": "optimized", "xnn": "xnnpack", "tflm": "tflm"}
MODEL = {"version", "const", "state", "intermediates", "w_axis", "bias_scale", "proj_clip"}
"""What a model file has, and no argument of an op."""
CASE = {"options", "steps", "y_dtype"}
"""What adaptors read of a case beside its attributes."""
NAMES = {"kernel": "window", "library": "kernel"}
SCALES = ("x_scale", "x_zero_point", "y_scale", "y_zero_point")
PAIR = ("a_scale", "a_zero_point", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
GATES = ("input", "forget", "cell", "output")


def words(attrs, *without):
    """The attributes as arguments: `x_zp` is `x_zero_point`. A zero point of 0 of the bias goes without saying."""
    named = {NAMES.get(key, key): value for key, value in attrs.items() if key not in MODEL | CASE}
    named = {f"{key[:-3]}_zero_point" if key.endswith("_zp") else key: value for key, value in named.items()}
    left_out = {*without, "bias_zero_point" if named.get("bias_zero_point") == 0 else ""}
    return {key: value for key, value in named.items() if key not in left_out}


def layer(function):
    def call(i, attrs):
        how = {"w_type": i["w"].dtype.name} | words(attrs, "quantized_bias_type")
        return {"y": function(i["x"], i["w"], i.get("bias"), **how)}

    return call


def transpose_conv(i, attrs):
    how = words(attrs, "quantized_bias_type")
    return {"y": tflite.transpose_conv(i["x"], i["output_shape"], i["w"], i.get("bias"), **how)}


def pair(function, *without):
    return lambda i, attrs: {"y": function(i["a"], i["b"], **words(attrs, *without))}


def one(function, *without):
    return lambda i, attrs: {"y": function(i["x"], **words(attrs, *without))}


def reduction(function):
    return lambda i, attrs: {"y": function(i["x"], i["axis"], **words(attrs, "axis"))}


def softmax(i, attrs):
    types = {1 / 65536: np.int16}
    return {"y": tflite.softmax(i["x"], **words(attrs), y_dtype=types.get(attrs["y_scale"]))}


def prelu(i, attrs):
    return {"y": tflite.prelu(i["x"], i["alpha"], **words(attrs))}


def quantize(i, attrs):
    return {"y": tflite.quantize(i["x"], **words(attrs, "y_dtype"), dtype=attrs["y_dtype"])}


def concatenation(i, attrs):
    """Axis and activation are those of the model's options."""
    names = [name for name in "abcd" if name in i]
    each = {f"x_{key}": [attrs[f"{name}_{short}"] for name in names] for key, short in ZEROS}
    how = words({key: value for key, value in attrs.items() if key[0] not in "abcd"})
    options = {
        "axis": attrs["options"]["axis"],
        "activation": ("NONE", "RELU")[attrs["options"]["fusedActivationFunction"]],
    }
    return {"y": tflite.concatenation([i[name] for name in names], **each, **how, **options)}


ZEROS = ("scale", "scale"), ("zero_point", "zp")


def pad(i, attrs):
    return {"y": tflite.pad(i["x"], i["paddings"], **words(attrs, "x_scale", "y_scale"))}


def padv2(i, attrs):
    """All have one scale and zero point, else they are given too, and refused."""
    without = () if attrs["y_zp"] != attrs["value_zp"] else (*SCALES, "value_scale", "value_zero_point")
    return {"y": tflite.padv2(i["x"], i["paddings"], int(i["value"].item()), **words(attrs, *without))}


def resize(function):
    return lambda i, attrs: {"y": function(i["x"], i["size"], **words(attrs, *SCALES, "size"))}


def svdf(i, attrs):
    """A leading axis of steps, if there are any."""
    how = words(attrs, "activation", "feature_zero_point", "time_zero_point")
    made, state = [], None
    for x in i["x"] if attrs["steps"] else [i["x"]]:
        y, state = tflite.svdf(x, i["feature"], i["time"], i["bias"], state=state, **how)
        made.append(y)
    return {"y": np.stack(made) if attrs["steps"] else made[0]}


def lstm(i, attrs):
    """The gates are one array each of weights and biases."""
    keep = {"x_scale", "x_zp", "hidden_scale", "hidden_zp", "cell_clip", "time_major", "library"}
    w, r, b = (np.stack([i[f"{part}_{gate}"] for gate in GATES]) for part in "wrb")
    how = words({key: value for key, value in attrs.items() if key in keep})
    how |= {f"{part}_scale": [attrs[f"{part}_{gate}_scale"] for gate in GATES] for part in "wr"}
    made = tflite.unidirectional_sequence_lstm(i["x"], w, r, b, **how, cell_scale=attrs["cell_state_scale"])
    return {"y": made.y}


ADAPTORS = {
    "ABS": one(tflite.abs),
    "ADD": pair(tflite.add),
    "AVERAGE_POOL_2D": one(tflite.average_pool_2d),
    "BATCH_MATMUL": pair(tflite.batch_matmul),
    "CONCATENATION": concatenation,
    "CONV_2D": layer(tflite.conv_2d),
    "DEPTHWISE_CONV_2D": layer(tflite.depthwise_conv_2d),
    "DEQUANTIZE": one(tflite.dequantize),
    "ELU": one(tflite.elu),
    "EXP": one(tflite.exp),
    "FULLY_CONNECTED": layer(tflite.fully_connected),
    "GELU": one(tflite.gelu),
    "LOG": one(tflite.log),
    "HARD_SWISH": one(tflite.hard_swish),
    "L2_NORMALIZATION": one(tflite.l2_normalization),
    "LEAKY_RELU": one(tflite.leaky_relu),
    "LOGISTIC": one(tflite.logistic),
    "LOG_SOFTMAX": one(tflite.log_softmax),
    "MAXIMUM": pair(tflite.maximum, *PAIR),
    "MAX_POOL_2D": one(tflite.max_pool_2d),
    "MEAN": reduction(tflite.mean),
    "MINIMUM": pair(tflite.minimum, *PAIR),
    "MUL": pair(tflite.mul),
    "NEG": one(tflite.neg, *SCALES),
    "PAD": pad,
    "PADV2": padv2,
    "PRELU": prelu,
    "QUANTIZE": quantize,
    "REDUCE_MAX": reduction(tflite.reduce_max),
    "REDUCE_MIN": reduction(tflite.reduce_min),
    "RELU": one(tflite.relu),
    "RELU6": one(tflite.relu6),
    "RELU_0_TO_1": one(tflite.relu_0_to_1),
    "RELU_N1_TO_1": one(tflite.relu_n1_to_1),
    "RESIZE_BILINEAR": resize(tflite.resize_bilinear),
    "RESIZE_NEAREST_NEIGHBOR": resize(tflite.resize_nearest_neighbor),
    "RSQRT": one(tflite.rsqrt),
    "SOFTMAX": softmax,
    "SQRT": one(tflite.sqrt),
    "SQUARED_DIFFERENCE": pair(tflite.squared_difference),
    "SUB": pair(tflite.sub),
    "SUM": reduction(tflite.sum),
    "SVDF": svdf,
    "TANH": one(tflite.tanh),
    "TRANSPOSE_CONV": transpose_conv,
    "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm,
}
TRIED = {
    "activation": "activation",
    "axis": "axis",
    "axis-5": "axis",
    "beta-0": "beta",
    "bias-length": "bias",
    "bias-scale-off": ".*'asked'",
    "bias-type-int16": "bias",
    "bias-zero-point": ".*'bias_zero_point'",
    "both-modes": "half_pixel_centers",
    "channels": "x",
    "depth": "x, w",
    "dilation-0": "dilation",
    "float-weights": ".*'w_scale'",
    "inner": "a, b",
    "int16-input-zero-point": "x_zero_point",
    "int16-output-scale": "y_scale",
    "int16-output-zero-point": "y_zero_point",
    "int16-zero-point": "[ax]_zero_point",
    "negative": "paddings",
    "no-input-scale": ".*'x_scale'",
    "no-output-scale": ".*'y_scale'",
    "no-quantization": ".*'a_scale'",
    "output-multiplier-above-1": "a_scale, b_scale, y_scale",
    "output-scale": "y_scale",
    "output-scale-zero": "y_scale",
    "output-type": ".*'asked'",
    "output-zero-point": "y_zero_point|.*'[xy]_scale'",
    "quantized-dimension": ".*'asked'",
    "rank": "x, paddings",
    "rank-1": "a",
    "relu6-over-int32": "y_scale",
    "scale-count": "w_scale",
    "shape-1d": "output_shape",
    "shapes": "a, b|tensors",
    "size-0": "size",
    "size-negative": "size",
    "stride-0": "stride",
    "types": "b|tensors|.*'asked'",
    "uint8": "a",
    "uint8-bias-scale-off": ".*'asked'",
    "value-zero-point": ".*'[xy]_scale'",
    "weight-zero-point": "w_zero_point",
    "zero-point-300": "a_zero_point",
}
"""What rejects try, and what the refusal begins with: an argument; or that a word is asked for that no argument is."""
REASONS = {
    r"^DEPTHWISE_CONV_2D (int16|.*Signal11)|has_bias|int32 bias read as int64$": "bias",
    r"^DEPTHWISE_CONV_2D .*XNNPACK runtime": "x_scale, w_scale, y_scale",
    r"^DEPTHWISE_CONV_2D .*failed to delegate": "w_zero_point",
    r"^ADD int16.*Signal6": "a, b",
    r"^(ADD|MUL) .*zero-point value .300.": "a_zero_point",
    r"^SQUARED_DIFFERENCE .*Signal6": "a_scale, b_scale, y_scale",
    r"^SUB .*input1_shift|^\w+POOL_2D .*scale_diff|^\w+ .*no_integer_overflow": "y_scale",
    r"^REDUCE_M.*(params.scale|input_scale)": "y_scale",
    r"^BATCH_MATMUL .*lhs_data": "b",
    r"^CONCATENATION int8-24": "x_scale, x_zero_point",
    r"^(DEQUANTIZE int32|RSQRT int)": "x",
    r"^FULLY_CONNECTED .*kTfLiteInt4": "w_scale",
    r"^LOGISTIC .*zero_point": "y_zero_point",
    r"^PADV?2? .*expected_dim": r"paddings|kernel: \w+ has no",
    r"^PAD .*failed to delegate": "y_zero_point",
    r"^PRELU .*alpha": "alpha",
    r"^QUANTIZE ": "x, dtype",
    r"^SVDF ": "time",
    r"^UNI.*cell state": "cell_scale",
}
"""Arguments that the refusal of a single kernel library names, by "OP id: reason"; all else is no type that it has."""
NOT_ASKED = "quantized_bias_type not set"
"""A reason that no argument can ask for: the type of the bias is that of its array."""


def asked(case):
    """What a reject has and no op takes: a word of its own, which the call then refuses by name."""
    if "outputs" in case or "asked" not in TRIED.get(case["id"].removeprefix("try-"), ""):
        return {}
    is_of_output = "types" not in case["id"] or case["op"] in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN")
    return {"asked": case["id"]} if is_of_output else {}


def expected(case):
    """The kernel libraries that ran, and what each gave."""
    for system in case.get("systems", ()):
        yield KERNELS[system], case.get(f"outputs{SUFFIXES[system]}", case["outputs"])


def refusal(op, case, reason):
    """What the refusal begins with; None if there is no such call."""
    if NOT_ASKED in reason:
        return None
    if "outputs" not in case and case["id"].startswith("try-"):
        return TRIED[case["id"].removeprefix("try-")]
    found = [words for pattern, words in REASONS.items() if re.search(pattern, f"{op} {case['id']}: {reason}")]
    assert len(found) < 2, f"{len(found)} entries for {op} {case['id']}: {reason}"
    return found[0] if found else r"kernel: \w+ (has no|reads)"

"""Good calls of `qops.tflite` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import REALS, S8, Op

OTHER_S8 = np.int8([[20, -10, 55], [0, 1, 77]])
POSITIVE = np.int8([[-100, -3, 0], [7, 90, 127]])
IMAGE = (np.arange(2 * 4 * 5 * 2) * 37 % 256 - 128).astype(np.int8).reshape(2, 4, 5, 2)
TAPS = (np.arange(4 * 2 * 3 * 2) * 29 % 256 - 128).astype(np.int8).reshape(4, 2, 3, 2)
DEEP = (np.arange(2 * 3 * 4) * 29 % 256 - 128).astype(np.int8).reshape(1, 2, 3, 4)
ROWS = (np.arange(3 * 4 * 5) * 31 % 256 - 128).astype(np.int8).reshape(3, 4, 5)
BIAS = np.int32([9, -800, 70, 6])
SCALES = np.float32([0.5, 1, 2, 4])
X, Y = {"x_scale": 0.5, "x_zero_point": 3}, {"y_scale": 0.75, "y_zero_point": -5}
ONE = {"x": S8, **X, **Y}
PAIR = {"a": S8, "b": OTHER_S8, "a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": -9, **Y}
WINDOW = {"stride": (2, 1), "padding": "SAME"}
GATES = (np.arange(4 * 5 * 5) * 37 % 256 - 128).astype(np.int8).reshape(4, 5, 5)
FILTERS = GATES.reshape(-1)[:24].reshape(8, 3)
STATE = (np.arange(2 * 24, dtype=np.int16) * 3000).reshape(2, 24)
LAYER = {"w_scale": SCALES, "y_scale": 300.0, "y_zero_point": -5, **X}


def layer(good):
    return Op(good, np.int8, each=False)


def each(**changes):
    return Op(ONE | changes, np.int8)


def pairs(**changes):
    return Op(PAIR | changes, np.int8)


CALLS = {
    "tflite.conv_2d": layer({"x": IMAGE, "w": TAPS, "bias": BIAS, **LAYER, **WINDOW}),
    "tflite.depthwise_conv_2d": layer({"x": IMAGE, "w": DEEP, "bias": BIAS, "depth_multiplier": 2, **LAYER, **WINDOW}),
    "tflite.fully_connected": layer({"x": ROWS[0], "w": TAPS.reshape(-1)[:20].reshape(4, 5), "bias": BIAS, **LAYER}),
    "tflite.transpose_conv": layer(
        {"x": IMAGE, "output_shape": np.int32([4, 7, 5, 4]), "w": TAPS, "bias": BIAS, **LAYER, **WINDOW}
    ),
    "tflite.batch_matmul": layer(PAIR | {"a": ROWS, "b": ROWS[0].T.copy(), "y_scale": 50.0}),
    "tflite.add": pairs(),
    "tflite.sub": pairs(),
    "tflite.mul": pairs(y_scale=9.0),
    "tflite.squared_difference": pairs(y_scale=90.0),
    "tflite.maximum": Op({"a": S8, "b": OTHER_S8}, np.int8),
    "tflite.minimum": Op({"a": S8, "b": OTHER_S8}, np.int8),
    "tflite.average_pool_2d": layer({"x": IMAGE, "window": (2, 3), **X, **Y, **WINDOW}),
    "tflite.max_pool_2d": layer({"x": IMAGE, "window": (2, 3), **X, **Y, **WINDOW}),
    "tflite.mean": layer({"x": IMAGE, "axis": (1, 2), **X, **Y}),
    "tflite.sum": layer({"x": IMAGE, "axis": (1, 2), "kernel": "tflm", **X, **Y}),
    "tflite.reduce_max": layer({"x": IMAGE, "axis": (1, 2), **X, **X, "y_scale": 0.5, "y_zero_point": 3}),
    "tflite.reduce_min": layer({"x": IMAGE, "axis": (1, 2), **X, **X, "y_scale": 0.5, "y_zero_point": 3}),
    "tflite.softmax": layer({"x": S8, "x_scale": 0.05, "x_zero_point": 3, "y_scale": 1 / 256, "y_zero_point": -128}),
    "tflite.log_softmax": layer({"x": S8, "x_scale": 0.05, "x_zero_point": 3, "y_scale": 1 / 16, "y_zero_point": 127}),
    "tflite.l2_normalization": layer({"x": S8, **X, "y_scale": 1 / 128, "y_zero_point": 0}),
    "tflite.logistic": each(x_scale=0.05, y_scale=1 / 256, y_zero_point=-128),
    "tflite.tanh": each(x_scale=0.05, y_scale=1 / 128),
    "tflite.exp": each(x_scale=0.05),
    "tflite.log": each(x_zero_point=-100),
    "tflite.elu": each(kernel="optimized"),
    "tflite.gelu": each(),
    "tflite.hard_swish": each(),
    "tflite.sqrt": each(x=POSITIVE, x_zero_point=-100),
    "tflite.rsqrt": each(x=POSITIVE, x_zero_point=-100, y_scale=0.01),
    "tflite.abs": each(),
    "tflite.neg": Op({"x": S8}, np.int8),
    "tflite.leaky_relu": each(alpha=0.3),
    "tflite.prelu": layer(ONE | {"alpha": np.int8([5, -7, 99]), "alpha_scale": 0.01, "alpha_zero_point": 1}),
    "tflite.relu": each(),
    "tflite.relu6": each(),
    "tflite.relu_n1_to_1": each(),
    "tflite.relu_0_to_1": each(),
    "tflite.quantize": Op({"x": REALS, "y_scale": 0.01, "y_zero_point": 9}, np.int8),
    "tflite.dequantize": Op({"x": S8, **X}, np.float32),
    "tflite.concatenation": layer(
        {"tensors": [S8, OTHER_S8], "axis": 1, "x_scale": 0.5, "x_zero_point": 3, "y_scale": 0.5, "y_zero_point": 3}
    ),
    "tflite.pad": layer({"x": S8, "paddings": np.int32([[0, 1], [2, 0]]), "x_zero_point": 3, "y_zero_point": 3}),
    "tflite.padv2": layer({"x": S8, "paddings": np.int32([[0, 1], [2, 0]]), "value": -7}),
    "tflite.resize_bilinear": layer({"x": IMAGE, "size": (7, 3)}),
    "tflite.resize_nearest_neighbor": layer({"x": IMAGE, "size": (7, 3)}),
    "tflite.svdf": layer(
        {"x": S8, "feature": FILTERS, "time": np.int16(FILTERS), "rank": 2, **X, **Y}
        | {"feature_scale": 0.5, "time_scale": 0.25, "state_scale": 2.0, "bias": BIAS, "y_scale": 900.0, "state": STATE}
    ),
    "tflite.unidirectional_sequence_lstm": layer(
        {"x": ROWS[..., :3].copy(), "w": GATES[..., 2:].copy(), "r": GATES, "b": np.int32(GATES[..., 0]), **X}
        | {
            "w_scale": np.float32([0.5]),
            "r_scale": np.float32([0.5]),
            "hidden_scale": 1 / 128,
            "hidden_zero_point": 0,
            "cell_scale": 2.0**-11,
        }
        | {"hidden": ROWS[:, 0].copy(), "cell": np.int16(ROWS[:, 1]) * 9}
    ),
}
PAIRS = ("add", "sub", "mul", "squared_difference", "maximum", "minimum")
NAMES = {
    "average_pool_2d": "AveragePool2D",
    "max_pool_2d": "MaxPool2D",
    "conv_2d": "Conv2D",
    "depthwise_conv_2d": "DepthwiseConv2D",
    "padv2": "PadV2",
}
"""Names of classes, where they are not those of the functions with a capital for each word."""
DATA = {
    **dict.fromkeys(PAIRS, ("a", "b")),
    "batch_matmul": ("a",),
    "concatenation": ("tensors",),
    "svdf": ("x", "state"),
    "unidirectional_sequence_lstm": ("x", "hidden", "cell"),
}
"""What a call of a prepared op takes; the others take x."""
PREPARED = {
    "tflite." + NAMES.get(name, "".join(word.capitalize() for word in name.split("_"))): (
        f"tflite.{name}",
        DATA.get(name, ("x",)),
    )
    for name in (key.removeprefix("tflite.") for key in CALLS)
}
FIRST = {"w": TAPS[:1, :1, :1], "bias": BIAS[:1], "w_scale": SCALES[:1]}
FEW = {
    "tflite.Conv2D": FIRST,
    "tflite.DepthwiseConv2D": {"w": DEEP[:, :1, :1]},
    "tflite.FullyConnected": FIRST | {"w": ROWS[0, :1]},
    "tflite.TransposeConv": FIRST | {"output_shape": np.int32([1, 7, 5, 1])},
    "tflite.BatchMatmul": {"b": ROWS[0, :3].T},
    "tflite.Svdf": {"feature": FILTERS[:2], "time": np.int16(FILTERS[:2]), "bias": BIAS[:1], "state": STATE[:, :6]},
    "tflite.UnidirectionalSequenceLstm": {
        "w": GATES[:, :1, 2:],
        "r": GATES[:, :1, :1],
        "b": np.int32(GATES[:, :1, 0]),
        "hidden": ROWS[:, 0, :1],
        "cell": np.int16(ROWS[:, 1, :1]),
    },
}
OTHER_CALLS = {
    "tflite.Conv2D": {"kernel": "xnnpack", "activation": "RELU6", "dilation": (1, 2), "w_type": "int8"},
    "tflite.DepthwiseConv2D": {"kernel": "optimized", "activation": "RELU", "bias": BIAS[::-1].copy()},
    "tflite.FullyConnected": {"kernel": "tflm", "keep_num_dims": True, "w_zero_point": 3},
    "tflite.BatchMatmul": {"adj_y": True, "b": ROWS[0, :3], "kernel": "xnnpack"},
    "tflite.Concatenation": {"x_scale": [0.5, 0.5], "x_zero_point": [3], "activation": "RELU", "kernel": "xnnpack"},
    "tflite.Add": {"kernel": "optimized", "activation": "RELU_N1_TO_1"},
    "tflite.Sub": {"kernel": "xnnpack"},
    "tflite.Mul": {"kernel": "tflm"},
    "tflite.AveragePool2D": {"activation": "RELU"},
    "tflite.Mean": {"kernel": "optimized", "keep_dims": True},
    "tflite.Softmax": {"kernel": "xnnpack", "beta": 0.5},
    "tflite.Gelu": {"approximate": True},
    "tflite.LeakyRelu": {"kernel": "xnnpack", "alpha": -0.5},
    "tflite.Quantize": {"kernel": "xnnpack", "dtype": "uint8"},
    "tflite.ResizeBilinear": {"align_corners": True, "kernel": "xnnpack"},
    "tflite.Svdf": {"kernel": "tflm", "bias": None},
}

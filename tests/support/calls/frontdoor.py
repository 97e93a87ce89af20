"""Good calls of the front door for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES, NHWC, OTHER_U8, REALS, S32, U8, Op

FILTERS = (np.arange(2 * 2 * 1 * 6) * 29 % 256 - 128).astype(np.int8).reshape(2, 2, 1, 6)
WEIGHTS = np.int8([[100, -128, 3], [-3, 5, 127], [-100, 1, 2]])
ENDS_OF_COLUMNS = np.float32([[-1.0, 0.0, 2.0]]), np.float32([[0.5, 1.5, 2.5]])
SIGNED = (np.int8([[100, -118, 127], [-128, -127, -51]]), -1.0, 2.0)
A_B = {"a": U8, "b": OTHER_U8}
GUESSED = Op({**A_B, "guess": (0.0, 1.0)}, np.uint8)
POOLED = {"t": (NHWC, -1.0, 2.0), "kernel": (2, 3), "stride": (2, 1), "padding": "same"}
ENDS = {"min": -1.0, "max": 1.5}

CALLS = {
    "range_of": Op({"x": REALS}, each=False),
    "quantize": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.uint8),
    "dequantize": Op({"t": U8}, np.float32),
    "add": Op({"a": U8, "b": SIGNED, "guess": (0.0, 1.0)}, np.uint8),
    "sub": Op({"a": SIGNED, "b": (SIGNED[0][::-1].copy(), 0.0, 3.0), "dtype": "int8"}, np.int8),
    "mul": Op({"a": SIGNED, "b": U8, "dtype": "int32"}, np.int32),
    "quantized_add_8p8to32": Op(A_B, np.int32),
    "quantized_add_8p8to8": GUESSED,
    "quantized_sub_8p8to32": Op(A_B, np.int32),
    "quantized_sub_8p8to8": GUESSED,
    "quantized_mul_8x8to32": Op(A_B, np.int32),
    "quantized_mul_8x8to8": GUESSED,
    "matmul": Op(
        {"a": U8, "b": (WEIGHTS, *ENDS_OF_COLUMNS), "bias": np.float32([0, -2, 0.5]), "clip": (-3.0, 9.0)},
        np.int32,
        each=False,
    ),
    "concat": Op({"tensors": [U8, OTHER_U8]}, np.uint8, each=False),
    "lookup": Op({"t": U8, "function": np.tanh}, np.uint8),
    "max_pool": Op(POOLED, np.uint8, each=False),
    "avg_pool": Op(POOLED, np.uint8, each=False),
    "pad": Op({"t": U8, "widths": ((1, 0), (0, 2)), "value": 0.5}, np.uint8, each=False),
    "softmax": Op({"t": (CODES, -4.0, 4.0), "axis": 1}, np.uint8, each=False),
    "conv2d": Op(
        {"x": (NHWC, -1.0, 2.0), "w": (FILTERS, -1.5, 1.0), "bias": np.int32([0, 9, -99, 999, 5, -1])}
        | {"stride": (2, 1), "padding": ((1, 0), 2), "groups": 3, "dtype": "uint8", "guess": (None, 3.0)},
        np.uint8,
        each=False,
    ),
    "relu": Op({"t": U8, "limit": 1.0}, np.uint8),
    "requantization_range": Op({"t": S32}),
    "requantize": Op({"t": U8, **ENDS}, np.uint8),
    "requantize_32to8": Op({"t": S32, **ENDS}, np.uint8),
    "multiply_shift": Op({"x": CODES, "factor": 0.3, "bits": 7}, np.int32),
    "error": Op({"t": U8, "reference": REALS}),
    "signed_error": Op({"t": U8, "reference": REALS}),
    "values": Op({"t": U8}),
    "bound": Op({"op": "quantize"}),
}
PREPARED = {
    "MatMul": ("matmul", ("a",)),
    "Conv2D": ("conv2d", ("x",)),
}
OTHER_CALLS = {
    "MatMul": {"b": (WEIGHTS, -1.0, 1.5), "bias": None, "clip": None},
    "Conv2D": {"padding": "same", "dilation": 2, "dtype": np.int32, "guess": None, "clip": (0, None)},
}
FEW = {
    "Conv2D": {"w": (FILTERS[:1, :1], -1.5, 1.0)},
}

"""Good calls of the front door for the registry `ops.OPS`."""

import numpy as np

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])
IMAGE = (np.arange(2 * 4 * 5 * 3) * 37 % 256).astype(np.uint8).reshape(2, 4, 5, 3)
FILTERS = (np.arange(2 * 2 * 1 * 6) * 29 % 256 - 128).astype(np.int8).reshape(2, 2, 1, 6)
WEIGHTS = np.int8([[100, -128, 3], [-3, 5, 127], [-100, 1, 2]])
ENDS_OF_COLUMNS = np.float32([[-1.0, 0.0, 2.0]]), np.float32([[0.5, 1.5, 2.5]])
SIGNED = np.int8([[100, -118, 127], [-128, -127, -51]])
U8, S32 = (CODES, -1.0, 2.0), (CODES_32, -4.0, 4.0)
S8 = (SIGNED, -1.0, 2.0)
A_B = {"a": U8, "b": (OTHER, 0.0, 3.0)}
GUESSED = {"good": {**A_B, "guess": (0.0, 1.0)}, "out": np.uint8}
POOLED = {"t": (IMAGE, -1.0, 2.0), "kernel": (2, 3), "stride": (2, 1), "padding": "same"}
ENDS = {"min": -1.0, "max": 1.5}

CALLS = {
    "range_of": {"good": {"x": REALS}, "each": False},
    "quantize": {"good": {"x": REALS, "min": -1.0, "max": 2.0}, "out": np.uint8},
    "dequantize": {"good": {"t": U8}, "out": np.float32},
    "add": {"good": {"a": U8, "b": S8, "guess": (0.0, 1.0)}, "out": np.uint8},
    "sub": {"good": {"a": S8, "b": (SIGNED[::-1].copy(), 0.0, 3.0), "dtype": "int8"}, "out": np.int8},
    "mul": {"good": {"a": S8, "b": U8, "dtype": "int32"}, "out": np.int32},
    "quantized_add_8p8to32": {"good": A_B, "out": np.int32},
    "quantized_add_8p8to8": GUESSED,
    "quantized_sub_8p8to32": {"good": A_B, "out": np.int32},
    "quantized_sub_8p8to8": GUESSED,
    "quantized_mul_8x8to32": {"good": A_B, "out": np.int32},
    "quantized_mul_8x8to8": GUESSED,
    "matmul": {
        "good": {"a": U8, "b": (WEIGHTS, *ENDS_OF_COLUMNS), "bias": np.float32([0, -2, 0.5]), "clip": (-3.0, 9.0)},
        "out": np.int32,
        "each": False,
    },
    "concat": {"good": {"tensors": [U8, (OTHER, 0.0, 3.0)]}, "out": np.uint8, "each": False},
    "lookup": {"good": {"t": U8, "function": np.tanh}, "out": np.uint8},
    "max_pool": {"good": POOLED, "out": np.uint8, "each": False},
    "avg_pool": {"good": POOLED, "out": np.uint8, "each": False},
    "pad": {"good": {"t": U8, "widths": ((1, 0), (0, 2)), "value": 0.5}, "out": np.uint8, "each": False},
    "softmax": {"good": {"t": (CODES, -4.0, 4.0), "axis": 1}, "out": np.uint8, "each": False},
    "conv2d": {
        "good": {"x": (IMAGE, -1.0, 2.0), "w": (FILTERS, -1.5, 1.0), "bias": np.int32([0, 9, -99, 999, 5, -1])}
        | {"stride": (2, 1), "padding": ((1, 0), 2), "groups": 3, "dtype": "uint8", "guess": (None, 3.0)},
        "out": np.uint8,
        "each": False,
    },
    "relu": {"good": {"t": U8, "limit": 1.0}, "out": np.uint8},
    "requantization_range": {"good": {"t": S32}},
    "requantize": {"good": {"t": U8, **ENDS}, "out": np.uint8},
    "requantize_32to8": {"good": {"t": S32, **ENDS}, "out": np.uint8},
    "multiply_shift": {"good": {"x": CODES, "factor": 0.3, "bits": 7}, "out": np.int32},
    "error": {"good": {"t": U8, "reference": REALS}},
    "signed_error": {"good": {"t": U8, "reference": REALS}},
    "values": {"good": {"t": U8}},
    "bound": {"good": {"op": "quantize"}},
}

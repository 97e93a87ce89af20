"""Good calls of `qops.tensorflow` for the registry `ops.OPS`."""

import numpy as np

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
OTHER = np.uint8([[200, 10, 255], [0, 1, 77]])
CODES_32 = np.arange(-3, 3, dtype=np.int32).reshape(2, 3) * 300_000_000
REALS = np.linspace(-1, 2, 6, dtype=np.float32).reshape(2, 3)
IMAGE = (np.arange(2 * 4 * 5 * 3) * 37 % 256).astype(np.uint8).reshape(2, 4, 5, 3)
FILTERS = (np.arange(2 * 2 * 3 * 4) * 29 % 256).astype(np.uint8).reshape(2, 2, 3, 4)
POOL = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
U8, S32 = (CODES, -1.0, 2.0), (CODES_32, -4.0, 4.0)
OTHER_U8 = (OTHER, 0.0, 3.0)
ENDS = {"requested_output_min": -1.0, "requested_output_max": 1.5}

CALLS = {
    "tensorflow.quantize_v2": {"good": {"input": REALS, "min_range": -1.0, "max_range": 2.0}, "out": np.uint8},
    "tensorflow.dequantize": {"good": {"input": U8}, "out": np.float32},
    "tensorflow.quantized_add": {"good": {"x": U8, "y": OTHER_U8}, "out": np.int32},
    "tensorflow.quantized_bias_add": {
        "good": {"input": U8, "bias": (OTHER[0], 0.0, 3.0)},
        "out": np.int32,
        "each": False,
    },
    "tensorflow.quantized_concat": {
        "good": {"concat_dim": 1, "values": [U8, OTHER_U8]},
        "out": np.uint8,
        "each": False,
    },
    "tensorflow.quantized_conv2d": {
        "good": {
            "input": (IMAGE, -1.0, 2.0),
            "filter": (FILTERS, 0.0, 3.0),
            "strides": [1, 2, 2, 1],
            "padding": "SAME",
        },
        "out": np.int32,
        "each": False,
    },
    "tensorflow.quantized_avg_pool": {"good": {"input": (IMAGE, -1.0, 2.0), **POOL}, "out": np.uint8, "each": False},
    "tensorflow.quantized_max_pool": {"good": {"input": (IMAGE, -1.0, 2.0), **POOL}, "out": np.uint8, "each": False},
    "tensorflow.quantized_matmul": {
        "good": {"a": U8, "b": (OTHER.T.copy(), 0.0, 3.0)},
        "out": np.int32,
        "each": False,
    },
    "tensorflow.quantized_mul": {"good": {"x": U8, "y": OTHER_U8}, "out": np.int32},
    "tensorflow.quantized_relu": {"good": {"features": U8}, "out": np.uint8},
    "tensorflow.quantized_relu6": {"good": {"features": (OTHER, -9.0, 3.0)}, "out": np.uint8},
    "tensorflow.quantized_reshape": {"good": {"tensor": U8, "shape": [3, -1]}, "each": False},
    "tensorflow.requantization_range": {"good": {"input": S32}},
    "tensorflow.requantize": {"good": {"input": S32, **ENDS}, "out": np.uint8},
    "tensorflow.quantize_down_and_shrink_range": {"good": {"input": S32}, "out": np.uint8},
}
RANGES_IN_ANY_ORDER = [
    ("dequantize", "input"),
    ("quantized_bias_add", "input"),
    ("quantized_bias_add", "bias"),
    ("quantized_avg_pool", "input"),
    ("quantized_max_pool", "input"),
    *(("quantized_batch_norm_with_global_normalization", name) for name in ("t", "m", "v", "beta", "gamma")),
    ("quantized_conv2d", "input"),
    ("quantized_conv2d", "filter"),
    ("quantized_relu", "features"),
    ("quantized_relu6", "features"),
    ("quantized_reshape", "tensor"),
    ("quantized_resize_bilinear", "images"),
    ("requantization_range", "input"),
    ("requantize", "input"),
    ("requantize_per_channel", "input"),
    ("quantize_down_and_shrink_range", "input"),
]
"""Ops and their tensors, of which TensorFlow does not ask that min <= max."""

"""Good calls of `qops.tensorflow` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import NHWC, OTHER, OTHER_U8, REALS, S32, U8, Op

FILTERS = (np.arange(2 * 2 * 3 * 4) * 29 % 256).astype(np.uint8).reshape(2, 2, 3, 4)
POOL = {"ksize": [1, 2, 3, 1], "strides": [1, 2, 1, 1], "padding": "SAME"}
ENDS = {"requested_output_min": -1.0, "requested_output_max": 1.5}

CALLS = {
    "tensorflow.quantize_v2": Op({"input": REALS, "min_range": -1.0, "max_range": 2.0}, np.uint8),
    "tensorflow.dequantize": Op({"input": U8}, np.float32),
    "tensorflow.quantized_add": Op({"x": U8, "y": OTHER_U8}, np.int32),
    "tensorflow.quantized_bias_add": Op({"input": U8, "bias": (OTHER[0], 0.0, 3.0)}, np.int32, each=False),
    "tensorflow.quantized_concat": Op({"concat_dim": 1, "values": [U8, OTHER_U8]}, np.uint8, each=False),
    "tensorflow.quantized_conv2d": Op(
        {
            "input": (NHWC, -1.0, 2.0),
            "filter": (FILTERS, 0.0, 3.0),
            "strides": [1, 2, 2, 1],
            "padding": "SAME",
        },
        np.int32,
        each=False,
    ),
    "tensorflow.quantized_avg_pool": Op({"input": (NHWC, -1.0, 2.0), **POOL}, np.uint8, each=False),
    "tensorflow.quantized_max_pool": Op({"input": (NHWC, -1.0, 2.0), **POOL}, np.uint8, each=False),
    "tensorflow.quantized_matmul": Op({"a": U8, "b": (OTHER.T.copy(), 0.0, 3.0)}, np.int32, each=False),
    "tensorflow.quantized_mul": Op({"x": U8, "y": OTHER_U8}, np.int32),
    "tensorflow.quantized_relu": Op({"features": U8}, np.uint8),
    "tensorflow.quantized_relu6": Op({"features": (OTHER, -9.0, 3.0)}, np.uint8),
    "tensorflow.quantized_reshape": Op({"tensor": U8, "shape": [3, -1]}, each=False),
    "tensorflow.requantization_range": Op({"input": S32}),
    "tensorflow.requantize": Op({"input": S32, **ENDS}, np.uint8),
    "tensorflow.quantize_down_and_shrink_range": Op({"input": S32}, np.uint8),
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
"""Ops and their tensors whose min may be above their max in TensorFlow."""

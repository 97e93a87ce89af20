"""Good calls for the registry `ops.OPS`: TensorFlow's Uniform* ops, those with a range per channel, and the norms."""

import numpy as np

from calls.parts import CODES_32, REALS, S8, Op

SUMS = (np.arange(-18, 18, dtype=np.int32) * 50_000_000).reshape(1, 3, 4, 3)
CHANNELS = (SUMS, np.float32([-1, -2, -0.5]), np.float32([1, 2, 3]))
_AFFINES = (("input", 0.5, 9), ("output", 0.75, -20), ("lhs", 0.5, 9), ("rhs", 0.25, -5))
PIXELS = (np.arange(2 * 3 * 4 * 3) * 37 % 256).astype(np.uint8).reshape(2, 3, 4, 3)
MOMENTS = {name: (np.uint8([9, 90, 190]), 0.0, 2.0) for name in ("m", "v", "beta", "gamma")}
IMAGE = (np.arange(3 * 2 * 4 * 3) * 37 % 256 - 128).astype(np.int8).reshape(3, 2, 4, 3)
IN, OUT, LHS, RHS = ({f"{name}_scales": scale, f"{name}_zero_points": zero} for name, scale, zero in _AFFINES)

CALLS = {
    "tensorflow.requantize_per_channel": Op(
        {"input": CHANNELS, "requested_output_min": -1.0, "requested_output_max": 1.5, "out_type": "qint8"},
        np.int8,
        each=False,
    ),
    "tensorflow.requantization_range_per_channel": Op({"input": CHANNELS, "clip_value_max": 6.0}, each=False),
    "tensorflow.uniform_quantize": Op(
        {"input": REALS, "scales": 0.01, "zero_points": -9, "quantization_min_val": -100}, np.int8
    ),
    "tensorflow.uniform_dequantize": Op({"input": S8, "scales": 0.01, "zero_points": 9}, np.float32),
    "tensorflow.uniform_requantize": Op({"input": S8, **IN, **OUT, "output_quantization_max_val": 100}, np.int8),
    "tensorflow.uniform_quantized_add": Op(
        {"lhs": CODES_32, "rhs": CODES_32[::-1].copy(), **LHS, **RHS, **OUT}, np.int32
    ),
    "tensorflow.uniform_quantized_clip_by_value": Op(
        {"operand": CODES_32, "min": -500_000_000, "max": 7, "scales": 0.5, "zero_points": 9}, np.int32
    ),
    "tensorflow.uniform_quantized_dot": Op({"lhs": S8, "rhs": S8.T.copy(), **LHS, **RHS, **OUT}, np.int32, each=False),
    "tensorflow.uniform_quantized_convolution": Op(
        {"lhs": IMAGE, "rhs": IMAGE[:, :, :2, :2].copy(), **LHS, **RHS, **OUT, "padding": "SAME"}, np.int32, each=False
    ),
    "tensorflow.quantized_resize_bilinear": Op({"images": (PIXELS, -1.0, 2.0), "size": [5, 3]}, np.uint8, each=False),
    "tensorflow.quantized_instance_norm": Op(
        {"x": (PIXELS, -1.0, 2.0), "variance_epsilon": 0.01}, np.uint8, each=False
    ),
    "tensorflow.quantized_batch_norm_with_global_normalization": Op(
        {"t": (PIXELS, -1.0, 2.0), **MOMENTS, "variance_epsilon": 0.01, "scale_after_normalization": True},
        np.int32,
        each=False,
    ),
}

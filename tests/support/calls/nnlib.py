"""Good calls of `qops.nnlib` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES, CODES_32, NCHW, NHWC, OIHW, OTHER, OTHER_U8, REALS, S32, U8, Op

A_B = {"a": U8, "b": OTHER_U8}
PIXELS, FILTERS = (NCHW, -1.0, 2.0), (OIHW.view(np.uint8).reshape(2, 2, 4, 3), 0.0, 3.0)
MOVES = {"stride": (2, 1), "padding": "SAME"}
RNG = np.random.default_rng(51)


def random_codes(*shape, dtype=np.uint8):
    """Codes of a layer, and of its bias."""
    return RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def biased(channels):
    """A bias of int32 of some steps of the results."""
    return np.arange(channels, dtype=np.int32) * 2**22 - 2**24, -512.0, 512.0


DEEP, FIRST_LAYER = (random_codes(2, 5, 6, 8), -1.0, 2.0), (random_codes(2, 5, 6, 3), -1.0, 2.0)
GIVEN = {"guess_min": -4.0, "guess_max": 6.0}
SUPERNODE = {"w": (random_codes(3, 2, 8, 5), -0.5, 1.0), "bias": biased(5), **MOVES}
DEPTHWISE = {"w": (random_codes(3, 3, 8, 1), -0.5, 1.0), "bias": biased(8), **MOVES, **GIVEN}
INPUT = {"w": (random_codes(3, 3, 3, 5), -0.5, 1.0), "bias": biased(5), **MOVES}
PAIRS = {"w": (random_codes(3, 3, 2, 2), -0.5, 1.0), "bias": biased(2), "padding": "SAME", "min": -4.0, "max": 6.0}
CONNECTED = {"w": (random_codes(1, 1, 48, 5), -0.5, 1.0), "bias": biased(5)}
TRANSPOSED = {"w": (random_codes(5, 3, 2, 8), -0.5, 1.0), "bias": biased(5), "stride": (2, 1), "pads": (1, 0, 0, 1)}
IMAGES, SLOPES = (NHWC, -1.0, 2.0), np.float32([0.25, -0.5, 1.5])
POSITIVE, DIVISORS = (CODES + np.uint8(1), 0.0, 2.0), (np.uint8([40, 90, 255]), 0.0, 3.0)
SCALES, BIAS_32 = (np.uint8([200, 10, 255]), -1.0, 3.0), (np.int32([-(10**9), 0, 10**9]), -4.0, 4.0)

CALLS = {
    "nnlib.quantized_batch_norm_8x8p8to8": Op({"x": U8, "scale": SCALES, "bias": DIVISORS}, np.uint8, each=False),
    "nnlib.quantized_batch_norm_8x8p32to8": Op({"x": U8, "scale": SCALES, "bias": BIAS_32}, np.uint8, each=False),
    "nnlib.quantized_div_8": Op({"a": U8, "b": DIVISORS}, np.uint8, each=False),
    "nnlib.quantized_instance_norm_8": Op({"x": IMAGES}, np.uint8, each=False),
    "nnlib.quantized_lrn_8": Op({"t": U8, "window": 3, "bias": 1.0, "alpha": 0.5, "beta": 0.75}, np.uint8, each=False),
    "nnlib.quantized_mean_8": Op({"t": IMAGES, "axes": [1, 2], "min": -1.0, "max": 1.5}, np.uint8, each=False),
    "nnlib.quantized_pad_8": Op({"t": U8, "pads": [[1, 0], [0, 2]]}, np.uint8, each=False),
    "nnlib.quantized_prelu_8": Op({"t": U8, "alpha": SLOPES}, np.uint8, each=False),
    "nnlib.quantized_recip_8": Op({"t": POSITIVE}, np.uint8, each=False),
    "nnlib.quantized_resize_bilinear_8": Op({"x": IMAGES, "size": (7, 6)}, np.uint8, each=False),
    "nnlib.quantized_sigmoid_8": Op({"t": U8}, np.uint8),
    "nnlib.quantized_softmax_8": Op({"t": U8, "beta": 1.5}, np.uint8, each=False),
    "nnlib.quantized_split_8": Op({"t": U8, "axis": 1, "parts": 3}, each=False),
    "nnlib.quantized_sqrt_8": Op({"t": (CODES, 0.0, 2.0)}, np.uint8),
    "nnlib.quantized_strided_slice_8": Op(
        {"t": IMAGES, "start": [0, 3, 1], "stop": [4, 0, 3], "step": [2, -1, 1]}, np.uint8, each=False
    ),
    "nnlib.quantized_sum_8to32": Op({"t": IMAGES, "axes": [1, 2]}, np.int32, each=False),
    "nnlib.quantized_tanh_8": Op({"t": U8}, np.uint8),
    "nnlib.resize_nearest_neighbor_8": Op({"x": IMAGES, "size": (7, 6)}, np.uint8, each=False),
    "nnlib.adjust_minmax_fixed": Op({"min": -1.0, "max": 2.0, "fixed": 0}),
    "nnlib.adjust_minmax_for_zero": Op({"min": -1.0, "max": 2.0}),
    "nnlib.adjust_range": Op({"min": -1.0, "max": 2.0}),
    "nnlib.level_zero": Op({"min": -1.0, "max": 2.0}),
    "nnlib.multiplier_below_one": Op({"x": 0.3}),
    "nnlib.auto_quantize": Op({"x": REALS}, np.uint8),
    "nnlib.auto_quantize_ref": Op({"x": REALS}, np.uint8),
    "nnlib.quantize": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.uint8),
    "nnlib.quantize_ref": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.uint8),
    "nnlib.quantize_int": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.quantize_uint": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.quantize_uint8": Op({"x": 0.3, "min": -1.0, "max": 2.0}),
    "nnlib.dequantize": Op({"t": U8}, np.float32),
    "nnlib.dequantize_qint32_f": Op({"t": S32}, np.float32),
    "nnlib.quantized_add_8p8to8": Op({**A_B, "guess_min": 0.0, "guess_max": 1.0}, np.uint8),
    "nnlib.quantized_add_8p8to8_integers": Op({"a": (-1.0, 2.0), "b": (0.0, 3.0), "range": (-1.0, 5.0)}),
    "nnlib.quantized_add_8p8to32": Op(A_B, np.int32),
    "nnlib.quantized_bias_add_8p8to32": Op({"x": U8, "bias": OTHER_U8}, np.int32),
    "nnlib.quantized_avg_pool_8": Op({"x": PIXELS, "window": (2, 3), **MOVES}, np.uint8, each=False),
    "nnlib.quantized_max_pool_8": Op({"x": PIXELS, "window": (2, 3), **MOVES}, np.uint8, each=False),
    "nnlib.quantized_conv2d_8x8to32": Op({"x": PIXELS, "w": FILTERS, **MOVES}, np.int32, each=False),
    "nnlib.quantized_depthwise_conv2d_8x8to32": Op(
        {"x": PIXELS, "w": (random_codes(3, 2, 4, 3), 0.0, 3.0), **MOVES}, np.int32, each=False
    ),
    "nnlib.quantized_l2_pool_8": Op({"x": PIXELS, "window": (2, 3), **MOVES}, np.uint8, each=False),
    "nnlib.supernode": Op({"x": DEEP, **SUPERNODE}, np.uint8, each=False),
    "nnlib.depthwise_supernode": Op({"x": DEEP, **DEPTHWISE}, np.uint8, each=False),
    "nnlib.input_supernode": Op({"x": FIRST_LAYER, **INPUT}, np.uint8, each=False),
    "nnlib.supernode3322": Op({"x": (random_codes(2, 5, 6, 2), -1.0, 2.0), **PAIRS}, np.uint8, each=False),
    "nnlib.super_fc": Op({"x": (random_codes(4, 1, 1, 48), -1.0, 2.0), **CONNECTED}, np.uint8, each=False),
    "nnlib.quantized_transpose_conv2d_8x8p32to8": Op(
        {"x": DEEP, **TRANSPOSED, "out_size": (10, 6)}, np.uint8, each=False
    ),
    "nnlib.fuse": Op({"op": "QuantizedConv2d_8x8to32", **SUPERNODE, "shape": (2, 5, 6, 8)}, each=False),
    "nnlib.quantized_matmul_8x8to32": Op({"a": U8, "b": (OTHER.T.copy(), 0.0, 3.0)}, np.int32, each=False),
    "nnlib.quantized_bias_add_32p32to32": Op({"x": S32, "bias": (CODES_32[::-1].copy(), -2.0, 2.0)}, np.int32),
    "nnlib.quantized_clamp_8": Op({"t": U8, "lower": -0.5, "upper": 1.0}, np.uint8),
    "nnlib.quantized_concat_8": Op({"tensors": [U8, OTHER_U8]}, np.uint8, each=False),
    "nnlib.quantized_concat_8_ref": Op({"tensors": [U8, OTHER_U8]}, np.uint8, each=False),
    "nnlib.quantized_maximum_8": Op({**A_B, "min": -1.5, "max": 3.5}, np.uint8),
    "nnlib.quantized_minimum_8": Op({**A_B, "min": -1.5, "max": 3.5}, np.uint8),
    "nnlib.quantized_mul_8x8to8": Op(A_B, np.uint8, each=False),
    "nnlib.quantized_mul_8x8to32": Op(A_B, np.int32),
    "nnlib.quantized_neg_8": Op({"t": U8}, np.uint8),
    "nnlib.quantized_relu_8": Op({"t": U8}, np.uint8),
    "nnlib.quantized_relux_8": Op({"t": U8, "limit": 1.0}, np.uint8),
    "nnlib.quantized_sub_8p8to8_d32": Op({**A_B, "guess_min": -3.0, "guess_max": 1.0}, np.uint8),
    "nnlib.quantized_sub_8p8to32": Op(A_B, np.int32),
    "nnlib.quantize_down_and_shrink_range_32to8": Op({"t": S32}, np.uint8),
    "nnlib.requantization_range_32": Op({"t": S32}),
    "nnlib.requantize_8to8": Op({"t": U8, "min": -2.0, "max": 1.984375}, np.uint8),
    "nnlib.quantize_int32": Op({"x": REALS, "min": -1.0, "max": 2.0}, np.int32),
    "nnlib.quantize_down_and_shrink_range_32to16": Op({"t": S32}, np.int16),
    "nnlib.requantize_32to16": Op({"t": S32, "min": -1.0, "max": 1.5}, np.int16),
    "nnlib.requantize_32to8": Op({"t": S32, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_i32": Op({"x": CODES_32, "level": 1e-9, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_i32_scalar": Op({"x": CODES_32, "level": 1e-9, "min": -1.0, "max": 1.5}, np.uint8),
    "nnlib.requantize_u8": Op({"x": CODES, "gain": 0.7, "in_zero": 80, "out_zero": 90}, np.uint8),
    "nnlib.mul_by_quantized_multiplier": Op({"x": CODES_32, "multiplier": 1 << 30, "shift": 2}, np.int32),
    "nnlib.rounding_divide_by_pot": Op({"x": CODES_32, "exponent": 5}, np.int32),
}

PREPARED = {
    "nnlib.Supernode": ("nnlib.supernode", ("x",)),
    "nnlib.DepthwiseSupernode": ("nnlib.depthwise_supernode", ("x",)),
    "nnlib.InputSupernode": ("nnlib.input_supernode", ("x",)),
    "nnlib.Supernode3322": ("nnlib.supernode3322", ("x",)),
    "nnlib.SuperFC": ("nnlib.super_fc", ("x",)),
    "nnlib.QuantizedTransposeConv2d8x8p32to8": ("nnlib.quantized_transpose_conv2d_8x8p32to8", ("x",)),
}
FEW = {
    "nnlib.Supernode": {"x": FIRST_LAYER, "w": (random_codes(1, 1, 3, 5), -0.5, 1.0), "stride": (1, 5)},
    "nnlib.DepthwiseSupernode": {
        "x": (random_codes(2, 5, 6, 1), -1.0, 2.0),
        "w": (random_codes(3, 3, 1, 1), -0.5, 1.0),
        "bias": biased(1),
    },
    "nnlib.InputSupernode": {"w": (random_codes(1, 1, 3, 5), -0.5, 1.0)},
    "nnlib.QuantizedTransposeConv2d8x8p32to8": {
        "x": FIRST_LAYER,
        "w": (random_codes(1, 2, 2, 3), -0.5, 1.0),
        "bias": biased(1),
        "out_size": (8, 6),
    },
}
OTHER_CALLS = {
    "nnlib.Supernode": {**GIVEN, "arch": "v60", "channel_scale": np.float32([1, 0.5, 0.25, 1, 0.75])},
    "nnlib.DepthwiseSupernode": {"guess_max": None, "padding": "VALID"},
    "nnlib.InputSupernode": {**GIVEN, "bias": (random_codes(5), -1.0, 3.0)},
    "nnlib.SuperFC": GIVEN,
}

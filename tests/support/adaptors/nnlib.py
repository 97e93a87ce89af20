"""The golden cases of nnlib in the words of `qops.nnlib`: arguments are renamed, and int32 numbers made such."""

import numpy as np

from qops import nnlib


def tensor(i, data="x", prefix="in"):
    return i[data], i[f"{prefix}_min"], i[f"{prefix}_max"]


def result(t):
    return {"out": t.data, "out_min": t.min, "out_max": t.max}


def add_node(form):
    def make(i):
        guess = {end: i[end] for end in ("guess_min", "guess_max") if end in i}
        node = nnlib.QuantizedAdd8p8to8(**guess, form=form)
        return lambda i, attrs: result(node(tensor(i, "a", "a"), tensor(i, "b", "b"))) | {"passes": node.passes}

    return make


def add(form):
    """A new node each; where the op itself was run, also the function, whose default is the op."""

    def run(i, attrs):
        found = add_node(form)(i)(i, attrs)
        if attrs.get("public_op") or (form == "flat" and i["a"].shape == i["b"].shape):
            guess = {end: i[end] for end in ("guess_min", "guess_max") if end in i}
            t = nnlib.quantized_add_8p8to8(tensor(i, "a", "a"), tensor(i, "b", "b"), **guess)
            return found | result(t)
        return found

    return run


def sub_d32(i, attrs):
    guess = {end: i[end] for end in ("guess_min", "guess_max") if end in i}
    return result(nnlib.quantized_sub_8p8to8_d32(tensor(i, "a", "a"), tensor(i, "b", "b"), **guess))


def binary(op, x, x_range, y, y_range):
    return lambda i, attrs: result(op(tensor(i, x, x_range), tensor(i, y, y_range)))


def unary(op, *arguments):
    return lambda i, attrs: result(op(tensor(i), *(i[argument] for argument in arguments)))


def extreme(op):
    return lambda i, attrs: result(op(tensor(i, "a", "a"), tensor(i, "b", "b"), i.get("want_min"), i.get("want_max")))


def concat(op):
    return lambda i, attrs: result(op([(i[f"x{k}"], i[f"min{k}"], i[f"max{k}"]) for k in range(attrs["parts"])]))


def pool(op):
    return lambda i, attrs: result(op(tensor(i), attrs["window"], attrs["stride"], attrs["padding"]))


def float_op(op):
    return lambda i, attrs: result(op(i["x"], *(i[end] for end in ("in_min", "in_max") if end in i)))


def wanted(op):
    return lambda i, attrs: result(op(tensor(i), i["want_min"], i["want_max"]))


def range_op(op, *attributes):
    return lambda i, attrs: op(i["min"], i["max"], *(attrs[a] for a in attributes))._asdict()


def quantize_scalar(i, attrs):
    ops = {"u8": nnlib.quantize_uint8, "u": nnlib.quantize_uint, "i": nnlib.quantize_int}
    return {name: op(i["x"], i["min"], i["max"]) for name, op in ops.items()}


def ends(i):
    return i.get("guess_min"), i.get("guess_max")


def layer(i):
    """Filters and bias."""
    return tensor(i, "w", "w"), tensor(i, "bias", "bias")


def in_session(make):
    """A new node each, of which the set has the passes; and the op, where the set has them not."""

    def run(i, attrs):
        session = nnlib.Session(make(i, attrs))
        if "x1" in i:
            return replayed(session, i)
        found = result(session(tensor(i))) | {"passes": session.passes}
        np.testing.assert_array_equal(make(i, attrs)(tensor(i)).data, found["out"])
        return found

    return run


def replayed(session, i):
    """Three calls of one node, in the order of the set."""
    found = [result(session(tensor(i, name))) for name in ("x1", "x", "x2")]
    return {f"{key}{step}": value for step, one in enumerate(found) for key, value in one.items()}


def supernode(i, attrs):
    more = {"channel_scale": i.get("channel_scale"), "arch": attrs["arch"]}
    return nnlib.Supernode(*layer(i), attrs["stride"], attrs["padding"], *ends(i), **more)


def depthwise_supernode(i, attrs):
    more = {"channel_scale": i.get("channel_scale")}
    return nnlib.DepthwiseSupernode(*layer(i), attrs["stride"], attrs["padding"], *ends(i), **more)


def input_supernode(i, attrs):
    return nnlib.InputSupernode(*layer(i), attrs["stride"], attrs["padding"], *ends(i))


def supernode3322(i, attrs):
    return nnlib.Supernode3322(*layer(i), attrs["padding"], *ends(i))


def super_fc(i, attrs):
    return nnlib.SuperFC(*layer(i), *ends(i))


def transposed(i, attrs):
    where = attrs["stride"], attrs["pads"], attrs["out_size"]
    return nnlib.QuantizedTransposeConv2d8x8p32to8(*layer(i), *where, *ends(i))


REJECTED = (
    r"bias, guess_min: .* steps of the sums, beyond int32, which the original refuses",  # supernodes
    r"min, max: 0 is between two codes of .*, which the original refuses",  # Requantize_8to8
    r"t: the range .* begins below 0, which the original refuses",  # QuantizedSqrt_8
    r"value: .* is code .* of the range .*, which the original refuses",  # QuantizedPad_8
    r"start, stop: (axis .* has no codes at .*|no codes along axis .*), which the original refuses",  # StridedSlice
)
REFUSALS = {
    "diverges": "a, b: .* the output range never settles",
    "rejected": "|".join(REJECTED),
}
"""How nnlib fails, or does not end -> how qops says so."""


def resize(op):
    return lambda i, attrs: result(op(tensor(i), attrs["size"], align_corners=bool(attrs["align_corners"])))


def batch_norm(op):
    def run(i, attrs):
        guess = {end: i[end] for end in ("guess_min", "guess_max") if end in i}
        return result(op(tensor(i), tensor(i, "scale", "scale"), tensor(i, "bias", "bias"), **guess))

    return run


def split(i, attrs):
    parts = nnlib.quantized_split_8(tensor(i), attrs["axis"], attrs["parts"])
    return {f"out{k}": part.data for k, part in enumerate(parts)} | result(parts[-1])


def strided_slice(i, attrs):
    names = ("start", "stop", "step", "begin_mask", "end_mask", "shrink_mask")
    return result(nnlib.quantized_strided_slice_8(tensor(i), *(attrs[name] for name in names)))


NODES = {
    "Supernode": supernode,
    "DepthwiseSupernode": depthwise_supernode,
    "InputSupernode": input_supernode,
    "Supernode3322": supernode3322,
}

ADAPTORS = {
    **{f"{op}_8x8p{bits}to8": in_session(make) for op, make in NODES.items() for bits in (8, 32)},
    "SuperFC_8x8p32to8": in_session(super_fc),
    "QuantizedTransposeConv2d_8x8p32to8": in_session(transposed),
    "QuantizedDepthwiseConv2d_8x8to32": lambda i, attrs: result(
        nnlib.quantized_depthwise_conv2d_8x8to32(tensor(i), tensor(i, "w", "w"), attrs["stride"], attrs["padding"])
    ),
    "QuantizedL2Pool_8": pool(nnlib.quantized_l2_pool_8),
    "QuantizedBatchNorm_8x8p32to8": batch_norm(nnlib.quantized_batch_norm_8x8p32to8),
    "QuantizedBatchNorm_8x8p8to8": batch_norm(nnlib.quantized_batch_norm_8x8p8to8),
    "QuantizedDiv_8": lambda i, attrs: result(
        nnlib.quantized_div_8(tensor(i, "a", "a"), tensor(i, "b", "b"), i.get("want_min"), i.get("want_max"))
    ),
    "QuantizedInstanceNorm_8": unary(nnlib.quantized_instance_norm_8),
    "QuantizedLRN_8": lambda i, attrs: result(
        nnlib.quantized_lrn_8(tensor(i), attrs["window"], i["bias"], i["alpha"], i["beta"], size=attrs["size"])
    ),
    "QuantizedMean_8": lambda i, attrs: result(
        nnlib.quantized_mean_8(tensor(i), attrs["axes"], i.get("want_min"), i.get("want_max"))
    ),
    "QuantizedPRelu_8": unary(nnlib.quantized_prelu_8, "alpha"),
    "QuantizedPad_8": lambda i, attrs: result(
        nnlib.quantized_pad_8(tensor(i), attrs["pads"], **{key: i[key] for key in ("value",) if key in i})
    ),
    "QuantizedRecip_8": unary(nnlib.quantized_recip_8),
    "QuantizedResizeBilinear_8": resize(nnlib.quantized_resize_bilinear_8),
    "QuantizedSigmoid_8": unary(nnlib.quantized_sigmoid_8),
    "QuantizedSoftmax_8": lambda i, attrs: result(
        nnlib.quantized_softmax_8(tensor(i), **{key: i[key] for key in ("beta",) if key in i})
    ),
    "QuantizedSplit_8": split,
    "QuantizedSqrt_8": unary(nnlib.quantized_sqrt_8),
    "QuantizedStridedSlice_8": strided_slice,
    "QuantizedSum_8to32": lambda i, attrs: result(nnlib.quantized_sum_8to32(tensor(i), attrs["axes"])),
    "QuantizedTanh_8": unary(nnlib.quantized_tanh_8),
    "ResizeNearestNeighbor_8": resize(nnlib.resize_nearest_neighbor_8),
    "AutoQuantize": float_op(nnlib.auto_quantize),
    "AutoQuantize_ref": float_op(nnlib.auto_quantize_ref),
    "Dequantize": lambda i, attrs: {"out": nnlib.dequantize(tensor(i))},
    "Dequantize_qint32_f": lambda i, attrs: {"out": nnlib.dequantize_qint32_f(tensor(i))},
    "Quantize": float_op(nnlib.quantize),
    "Quantize_int32": float_op(nnlib.quantize_int32),
    "Quantize_ref": float_op(nnlib.quantize_ref),
    "QuantizeDownAndShrinkRange_32to16": lambda i, attrs: result(
        nnlib.quantize_down_and_shrink_range_32to16(tensor(i))
    ),
    "QuantizeDownAndShrinkRange_32to8": lambda i, attrs: result(nnlib.quantize_down_and_shrink_range_32to8(tensor(i))),
    "QuantizedAdd_8p8to32": binary(nnlib.quantized_add_8p8to32, "a", "a", "b", "b"),
    "QuantizedAdd_8p8to32_seed": binary(nnlib.quantized_bias_add_8p8to32, "a", "a", "b", "b"),
    "QuantizedBiasAdd_8p8to32": binary(nnlib.quantized_bias_add_8p8to32, "x", "in", "bias", "bias"),
    "QuantizedAdd_8p8to8_d32": add("d32"),
    "QuantizedAdd_8p8to8_flat": add("flat"),
    "QuantizedAdd_8p8to8_spec": add("spec"),
    "QuantizedAvgPool_8": pool(nnlib.quantized_avg_pool_8),
    "QuantizedBiasAdd_32p32to32": binary(nnlib.quantized_bias_add_32p32to32, "x", "in", "bias", "bias"),
    "QuantizedClamp_8": unary(nnlib.quantized_clamp_8, "lower", "upper"),
    "QuantizedConcat_8": concat(nnlib.quantized_concat_8),
    "QuantizedConcat_8_ref": concat(nnlib.quantized_concat_8_ref),
    "QuantizedConv2d_8x8to32": lambda i, attrs: result(
        nnlib.quantized_conv2d_8x8to32(tensor(i), tensor(i, "w", "w"), attrs["stride"], attrs["padding"])
    ),
    "QuantizedMatMul_8x8to32": binary(nnlib.quantized_matmul_8x8to32, "a", "a", "b", "b"),
    "QuantizedMaxPool_8": pool(nnlib.quantized_max_pool_8),
    "QuantizedMaximum_8": extreme(nnlib.quantized_maximum_8),
    "QuantizedMinimum_8": extreme(nnlib.quantized_minimum_8),
    "QuantizedMul_8x8to8": binary(nnlib.quantized_mul_8x8to8, "a", "a", "b", "b"),
    "QuantizedMul_8x8to32": binary(nnlib.quantized_mul_8x8to32, "a", "a", "b", "b"),
    "QuantizedNeg_8": unary(nnlib.quantized_neg_8),
    "QuantizedReluX_8": unary(nnlib.quantized_relux_8, "limit"),
    "QuantizedRelu_8": unary(nnlib.quantized_relu_8),
    "QuantizedSub_8p8to32": binary(nnlib.quantized_sub_8p8to32, "a", "a", "b", "b"),
    "QuantizedSub_8p8to8_d32": sub_d32,
    "RequantizationRange_32": lambda i, attrs: dict(
        zip(("out_min", "out_max"), nnlib.requantization_range_32(tensor(i)), strict=True)
    ),
    "Requantize_32to16": wanted(nnlib.requantize_32to16),
    "Requantize_32to8": wanted(nnlib.requantize_32to8),
    "Requantize_8to8": wanted(nnlib.requantize_8to8),
    "fn_adjust_minmax_fixed": range_op(nnlib.adjust_minmax_fixed, "fixed"),
    "fn_adjust_minmax_for_zero": range_op(nnlib.adjust_minmax_for_zero),
    "fn_adjust_range": range_op(nnlib.adjust_range),
    "fn_level_zero": range_op(nnlib.level_zero),
    "fn_quantize_scalar": quantize_scalar,
    "fn_mul_by_quantized_multiplier": lambda i, attrs: {
        "out": nnlib.mul_by_quantized_multiplier(np.int32(i["x"]), i["multiplier"], i["shift"])
    },
    "fn_rounding_divide_by_pot": lambda i, attrs: {
        "out": nnlib.rounding_divide_by_pot(np.int32(i["x"]), i["exponent"])
    },
    "fn_multiplier_below_one": lambda i, attrs: nnlib.multiplier_below_one(i["x"])._asdict(),
    "fn_requantize_i32": lambda i, attrs: {"out": nnlib.requantize_i32(i["x"], i["level"], i["out_min"], i["out_max"])},
    "fn_requantize_i32_scalar": lambda i, attrs: {
        "out": nnlib.requantize_i32_scalar(i["x"], i["level"], i["out_min"], i["out_max"])
    },
    "fn_requantize_u8": lambda i, attrs: {"out": nnlib.requantize_u8(i["x"], i["gain"], i["in_zero"], i["out_zero"])},
}

SESSIONS = {
    "QuantizedAdd_8p8to8_flat_session": add_node("flat"),
    "QuantizedAdd_8p8to8_spec_session": add_node("spec"),
}

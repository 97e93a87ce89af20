"""The golden cases of further runtimes in the words of `qops.rules`: arguments are renamed, nothing else."""

import numpy as np
from adaptors.rules import pair

from qops import fixedpoint, rules

TYPES = {"u8": np.uint8, "s8": np.int8}
QUANTIZERS = {  # a rule of the sets -> the row that stands for it
    "quantize/aimet": "div-half-up-zp-inside",
    "quantize/mnn": "mnn",
    "quantize/ncnn": "ncnn",
    "quantize/openvino": "openvino",
    "quantize/div-even": "div-even",
    "inv-even": "inv-even",
    "qonnx-ROUND": "div-even-zp-inside",
    "qonnx-HALF_EVEN": "div-even-zp-inside",
    "qonnx-CEIL": "div-ceil-zp-inside",
    "qonnx-FLOOR": "div-floor-zp-inside",
    "qonnx-UP": "div-outward-zp-inside",
    "qonnx-DOWN": "div-truncate-zp-inside",
    "qonnx-HALF_UP": "div-away-zp-inside",
    "qonnx-HALF_DOWN": "div-half-toward-zero-zp-inside",
    "brevitas-ROUND": "div-even-zp-inside",
    "brevitas-CEIL": "div-ceil-zp-inside",
    "brevitas-FLOOR": "div-floor-zp-inside",
    "brevitas-ROUND_TO_ZERO": "div-truncate-zp-inside",
    "brevitas-DPU_ROUND": "div-even-or-up-zp-inside",
    "esp-ppq-ROUND_HALF_EVEN": "div-even",
    "esp-ppq-ROUND_HALF_UP": "div-half-up",
    "esp-ppq-ROUND_HALF_DOWN": "div-half-down",
    "esp-ppq-ROUND_HALF_TOWARDS_ZERO": "div-half-toward-zero",
    "esp-ppq-ROUND_HALF_FAR_FORM_ZERO": "div-away",
    "esp-ppq-ROUND_UP": "div-ceil",
    "esp-ppq-ROUND_DOWN": "div-floor",
}


def ends(attrs):
    return {key: attrs[key] for key in ("zero_point", "qmin", "qmax") if key in attrs}


def quantize(dtype):
    """Codes of a quantizer, in the type that the set stores."""

    def run(i, attrs):
        of = TYPES.get(attrs.get("dtype"), dtype)
        rule = QUANTIZERS[attrs["rule"]]
        if "input_low" in attrs:
            numbers = {"range": (attrs["input_low"], attrs["input_high"])}
        else:
            scale = 1 / attrs["codes_per_unit"] if "codes_per_unit" in attrs else attrs["scale"]
            numbers = {"scale": scale, **ends(attrs)}
        return {"y": rules.quantize(i["x"], rule, dtype=of, **numbers)}

    return run


def rknn(i, attrs):
    if attrs["op"] == "quantize":
        return quantize(np.int8)(i, attrs)
    scale = rules.real_scale(attrs["in_scale"], i["w_scale"], attrs["out_scale"], attrs["derive"])
    return {"y": rules.requantize(i["acc"], attrs["rule"], scale=scale, axis=attrs["axis"], **ends(attrs))}


def steps(codes_per_unit):
    """Real sizes of a code step of ncnn's scales, in double."""
    return 1 / np.asarray(codes_per_unit, np.float64)


def ncnn(i, attrs):
    if attrs["op"] == "requantize":
        bias = i.get("bias", attrs.get("bias"))
        scales = attrs["scale_in"], 1.0, steps(attrs["codes_per_unit_out"])
        return {"y": rules.requantize(i["acc"], "ncnn-requantize", scales=scales, bias=bias, **ends(attrs))}
    acc, a, w, bias = i["acc"], steps(attrs["in_codes_per_unit"]), steps(i["w_codes_per_unit"]), i.get("bias")
    rule = "ncnn" if attrs["op"] == "conv" else "ncnn-no-fma"
    shape = (-1, *[1] * (acc.ndim - 1)) if "axis" in attrs else (-1,)
    added = None if bias is None else bias.reshape(shape)
    real = rules.dequantize(acc, rule, in_scale=a, w_scale=w.reshape(shape), bias=added)
    if attrs["op"] == "innerproduct":
        return {"y": real}
    rule = {"conv": "ncnn", "depthwise": "ncnn-depthwise"}[attrs["op"]]
    how = {"scales": (a, w, steps(attrs["codes_per_unit_out"])), "axis": attrs["axis"], **ends(attrs)}
    return {"y": rules.requantize(acc, rule, bias=0.0 if bias is None else bias, **how), "real": real}


def mnn(i, attrs):
    scales = attrs["in_scale"], i["w_scale"], attrs["out_scale"]
    how = {"axis": attrs["axis"], "w_sums": i["w"].sum(1, dtype=np.int64), "x_zero_point": attrs["in_zero_point"]}
    return {"y": rules.requantize(i["acc"], "mnn", scales=scales, bias=i["bias"], **how, **ends(attrs))}


def openvino(i, attrs):
    one = len(i["w_scale"]) == 1 and not attrs["relu"]
    rule = "openvino-no-bias" if "bias" not in i else "openvino-one-channel" if one else "openvino"
    range = attrs["input_low"], attrs["input_high"]
    how = {"scales": (attrs["in_scale"], i["w_scale"], None), "range": range, "axis": attrs["axis"], "dtype": np.uint8}
    if attrs["relu"]:  # before the quantizer: no code is below that of 0
        how["qmin"] = rules.quantize([0.0], "openvino", range=range).item()
    return {"y": rules.requantize(i["acc"], rule, bias=i.get("bias"), **how)}


def ggml_blocks(i, attrs):
    name = f"ggml-{attrs['type']}{'-x86' if attrs['code'] == 'x86' and attrs['type'] != 'q8_K' else ''}"
    made = rules.quantize_blocks(i["x"], name)
    q = made.data.reshape(-1, attrs["block"])
    return {"q": q, "d": made.scale, "m": made.minimum, "s": made.sums, "bsums": made.sums}


def ggml_dot(i, attrs):
    how = {"block": attrs["block"], "a_zero_point": 8 if attrs["types"].startswith("q4_0") else 0}
    how |= {"a_minimum": i.get("ma"), "b_sums": i.get("sb")}
    a, b = i["qa"].reshape(1, -1), i["qb"].reshape(1, -1)
    orders = {"generic": "ggml", "x86": "ggml-x86"}
    return {key: rules.block_dot(a, b, i["da"], i["db"], order=order, **how) for key, order in orders.items()}


def ct2(i, attrs):
    x = rules.quantize_blocks(i["x"], attrs["rule"])
    if "w" not in i:  # the set's weights were the identity matrix, whose codes are 127
        real = rules.dequantize(x.data.astype(np.int32) * 127, "ct2", in_scale=x.scale, w_scale=1 / 127)
        return {"q": x.data, "real": real}
    w = rules.quantize_blocks(i["w"], "127-over-max")
    acc = rules.accumulate(x.data, w.data.T, dtype="int32")
    w_scale = rules.quantize_blocks(i["w"], "ct2").scale[:, 0]
    return {"acc": acc, "real": rules.dequantize(acc, "ct2", in_scale=x.scale, w_scale=w_scale)}


def bitsandbytes(i, attrs):
    if attrs["op"] == "dequantize":
        rows, columns = (i[key].astype(np.float64) / 127 for key in ("row_amax", "col_amax"))
        how = {"in_scale": rows[:, None], "w_scale": columns, "bias": i.get("bias")}
        y = rules.dequantize(i["acc"], "bitsandbytes", **how)
        return {"y": y.astype(attrs["dtype"]).astype(np.float32)}  # the type of the layer's result
    made = rules.quantize_blocks(i["x"], "bitsandbytes")
    return {"q": made.data, "amax": (made.scale[:, 0] * 127).astype(np.float32)}


def torchao(i, attrs):
    rule = attrs["rule"].replace("_no_clipping_err", "-no-clipping")
    made = rules.quantize_blocks(i["x"], rule)
    return {"q": made.data, "scale": made.scale[:, 0], "zero_point": made.zero_point[:, 0]}


def fixed(i, attrs):
    of = {key: attrs[key] for key in ("width", "integer_bits", "signed", "rounding", "overflow")}
    y = fixedpoint.convert(i["x"], attrs["in_width"] - attrs["in_integer_bits"], **of)
    return {"y": y.astype(np.int16)}


def executorch(i, attrs):
    op, rule, dtype = attrs["op"], attrs["rule"], TYPES[attrs["dtype"]]
    if op == "quantize":
        name = "double-inv-even" if rule.endswith("in double") else "inv-even-int64"
        return {"y": rules.quantize(i["x"], name, dtype=dtype, scale=attrs["scale"], **ends(attrs))}
    if op in ("add", "mul"):
        name = "torch-2.14-tail" if rule == "add-et" else "cadence"
        return pair(getattr(rules, op))(i, attrs | {"rule": name})
    if rule == "cadence-linear":
        scale = -attrs["multiplier"] * 2.0 ** (attrs["shift"] - 31)
        return {"y": rules.requantize(i["acc"], "fp32-even", scale=scale, dtype=dtype, **ends(attrs))}
    if rule == "cadence-conv":
        scales = attrs["bias_scale"], 1.0, attrs["out_scale"]
        return {"y": rules.requantize(i["acc"], "cadence", scales=scales, dtype=dtype, **ends(attrs))}
    zeros = {"in_zero_point": attrs["x_zp"], "zero_point": attrs["y_zp"]}
    scales = attrs["x_scale"], 1.0, attrs["y_scale"]
    return {"y": rules.requantize(i["x"], "cadence", scales=scales, dtype=dtype, **zeros)}


ADAPTORS = {
    "executorch_ops": executorch,
    "fixed_modes": fixed,
    "ggml_dot": ggml_dot,
    "ggml_quantize": ggml_blocks,
    "rowwise_bitsandbytes": bitsandbytes,
    "rowwise_ct2": ct2,
    "rowwise_ort_nbits": lambda i, attrs: {
        "q": rules.quantize_blocks(i["x"], "127-over-max", block=attrs["block"]).data
    },
    "rowwise_torchao": torchao,
    "mnn_conv": mnn,
    "ncnn_requantize": ncnn,
    "openvino_conv": openvino,
    "aimet_quantize": quantize(np.uint8),
    "brevitas_intquant": quantize(np.int16),
    "esp_ppq_quantize": quantize(np.int16),
    "mnn_quantize": quantize(np.int8),
    "ncnn_quantize": quantize(np.int8),
    "openvino_fakequantize": quantize(np.uint8),
    "qonnx_quant": quantize(np.int16),
    "rknn_conv": rknn,
    "torch_linear_dynamic": quantize(np.uint8),
}

"""The golden cases of rules in the words of `qops.rules`: arguments are renamed, nothing else."""

import re

import numpy as np

from qops import rules

TYPES = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16}
ROUNDINGS = {"SaturatingRoundingDoublingHighMul": "shift-half-up", "RoundingDivideByPOT": "rndna"}
ROWS = {  # a rule of the sets -> where its system and op match the words, the row that stands for them
    "fp32-even": {"^torch .* engine qnnpack": "torch-qnnpack", "^torch ": "torch-fbgemm"},
    "fp32-even-zp-inside": {"^torch ": "torch-onednn"},
    "half-up-double": {"optimised.* DEPTHWISE": "tflite-opt-depthwise"},
    "requantize/half-up-double": {"^LiteRT": "tflite-opt-quantize"},
    "quantize/inv-even": {"optimised": "tflite-opt"},
    "mul/tflite-double": {"^CMSIS": "tflm-double"},
    "avgpool/even-stored": {"^torch": "torch-nchw"},
}


def exact(values, dtype):
    """Numbers as an array of the type, which has to hold them."""
    found = np.array(values, dtype)
    assert found.tolist() == list(values)
    return found


def row(attrs):
    """The name of a rule in qops: some rules of the sets are several rows, for systems that differ elsewhere."""
    said = f"{attrs['system']} {attrs.get('op', '')}"
    found = [name for words, name in ROWS.get(attrs["rule"], {}).items() if re.search(words, said)]
    return (found or [attrs["rule"]])[0].rpartition("/")[2]  # the sets write the op before some names


def codes(attrs):
    return {key: attrs[key] for key in ("zero_point", "qmin", "qmax") if key in attrs}


def derived(i, attrs):
    """An op whose scale is made of three; by the rows of torch themselves."""
    w, rule = np.asarray(i.get("w_scale", attrs.get("w_scale"))), row(attrs)
    if rule.startswith("torch"):
        how = {"scales": (attrs["in_scale"], w, attrs["out_scale"])}
    else:
        how = {"scale": rules.real_scale(attrs["in_scale"], w, attrs["out_scale"], attrs["derive"])}
    return {"y": rules.requantize(i["acc"], rule, **how, dtype=TYPES[attrs["dtype"]], **codes(attrs))}


def scaled(dtype):
    return lambda i, attrs: {
        "y": rules.requantize(i["acc"], attrs["rule"], scale=attrs["scale"], dtype=dtype, **codes(attrs))
    }


def textbook(i, attrs):
    if "scale" in attrs:
        dtype = np.int8 if attrs["qmin"] < 0 else np.uint8
        return scaled(dtype)(i, attrs)
    given = attrs["multiplier"], attrs["shift"]
    return {"y": rules.requantize(i["acc"], attrs["rule"], integers=given, dtype=np.int32)}


def fixed_point(i, attrs):
    given = i["multiplier"], 31 - attrs["shift"]
    return {"y": rules.requantize(i["acc"], attrs["rule"], integers=given, dtype=np.int32)}


def wide(i, attrs):
    """Accumulators of 48 bits; TFLite reduces the multiplier to 16 bits, CMSIS-NN is given it so."""
    if "multiplier" in i:
        given = i["multiplier"], 31 - attrs["shift"]
    else:
        given = i["reduced_multiplier"], 15 - attrs["shift"]
    return {"y": rules.requantize(i["acc"], attrs["rule"], integers=given, dtype=np.int32)}


def legacy(i, attrs):
    given = attrs["multiplier"], attrs["shift"]
    return {
        "y": rules.requantize(
            i["acc"], "gemmlowp-legacy", integers=given, in_zero_point=-attrs["offset"], dtype=np.uint8
        )
    }


def primitive(i, attrs):
    rule = ROUNDINGS[attrs["rule"]]
    given = (i["b"], 31) if "b" in i else (1, i["exponent"])
    return {"y": rules.requantize(i["a"] if "a" in i else i["x"], rule, integers=given, dtype=np.int32)}


def rescale(i, attrs):
    types = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "u8": np.uint8, "u16": np.uint16}
    given = (i["multiplier"], i["shift"]) if attrs["per_channel"] else (i["multiplier"].item(), i["shift"].item())
    zeros = {"in_zero_point": attrs["input_zp"], "zero_point": attrs["output_zp"]}
    ends = {key: attrs[key] for key in ("qmin", "qmax")}
    return {
        "y": rules.requantize(i["x"], attrs["rule"], integers=given, dtype=types[attrs["out_type"]], **zeros, **ends)
    }


def converted(i, attrs):
    derive = "f32" if attrs["rule"].endswith("cvt") else "double"
    scale = rules.real_scale(attrs["x_scale"], 1.0, attrs["y_scale"], derive)
    zeros = {"in_zero_point": attrs["x_zp"], "zero_point": attrs["y_zp"]}
    return {"y": rules.requantize(i["x"], row(attrs), scale=scale, dtype=TYPES[attrs["y_dtype"]], **zeros)}


def pair(call):
    def run(i, attrs):
        ratios = {"a_scale": "a_over_y", "b_scale": "b_over_y"}
        scales = {name: attrs.get(name, attrs.get(ratios.get(name), 1.0)) for name in ("a_scale", "b_scale", "y_scale")}
        zeros = {f"{name}_zero_point": attrs[f"{name}_zp"] for name in "aby"}
        return {"y": call(i["a"], i["b"], row(attrs), **scales, **zeros)}

    return run


def average_pool(i, attrs):
    own = {"x_scale": "x_scale", "y_scale": "y_scale", "y_zero_point": "y_zp"}
    options = {name: attrs[key] for name, key in own.items() if key in attrs}
    how = {"kernel": attrs["kernel"], "zero_point": attrs["zero_point"]} | options
    return {"y": rules.average_pool(i["x"], row(attrs), **how)}


def quantize(i, attrs):
    how = {"scale": attrs["scale"], "zero_point": attrs["zero_point"], "dtype": TYPES[attrs["dtype"]]}
    return {"y": rules.quantize(i["x"], row(attrs), **how)}


def of_any_op(i, attrs):
    """A case of a set that mixes ops."""
    kind = attrs["rule"].partition("/")[0]
    calls = {"add": pair(rules.add), "mul": pair(rules.mul), "avgpool": average_pool, "quantize": quantize}
    return calls.get(kind, derived)(i, attrs)


def choose(i, attrs):
    least = {None: "", 1e-4: "-1e-4", 0.01: "-0.01"}[attrs.get("min_real_range")]
    name = {
        "choose/ort": f"ort{'-symmetric' * attrs.get('symmetric', False)}{least}",
        "ChooseQuantizationParams": "tflite",
    }
    rule = name.get(attrs["rule"], attrs["rule"].removeprefix("choose/"))
    ends = zip(i["rmin"].tolist(), i["rmax"].tolist(), strict=True)
    lowest = {"qmin": -128} if attrs.get("symmetric") and attrs["dtype"] == "s8" else {}  # as the set called it
    found = [rules.choose_range(lo, hi, rule, dtype=TYPES[attrs["dtype"]], **lowest) for lo, hi in ends]
    scale_type = np.float32 if rule.startswith("ort") else np.float64
    return {
        "scale": exact([p.scale for p in found], scale_type),
        "zero_point": exact([p.zero_point for p in found], np.int32),
    }


def dynamic(i, attrs):
    rule = "onnx-dynamic" if attrs["system"].startswith("onnx ") else "ort-dynamic"
    p = rules.choose_range(min(0.0, i["x"].min().item()), max(0.0, i["x"].max().item()), rule)
    y = rules.quantize(i["x"], "div-even", scale=p.scale, zero_point=p.zero_point)
    return {"y": y, "scale": p.scale, "zero_point": p.zero_point}


def multiplier(i, attrs):
    build = attrs["rule"].removeprefix("QuantizeMultiplier/").removeprefix("tflite-")
    found = [rules.tflite_multiplier(real, build) for real in i["real"].tolist()]
    multipliers, shifts = zip(*found, strict=True)
    return {"multiplier": exact(multipliers, np.int32), "shift": exact(shifts, np.int32)}


ADAPTORS = {
    **dict.fromkeys(
        ("litert_conv_s8", "litert_conv_u8", "litert_dw_s8", "litert_dw_u8", "litert_fc_s8", "litert_fc_u8"), derived
    ),
    **dict.fromkeys(
        ("litert_dw_tails", "ort_qlinearconv", "ort_qlinearmatmul", "torch_linear", "torch_linear_ties"), derived
    ),
    **dict.fromkeys(("ort_overflow", "torch_overflow", "torch_versions"), of_any_op),
    **dict.fromkeys(("qnnpack_requantize", "xnnpack_requantize_qu8"), scaled(np.uint8)),
    "xnnpack_requantize_qs8": scaled(np.int8),
    "textbook_shift": textbook,
    "fixedpoint_double": fixed_point,
    "fixedpoint_single": fixed_point,
    "tflite_mbqm_int64": wide,
    "gemmlowp_legacy": legacy,
    "gemmlowp_primitives": primitive,
    "tosa_rescale": rescale,
    **dict.fromkeys(("litert_requantize", "litert_requantize_tails"), converted),
    **dict.fromkeys(
        ("cmsis_add", "litert_add", "ort_qlinearadd", "torch_add", "xnnpack_qnnpack_add_shim"), pair(rules.add)
    ),
    **dict.fromkeys(("cmsis_mul", "litert_mul", "litert_mul_ties", "ort_qlinearmul", "torch_mul"), pair(rules.mul)),
    **dict.fromkeys(("cmsis_avgpool", "litert_avgpool", "ort_averagepool", "ort_averagepool_whole"), average_pool),
    **dict.fromkeys(("torch_avgpool", "torch_avgpool_ties"), average_pool),
    **dict.fromkeys(("litert_quantize", "litert_quantize_tails", "ort_quantizelinear", "torch_quantize"), quantize),
    **dict.fromkeys(("choose_qparams_ort", "choose_qparams_tflite", "torch_choose_qparams"), choose),
    "ort_dynamicquantizelinear": dynamic,
    "quantize_multiplier": multiplier,
}

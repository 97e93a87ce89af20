"""The golden cases of torch, OpenVINO and TensorFlow on kinds of CPU: arguments are renamed, nothing else."""

import numpy as np
from adaptors.rules import TYPES, codes, pair

from qops import rules

SUMS = {  # an engine of torch -> the rules of its sums without VNNI and with it
    "fbgemm": ("fbgemm-avx2", "fbgemm-vnni"),
    "x86": ("fbgemm-avx2", "x86-vnni"),
    "onednn": ("onednn-avx2", "exact"),
    "qnnpack": ("exact", "exact"),
}


def sums(attrs):
    return SUMS[attrs["engine"]][attrs["vnni"]]


def torch_codes(acc, i, attrs, axis):
    """Codes of sums, by the engine's rule of the op."""
    engine, name = attrs["engine"], attrs["op"].removeprefix("quantized::")
    scales = attrs["x_scale"], i["w_scale"] if i["w_scale"].size > 1 else i["w_scale"].item(), attrs["y_scale"]
    how = {"scales": scales, "zero_point": attrs["y_zp"], "dtype": TYPES[attrs["dtype"]], "axis": axis}
    if engine == "onednn" or (attrs["vnni"] and attrs.get("rule_vnni") == "torch-onednn"):
        if name.startswith("conv"):
            inputs, outputs = i["w"].shape[1], len(i["w"]) // attrs["group"]
            in_groups = attrs["group"] > 1 and inputs > 1 and (inputs % 4 or outputs % 4)
            on_avx2 = "torch-onednn-groups" if in_groups else "torch-onednn-conv-amx"
            rule = "torch-onednn-conv" if attrs["vnni"] else on_avx2
        else:
            rule = "torch-onednn" if attrs["vnni"] else "torch-onednn-amx"
    elif "bias" in i:
        return {"y": rules.requantize(acc, "torch-fbgemm-bias", bias=i["bias"], **how)}
    else:
        rule = "torch-qnnpack" if engine == "qnnpack" else "torch-fbgemm"
    return {"y": rules.requantize(acc, rule, **how)}


def linear(i, attrs):
    zeros = {"x_zero_point": attrs["x_zp"], "w_zero_point": attrs["w_zp"]}
    return torch_codes(rules.accumulate(i["x"], i["w"].T, **zeros, rule=sums(attrs)), i, attrs, -1)


def conv(i, attrs):
    zeros = {"x_zero_point": attrs["x_zp"], "w_zero_point": attrs["w_zp"]}
    how = {name: attrs[name] for name in ("strides", "dilations")}
    acc = rules.accumulate_conv(
        i["x"], i["w"], **zeros, **how, pads=attrs["pads"] * 2, groups=attrs["group"], rule=sums(attrs)
    )
    return torch_codes(acc, i, attrs, 1)


def dynamic_codes(x, reduced=False):
    """The codes of a dynamic layer's data, and their parameters."""
    ends = min(0.0, x.min().item()), max(0.0, x.max().item())
    p = rules.choose_range(*ends, "torch-reduced" if reduced else "torch")
    return rules.quantize(x, "inv-even", scale=p.scale, zero_point=p.zero_point), p


def linear_dynamic(i, attrs):
    codes, p = dynamic_codes(i["x"], attrs["reduce_range"])
    zeros = {"x_zero_point": p.zero_point, "w_zero_point": attrs["w_zp"]}
    acc = rules.accumulate(codes, i["w"].T, **zeros, rule=sums(attrs))
    return {"y": rules.dequantize(acc, "fma", in_scale=p.scale, w_scale=i["w_scale"], bias=i.get("bias"))}


def average_pool(i, attrs):
    """Windows over three axes are those over two of an image that has the taps of the first two one below another."""
    channels_last = attrs["memory"] == "channels_last" or attrs["op"] == "avg_pool3d"
    with_blocks = "torch-nhwc" if attrs["vnni"] else "torch-nhwc-avx2"
    x, kernel = np.moveaxis(i["x"], 1, -1), attrs["kernel"]
    how = {"rule": with_blocks if channels_last else "torch-nchw", "zero_point": attrs["zero_point"]}
    if len(kernel) == 3:
        seen = np.lib.stride_tricks.sliding_window_view(x, kernel[:2], (1, 2))  # (N, D, H, W, C, kd, kh)
        n, d, h, w, c = seen.shape[:5]
        x = seen.transpose(0, 1, 2, 5, 6, 3, 4).reshape(n * d * h, kernel[0] * kernel[1], w, c)
        y = rules.average_pool(x, kernel=(len(x[0]), kernel[2]), **how).reshape(n, d, h, -1, c)
    else:
        y = rules.average_pool(x, kernel=tuple(kernel), **how)
    return {"y": np.ascontiguousarray(np.moveaxis(y, -1, 1))}


def openvino(i, attrs):
    rule = "exact" if attrs["vnni"] or attrs["kernel"].endswith("f32") else "openvino-avx2"
    if rule != "exact" and attrs["kernel"] == "jit_gemm_I8" and attrs["op"] == "Conv":
        rule = "openvino-gemm-avx2"
    if attrs["op"] == "MatMul":
        acc = rules.accumulate(i["x"], i["w"], x_zero_point=attrs["x_zp"], rule=rule)
        shape = (-1,)
    else:
        how = {name: attrs[name] for name in ("strides", "dilations", "pads")}
        acc = rules.accumulate_conv(i["x"], i["w"], x_zero_point=attrs["x_zp"], **how, groups=attrs["group"], rule=rule)
        shape = (-1, *[1] * (acc.ndim - 2))
    return {"y": rules.dequantize(acc, "multiply-add", in_scale=attrs["x_scale"], w_scale=i["w_scale"].reshape(shape))}


def tensorflow(i, attrs):
    rule = "exact" if attrs["vnni"] else "onednn-avx2"
    if attrs["op"] == "QuantizedMatMulWithBias":
        return {"y": rules.accumulate(i["a"], i["b"], i["bias"].astype(np.int32), dtype="int32", rule=rule)}
    x, w = np.moveaxis(i["x"], -1, 1), i["w"]
    groups = x.shape[1] if "Depthwise" in attrs["op"] else 1
    w = w.reshape(*w.shape[:2], 1, -1) if groups > 1 else w
    w = w.transpose(3, 2, 0, 1)
    step, pads = (attrs["stride"],) * 2, [0] * 4
    if attrs["padding"] == "SAME":
        short = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(x.shape[2:], w.shape[2:], step, strict=True)]
        pads = [*(n // 2 for n in short), *(n - n // 2 for n in short)]
    acc = rules.accumulate_conv(x, w, strides=step, pads=pads, groups=groups, dtype="int32", rule=rule)
    return {"y": np.ascontiguousarray(np.moveaxis(acc, 1, -1))}


def arm_quantize(i, attrs):
    how = {"scale": attrs["scale"], "zero_point": attrs["zero_point"], "dtype": TYPES[attrs["dtype"]]}
    return {"y": rules.quantize(i["x"], "torch-arm", **how)}


def arm_add(i, attrs):
    """A ratio of scales beyond those of the row of the engine takes another one."""
    rule = attrs["rule"].rpartition("/")[2]
    if rule == "open":
        rule = {"onednn": "torch-acl", "qnnpack": "xnnpack-left"}[attrs["engine"]]
    return pair(rules.add)(i, attrs | {"rule": rule})


def arm_linear(i, attrs):
    of_channels = "w_scale" in i
    scales = attrs["in_scale"], i["w_scale"] if of_channels else attrs["w_scale"], attrs["out_scale"]
    rule = "torch-onednn-amx" if of_channels else "torch-acl"
    rule = "torch-qnnpack-arm" if attrs["engine"] == "qnnpack" else rule
    return {"y": rules.requantize(i["acc"], rule, scales=scales, dtype=TYPES[attrs["dtype"]], **codes(attrs))}


def arm_dynamic(i, attrs):
    data, p = dynamic_codes(i["x"])
    acc = rules.accumulate(data, i["w"].T, x_zero_point=p.zero_point)
    how = {"in_scale": p.scale, "w_scale": attrs["w_scale"], "bias": i.get("bias")}
    if attrs["engine"] == "qnnpack":
        return {"y": rules.dequantize(acc, "multiply-add", **how)}
    how |= {"w_sums": i["w"].sum(1, dtype=np.int64), "x_zero_point": p.zero_point}
    return {"y": rules.dequantize(acc, "torch-onednn-arm", **how)}


ARM = {
    "torch_arm_quantize": arm_quantize,
    "torch_arm_add": arm_add,
    "torch_arm_linear": arm_linear,
    "torch_arm_dynamic": arm_dynamic,
}
AVX2 = {
    "torch_avx2_linear": linear,
    "torch_avx2_linear_dynamic": linear_dynamic,
    "torch_avx2_conv": conv,
    "torch_avx2_avgpool": average_pool,
    "openvino_avx2_layers": openvino,
    "tensorflow_avx2_fused": tensorflow,
}

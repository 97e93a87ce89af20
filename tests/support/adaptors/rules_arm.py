"""The golden cases of 64-bit ARM in the words of `qops.rules`: arguments are renamed, nothing else."""

import numpy as np
from adaptors import onnx_runtimes, torch_runtimes
from adaptors.rules import TYPES, codes, pair, quantize

from qops import rules

ROWS = {  # a rule of the sets -> the row that stands for it
    "avgpool/torch-arm-nhwc": "torch-2.14-nhwc",
    "mul/torch": "torch-tail",
    "add/ort-float": "ort-arm-float",
}


def row(attrs):
    return ROWS.get(attrs["rule"], attrs["rule"].rpartition("/")[2])


def named(call):
    """`call` with the name of the row in place of the rule of the set."""
    return lambda i, attrs: call(i, attrs | {"rule": row(attrs)})


def requantize(i, attrs):
    w = np.asarray(i.get("w_scale", attrs.get("w_scale")))
    if attrs["derive"].startswith("stepwise"):
        how = {"scales": (attrs["in_scale"], w, attrs["out_scale"])}
    else:
        how = {"scale": rules.real_scale(attrs["in_scale"], w, attrs["out_scale"], attrs["derive"])}
    return {"y": rules.requantize(i["acc"], attrs["rule"], dtype=TYPES[attrs["dtype"]], **how, **codes(attrs))}


def average_pool(i, attrs):
    own = {"x_scale": "x_scale", "y_scale": "y_scale", "y_zero_point": "y_zp"}
    options = {name: attrs[key] for name, key in own.items() if key in attrs}
    how = {"kernel": attrs["kernel"], "zero_point": attrs["zero_point"]} | options
    has_one_channel = attrs["rule"] == "avgpool/torch-arm-nchw" and i["x"].shape[3] == 1  # torch takes it for NHWC
    return {"y": rules.average_pool(i["x"], "torch-2.14-nhwc" if has_one_channel else row(attrs), **how)}


ADAPTORS = {
    "ort_arm_add": named(pair(rules.add)),
    "ort_arm_mul": named(pair(rules.mul)),
    "ort_arm_averagepool": average_pool,
    "ort_arm_depthwise": requantize,
    "ort_arm_quantize": named(quantize),
    "ort_arm_requantize": requantize,
    "torch_arm_avgpool": average_pool,
    "torch_arm_conv": requantize,
    "torch_arm_mul": named(pair(rules.mul)),
    **onnx_runtimes.ARM,
    **torch_runtimes.ARM,
}

"""Convolutions that LiteRT and TFLite Micro ran: `explain` names the rule of each system's kernels."""

import json
from pathlib import Path

import numpy as np
import pytest
from npz import read_npz

import qops

PATH = Path(__file__).parents[2] / "golden" / "tflite" / "CONV_2D"
ARRAYS = read_npz(PATH.with_suffix(".npz"))
RULES = {"ref": "tflite-double", "tflm": "tflite-double", "optimized": "half-up-double"}
RULES |= dict.fromkeys(("xnn", "xnnpack"), "fp32-even")
ENDS = {"NONE": (None, None), "RELU": (0.0, None), "RELU6": (0.0, 6.0), "RELU_N1_TO_1": (-1.0, 1.0)}


def runs():
    """Each result that a system gave: the reference's, and those of others where they differ."""
    for case in json.loads(PATH.with_suffix(".json").read_text()):
        for key in ("outputs", "outputs_optimized", "outputs_xnnpack", "outputs_tflm"):
            if key in case:
                system = key.removeprefix("outputs_") if "_" in key else case["system"]
                yield pytest.param(case, system, ARRAYS[case[key]["y"]], id=f"{case['id']}-{system}")


def accumulators(x, w, bias, attrs):
    """Sums of products over windows, NHWC by OHWI; int32 wraps where the bias is of 32 bits."""
    kernel = [(k - 1) * d + 1 for k, d in zip(w.shape[1:3], attrs["dilation"], strict=True)]
    if attrs["padding"] == "SAME":
        sizes = list(zip(x.shape[1:3], kernel, attrs["stride"], strict=True))
        lacking = [max((-(-n // s) - 1) * s + k - n, 0) for n, k, s in sizes]
        x = np.pad(x, [(0, 0), *((pad // 2, pad - pad // 2) for pad in lacking), (0, 0)])
    (sh, sw), (dh, dw) = attrs["stride"], attrs["dilation"]
    windows = np.lib.stride_tricks.sliding_window_view(x, kernel, (1, 2))[:, ::sh, ::sw, :, ::dh, ::dw]
    groups = x.shape[3] // w.shape[3]
    windows = windows.reshape(*windows.shape[:3], groups, -1, *windows.shape[4:])
    acc = np.einsum("nhwgikl,gokli->nhwgo", windows, w.reshape(groups, -1, *w.shape[1:]))
    acc = acc.reshape(*acc.shape[:3], -1) + (0 if bias is None else bias.astype(np.int64))
    return acc if bias is not None and bias.dtype == np.int64 else acc.astype(np.int32)


@pytest.mark.parametrize(("case", "system", "y"), list(runs()))
def test_rules_of_convolutions(case, system, y):
    attrs, inputs = case["attrs"], {name: None if key is None else ARRAYS[key] for name, key in case["inputs"].items()}
    x, w, bias = inputs["x"].astype(np.int64), inputs["w"].astype(np.int64), inputs.get("bias")
    acc = accumulators(x - attrs["x_zp"], w - np.reshape(attrs["w_zp"], (-1, 1, 1, 1)), bias, attrs)
    ends = [None if v is None else np.float32(v) / np.float32(attrs["y_scale"]) for v in ENDS[attrs["activation"]]]
    codes = [None if v is None else attrs["y_zp"] + int(np.trunc(v + np.copysign(0.5, v))) for v in ends]
    info = np.iinfo(y.dtype)
    numbers = {
        "in_scale": attrs["x_scale"],
        "w_scale": attrs["w_scale"],
        "out_scale": attrs["y_scale"],
        "zero_point": attrs["y_zp"],
        "qmin": None if codes[0] is None else max(codes[0], info.min),
        "qmax": None if codes[1] is None else min(codes[1], info.max),
    }
    wide = bias is not None and bias.dtype == np.int64
    assert ("tflite-int64acc" if wide else RULES[system]) in qops.explain(acc, y, **numbers).exact

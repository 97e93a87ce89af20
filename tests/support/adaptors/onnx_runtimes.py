"""The golden cases of onnxruntime on kinds of CPU in the words of `qops.onnx`: arguments are renamed, nothing else.

A model that was recorded with more outputs is asked for these outputs again: onnxruntime then fuses fewer nodes.
"""

import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from extra_outputs import codes_of, with_outputs

from qops import models, onnx

GOLDEN = Path(os.environ.get("QOPS_GOLDEN") or Path(__file__).parents[2] / "golden")
MOVES = ("pads", "strides", "dilations", "group")


def runtime(attrs):
    """The sets of x86 without VNNI have what onnxruntime gives with VNNI too; those of ARM name the core."""
    if "vnni" in attrs:
        return "ort" if attrs["vnni"] else "ort_avx2"
    return "ort_neon" if "Cortex-A72" in attrs["system"] else "ort_arm"


def matmul_integer(i, attrs):
    b_zero = i["b_zp"] if "b_zp" in i else attrs["b_zp"]
    return {"y": onnx.matmul_integer(i["a"], i["b"], attrs["a_zp"], b_zero, runtime=runtime(attrs))}


def qlinear_matmul(i, attrs):
    given = i["a"], attrs["a_scale"], attrs["a_zp"]
    if attrs["op"] == "QLinearMatMul":
        numbers = i["b"], i["b_scale"], i["b_zp"], attrs["y_scale"], attrs["y_zp"]
        return {"y": onnx.qlinear_matmul(*given, *numbers, runtime=runtime(attrs))}
    b = i["b"].T if attrs["transB"] else i["b"]  # the sets have it as it is multiplied
    numbers = i["b_scale"], i["b_zp"], i.get("c"), attrs.get("y_scale"), attrs.get("y_zp")
    return {"y": onnx.qgemm(*given, b, *numbers, transB=int(attrs["transB"]), runtime=runtime(attrs))}


def float_matmul(i, attrs):
    numbers = {"bias": i.get("bias"), "runtime": runtime(attrs)}
    if attrs["op"] == "DynamicQuantizeMatMul":
        x = i["x"] if "x" in i else i["a"]
        return {"y": onnx.dynamic_quantize_matmul(x, i["b"], i["b_scale"], i["b_zp"], **numbers)}
    scales = attrs["a_scale"], i["b_scale"], attrs["a_zp"], i["b_zp"]
    return {"y": onnx.matmul_integer_to_float(i["a"], i["b"], *scales, **numbers)}


def conv_integer(i, attrs):
    how = {name: attrs[name] for name in MOVES}
    return {"y": onnx.conv_integer(i["x"], i["w"], attrs["x_zp"], attrs["w_zp"], **how, runtime=runtime(attrs))}


def qlinear_conv(i, attrs):
    how, last = {name: attrs[name] for name in MOVES}, attrs["layout"] == "NHWC"
    x = np.moveaxis(i["x"], -1, 1) if last else i["x"]
    numbers = i["w"], i["w_scale"], attrs["w_zp"], attrs["y_scale"], attrs["y_zp"], i.get("bias")
    y = onnx.qlinear_conv(x, attrs["x_scale"], attrs["x_zp"], *numbers, **how, runtime=runtime(attrs))
    return {"y": np.ascontiguousarray(np.moveaxis(y, 1, -1)) if last else y}


@cache
def loaded(path, name, asked_for_codes):
    if not asked_for_codes:
        return models.load(path, runtime=name)
    with TemporaryDirectory() as folder:
        return models.load(with_outputs(path, codes_of(path), Path(folder)), runtime=name)


def model(i, attrs):
    """Some were recorded with all codes as outputs, where onnxruntime fuses fewer nodes."""
    path = GOLDEN / "rules_avx2" / attrs["model"]
    return loaded(path, runtime(attrs), not attrs["same_without_extra_outputs"]).run(i, keep="all")


def binary(function):
    """QLinearAdd or QLinearMul."""

    def call(i, attrs):
        a, b, y = ((attrs[f"{x}_scale"], attrs[f"{x}_zp"]) for x in "aby")
        return function(i["a"], *a, i["b"], *b, *y, runtime=runtime(attrs))

    return call


AVX2 = {
    "ort_avx2_matmulinteger": matmul_integer,
    "ort_avx2_qlinearmatmul": qlinear_matmul,
    "ort_avx2_float_matmul": float_matmul,
    "ort_avx2_convinteger": conv_integer,
    "ort_avx2_qlinearconv": qlinear_conv,
    "ort_avx2_models": model,
}
ARM = {"ort_arm_lowest": matmul_integer, "ort_arm_to_float": float_matmul}

"""Prepared ops, made and called with the good calls of `ops.OPS` and with others."""

import copy

import calls_of_tflite
import numpy as np
from calls_of_frontdoor import WEIGHTS
from ops import OPS, PREPARED, ROOMS, changed, function

from qops.onednn import Attr, Eltwise, Scales, Sum

CALL = ("out", "num_threads")
"""What a call takes beside the data."""
SCALED = Attr(src_scale=0.5, wei_scale=Scales([1.0, 2.0, 3.0, 0.5], mask=1), dst_zp=7, post_ops=[Eltwise()])
OTHER_CALLS = {
    "MatMul": {"b": (WEIGHTS, -1.0, 1.5), "bias": None, "clip": None},
    "Conv2D": {"padding": "same", "dilation": 2, "dtype": np.int32, "guess": None, "clip": (0, None)},
    "rules.Requantize": {"scale": np.array([1e-7, 2e-7, 3e-7]), "dtype": "uint8", "qmin": 3, "axis": 1},
    "rules.Add": {"rule": "torch"},
    "rules.Mul": {"rule": "tflite-double", "a_zero_point": 0},
    "rules.Quantize": {"rule": "inv-even", "dtype": "int8", "zero_point": -5},
    "rules.AveragePool": {"rule": "ort", "x_scale": 0.5, "y_scale": 0.7, "y_zero_point": 3},
    "onednn.Convolution": {"dst_dt": "u8", "attr": SCALED, "bias": np.float32([1, -2, 3, 0.5])},
    "onednn.InnerProduct": {"dst_dt": "s8", "attr": Attr(post_ops=[Sum(0.5)]), "dst_in": np.int8([[1, 2], [3, 4]])},
    "onednn.MatMul": {"dst_dt": "u8", "attr": Attr(wei_scale=Scales([1, 2], mask=2), src_zp=3), "isa": "avx2"},
    "onednn.GemmU8S8S32": {"offsetc": "R", "co": np.int32([9, -9]), "isa": "avx2"},
    "onednn.GemmS8S8S32": {"offsetc": "C", "co": np.int32([9, -9]), "c": None, "beta": 0.0},
    "onnx.ConvInteger": {
        "w_zero_point": np.int8([1, 2, 3, -4]),
        "strides": [2, 1],
        "auto_pad": "SAME_UPPER",
        "pads": None,
    },
    "onnx.QLinearConv": {"runtime": "ort", "w_zero_point": np.int8([0, 0, 0, 0]), "pads": [1, 0, 0, 2]},
    "onnx.MatMulInteger": {"b_zero_point": np.uint8([1, 2]), "a_zero_point": np.uint8([3, 4])},
    "onnx.QLinearMatMul": {"b_scale": np.float32([0.5, 0.25]), "b_zero_point": np.int8([1, -2]), "runtime": "ort"},
    "onnx.QuantizeLinear": {"y_scale": np.float32([0.01, 0.02, 0.03]), "y_zero_point": np.int8([1, 2, 3])},
    **{f"tflite.{kind}": changes for kind, changes in calls_of_tflite.OTHER_CALLS.items()},
}
"""Changes of the good call that give the constructor arrays, or words other than the defaults."""
FEW = {
    "Conv2D": {"w": changed("conv2d", "w", lambda w: w[:1, :1])},
    "onednn.Convolution": {"weights": OPS["onednn.convolution"].good["weights"][..., :1, :1]},
    "onnx.ConvInteger": {"w": OPS["onnx.conv_integer"].good["w"][..., :1, :1]},
    "onnx.QLinearConv": {"w": OPS["onnx.qlinear_conv"].good["w"][..., :1, :1]},
    **{f"tflite.{kind}": changes for kind, changes in calls_of_tflite.FEW.items()},
}
"""Changes of the good call after which every array is shown whole."""


def room_of(name):
    room, _, kind = name.rpartition(".")
    return ROOMS[room], kind


def kind_of(name):
    return getattr(*room_of(name))


def parts(name, changes=()):
    """The arguments of the constructor, and those of a call; copies."""
    of, data = PREPARED[name]
    good = copy.deepcopy(OPS[of].good | dict(changes))
    given = {key: value for key, value in good.items() if key in (*data, *CALL)}
    return {key: value for key, value in good.items() if key not in given}, given


def made(name, changes=()):
    """The op of the good call, what it is called with, and what the function gives."""
    numbers, data = parts(name, changes)
    return kind_of(name)(**numbers), data, function(PREPARED[name][0])(**numbers, **data)

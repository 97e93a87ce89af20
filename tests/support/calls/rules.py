"""Good calls of `qops.rules` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES, Op
from qops.rules import FittedRule

REVERSED = CODES[::-1].copy()
SUMS = np.arange(6, dtype=np.int32).reshape(2, 3) * 250_000_000 - 700_000_000
IMAGE = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 9, "y_scale": 0.7, "y_zero_point": 20}
BLOCKS = (np.arange(256, dtype=np.uint8).reshape(2, 2, 64) * 7).view(np.int8)
REQUANTIZE = {"acc": SUMS, "rule": "tflite-double", "scale": 1e-7, "zero_point": 5}
POOL = {"x": IMAGE, "rule": "torch-nchw", "kernel": (2, 2), "zero_point": 9}
QUANTIZE = {"x": np.float32(CODES) / 100 - 1, "rule": "div-even", "scale": 0.01, "zero_point": 100}

CALLS = {
    "rules.requantize": Op(REQUANTIZE, np.int8),
    "rules.dequantize": Op(
        {
            "acc": SUMS,
            "rule": "fma",
            "in_scale": np.array([[0.5], [0.25]]),
            "w_scale": np.array([0.25, 0.5, 1.0]),
            "bias": np.float32([1, 2, 3]),
        },
        np.float32,
        each=False,
    ),
    "rules.integers": Op({"rule": "rndnu", "scale": 0.3}),
    "rules.real_scale": Op({"in_scale": 0.3, "w_scale": 0.2, "out_scale": 0.1}),
    "rules.tflite_multiplier": Op({"scale": 0.3}),
    "rules.reduced_multiplier": Op({"multiplier": SUMS}),
    "rules.fewest_bits": Op({"scale": 0.3, "acc_range": (-500, 500)}),
    "rules.emit": Op({"rule": "rndnu"}),
    "rules.choose_range": Op({"min": -1.0, "max": 2.0, "rule": "tflite"}),
    "rules.accumulate": Op(
        {"x": SUMS.astype(np.int16), "w": np.arange(12, dtype=np.int8).reshape(3, 4) - 5, "bias": np.arange(4)},
        np.int64,
        each=False,
    ),
    "rules.accumulate_conv": Op(
        {
            "x": IMAGE.transpose(0, 3, 1, 2) * 4,
            "w": np.arange(24, dtype=np.int8).reshape(2, 3, 2, 2) * 5,
            "bias": np.arange(2),
            "x_zero_point": 3,
            "pads": (1, 0, 0, 1),
            "rule": "fbgemm-avx2",
        },
        np.int64,
        each=False,
    ),
    "rules.add": Op({"a": CODES, "b": REVERSED, "rule": "xnnpack", **PAIR}, np.uint8),
    "rules.mul": Op({"a": CODES, "b": REVERSED, "rule": "ort-x86", **PAIR}, np.uint8),
    "rules.average_pool": Op(POOL, np.uint8, each=False),
    "rules.quantize": Op(QUANTIZE, np.uint8),
    "rules.quantize_blocks": Op({"x": np.float32(CODES) / 100 - 1, "rule": "127-over-max"}, each=False),
    "rules.block_sums": Op({"a": BLOCKS[0], "b": BLOCKS[1]}, each=False),
    "rules.block_dot": Op(
        {"a": BLOCKS[0], "b": BLOCKS[1], "a_scale": np.float32([0.5, 0.25]), "b_scale": np.float32([2.0, 3.0])},
        each=False,
    ),
}
PREPARED = {
    "rules.Accumulate": ("rules.accumulate", ("x",)),
    "rules.AccumulateConv": ("rules.accumulate_conv", ("x",)),
    "rules.Requantize": ("rules.requantize", ("acc",)),
    "rules.Quantize": ("rules.quantize", ("x",)),
    "rules.Add": ("rules.add", ("a", "b")),
    "rules.Mul": ("rules.mul", ("a", "b")),
    "rules.AveragePool": ("rules.average_pool", ("x",)),
}
FEW = {
    "rules.AccumulateConv": {"w": np.arange(6, dtype=np.int8).reshape(2, 3, 1, 1)},
}
OTHER_CALLS = {
    "rules.Requantize": (
        {"scale": np.array([1e-7, 2e-7, 3e-7]), "dtype": "uint8", "qmin": 3, "axis": 1},
        {"rule": FittedRule(11, second="floor", zero_point="inside"), "scale": np.array([1e-7, 2e-7, 3e-7]), "axis": 1},
        {
            "rule": FittedRule(16, split="after", first_shift=-2, first="truncate", scales="f32-product"),
            **{"scale": None, "scales": (1e-4, np.array([1e-3, 2e-3, 5e-4]), 0.7), "dtype": "uint8", "qmax": 200},
        },
        {"rule": "ncnn", "scale": None, "scales": (1e-4, 1e-3, 0.7), "bias": 0.75, "zero_point": 0},
    ),
    "rules.Add": {
        **{"rule": "tflite-double", "a_scale": None, "b_scale": None, "y_scale": None},
        **{"integers": ((2**30, 31), (1717986918, 33), (1952257862, 49)), "qmin": 20, "qmax": 200},
    },
    "rules.Mul": {"rule": "tflite-double", "a_zero_point": 0, "qmin": 20},
    "rules.Quantize": {"rule": "inv-even", "dtype": "int8", "zero_point": -5},
    "rules.AveragePool": {
        **{"rule": "ort", "x_scale": 0.5, "y_scale": 0.7, "y_zero_point": 3},
        **{"stride": (1, 2), "padding": ((1, 0), (0, 1)), "count_padding": True, "qmax": 200},
    },
}

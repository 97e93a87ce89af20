"""Good calls of `qops.rules` for the registry `ops.OPS`."""

import numpy as np

CODES = np.arange(6, dtype=np.uint8).reshape(2, 3) * 40
OTHER = CODES[::-1].copy()
CODES_32 = np.arange(6, dtype=np.int32).reshape(2, 3) * 250_000_000 - 700_000_000
IMAGE = np.arange(2 * 4 * 5 * 3, dtype=np.uint8).reshape(2, 4, 5, 3)
PAIR = {"a_scale": 0.5, "a_zero_point": 3, "b_scale": 0.25, "b_zero_point": 9, "y_scale": 0.7, "y_zero_point": 20}
REQUANTIZE = {"acc": CODES_32, "rule": "tflite-double", "scale": 1e-7, "zero_point": 5}
POOL = {"x": IMAGE, "rule": "torch-nchw", "kernel": (2, 2), "zero_point": 9}
QUANTIZE = {"x": np.float32(CODES) / 100 - 1, "rule": "div-even", "scale": 0.01, "zero_point": 100}

CALLS = {
    "rules.requantize": {"good": REQUANTIZE, "out": np.int8},
    "rules.integers": {"good": {"rule": "rndnu", "scale": 0.3}},
    "rules.real_scale": {"good": {"in_scale": 0.3, "w_scale": 0.2, "out_scale": 0.1}},
    "rules.tflite_multiplier": {"good": {"scale": 0.3}},
    "rules.reduced_multiplier": {"good": {"multiplier": CODES_32}},
    "rules.fewest_bits": {"good": {"scale": 0.3, "acc_range": (-500, 500)}},
    "rules.emit": {"good": {"rule": "rndnu"}},
    "rules.choose_range": {"good": {"min": -1.0, "max": 2.0, "rule": "tflite"}},
    "rules.add": {"good": {"a": CODES, "b": OTHER, "rule": "xnnpack", **PAIR}, "out": np.uint8},
    "rules.mul": {"good": {"a": CODES, "b": OTHER, "rule": "ort-x86", **PAIR}, "out": np.uint8},
    "rules.average_pool": {"good": POOL, "out": np.uint8, "each": False},
    "rules.quantize": {"good": QUANTIZE, "out": np.uint8},
}

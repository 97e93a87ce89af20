"""Good calls of the nouns `qops.affine` and `qops.fixedpoint` for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES_32, Op

CALLS = {
    "affine.holding_zero": Op({"min": -1.0, "max": 2.0}),
    "affine.exact": Op({"min": -1.0, "max": 1.55}),
    "affine.max_abs": Op({"limit": 2.0}),
    "affine.symmetric": Op({"limit": 2.0}),
    "fixedpoint.convert": Op({"x": CODES_32, "fraction_bits": 20, "width": 9, "integer_bits": 5}, np.int64),
    "fixedpoint.apply_multiplier": Op({"x": CODES_32, "multiplier": 1 << 30, "right_shift": 32}, np.int32),
    "fixedpoint.quantize_multiplier": Op({"factor": 0.3}),
}

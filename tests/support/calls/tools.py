"""Good calls of the tools, which are no ops, for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES_32, S8, Op
from qops import relu

CALLS = {
    "isa_tier": Op({}, each=False),
    "explain": Op({"x": CODES_32, "y": S8, "scale": 1e-7}, each=False),
    "sweep": Op({"op": relu, "exact": np.abs, "ranges": [(-1.0, 2.0)], "codes": 9}, each=False),
    "vectors": Op({"rule": "fp32-even", "scale": 0.3, "zero_point": 5}),
    "add_vectors": Op({"rule": "frontdoor", "a_range": (0.0, 1.0), "b_range": (0.0, 1.0), "y_range": (0.0, 2.0)}),
}

"""Good calls of the tools, which are no ops, for the registry `ops.OPS`."""

import numpy as np

from calls.parts import CODES_32, S8, Op
from qops import models, relu, tflite


def _doubled(x):
    return (tflite.relu(x, x_scale=1.0, x_zero_point=0, y_scale=0.5, y_zero_point=0),)


def _graph():
    """A network of one op, which doubles codes."""
    ends = [
        models.Tensor(name, (None, 2), "int8", np.float32(scale), np.int64(0)) for name, scale in (("x", 1), ("y", 0.5))
    ]
    walked = models.Op("relu", "RELU", ("x",), ("y",), ("x",), _doubled, rule="reference")
    return models.Graph("one.tflite", ("x",), ("y",), {t.name: t for t in ends}, (walked,), "reference")


CALLS = {
    "isa_tier": Op({}, each=False),
    "debug": Op({"model": _graph(), "data": np.int8([[3, -4], [70, 0]])}, each=False),
    "explain": Op({"x": CODES_32, "y": S8, "scale": 1e-7}, each=False),
    "sweep": Op({"op": relu, "exact": np.abs, "ranges": [(-1.0, 2.0)], "codes": 9}, each=False),
    "params": Op({"model": _graph(), "port": "cmsis-nn"}, each=False),
    "safe_products": Op({"x": (0, 15), "w": (-128, 127)}, each=False),
    "saturation": Op({"what": np.int8([[127, 127, 3]]), "data": np.uint8([[255, 255, 0]])}, each=False),
    "vectors": Op({"rule": "fp32-even", "scale": 0.3, "zero_point": 5}),
    "pool_vectors": Op({"rule": "ort", "kernel": (2, 2), "zero_point": 3, "x_scale": 0.5}),
    "quantize_vectors": Op({"rule": "div-even", "scale": 0.1, "zero_point": 3}),
    "add_vectors": Op({"rule": "frontdoor", "a_range": (0.0, 1.0), "b_range": (0.0, 1.0), "y_range": (0.0, 2.0)}),
}

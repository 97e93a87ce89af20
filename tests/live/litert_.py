"""LiteRT (TensorFlow Lite): models of one op on its three sets of kernels, beside rules and qops.tflite."""

from functools import partial

import numpy as np
import tflite_draws
from cpu import COLUMN, kernel_here
from draws import TYPES, length, of_rule, operands, pick, scale, values, zero_point
from elsewhere import call

from qops import rules
from qops.models import Operator, Tensor, tflite_bytes

VERSION = call("system_tflite", "version")
KERNELS = {"reference": "reference", "optimised": "optimized", "XNNPACK": "xnnpack"}
ADDS = {"reference": ["tflite-double"] * 2, "optimised": ["tflite-opt-u8", "tflite-opt-s8"], "XNNPACK": ["xnnpack"] * 2}
MULS = {
    "reference": ["tflite-double"] * 2,
    "optimised": ["tflite-opt-u8", "tflite-opt-s8"],
    "XNNPACK": ["rndnu" if COLUMN.endswith(("_arm", "_neon")) else "fp32-even"] * 2,
}
QUANTIZES = {"reference": "div-away", "optimised": "tflite-opt", "XNNPACK": "inv-even"}


def model(kind, inputs, y, **options):
    """The bytes of a model of one op."""
    return tflite_bytes([*inputs, y], [Operator(kind, inputs, [y], options, [])], inputs, [y])


def affine(name, n, dtype, s, z):
    """A tensor of n codes."""
    return Tensor(name, (n,), np.dtype(dtype).name, np.float32(s), np.int64(z))


def ran(kernels, content):
    """A function that invokes a model of one op on arrays."""
    return lambda feeds: call("system_tflite", "run", content, feeds, KERNELS[kernels])


def elementwise(op, rule, kind, kernels, rng):
    n, dtype = length(rng), pick(rng, TYPES)
    a, b, given = operands(rng, n, dtype, op == "MUL")
    while not is_modelled(op, given):
        a, b, given = operands(rng, n, dtype, op == "MUL")
    *inputs, y = (affine(x, n, dtype, given[f"{x}_scale"], given[f"{x}_zero_point"]) for x in "aby")
    content = model(op, inputs, y, FusedActivationFunction=0)
    which = TYPES.index(dtype)
    row = kind["XNNPACK" if kernels == "XNNPACK" and is_delegated(op, given) else "optimised"][which]
    row = kind["reference"][which] if kernels == "reference" else row
    fed = {"a": a, "b": b}
    return of_rule(ran(kernels, content), lambda feeds: [rule(**x, rule=row, **given) for x in feeds], fed | given, fed)


def is_modelled(op, given):
    """Whether a multiplier of 31 bits holds the scale of a product, or the scales of a sum are not 2**20 apart.

    Beyond that the optimised kernels shift by negative counts.
    """
    sa, sb, sy = (given[f"{x}_scale"] for x in "aby")
    return sa * sb / sy < 2**31 if op == "MUL" else max(sa, sb) / min(sa, sb) < 2**20


def is_delegated(op, given):
    """Whether XNNPACK takes these scales; LiteRT computes others with its optimised kernels."""
    sa, sb, sy = (np.float32(given[f"{x}_scale"]) for x in "aby")
    ratios = [sa * sb / sy] if op == "MUL" else [sa / sy, sb / sy]
    low = 2.0**-16 if op == "MUL" else 2.0**-10
    return all(low <= ratio < 2.0**8 for ratio in ratios)


def quantize(kernels, rng):
    n, dtype, s = length(rng), pick(rng, TYPES), scale(rng)
    x, z = values(rng, n, s), zero_point(rng, dtype)
    content = model("QUANTIZE", [Tensor("x", (n,), "float32")], affine("y", n, dtype, s, z))
    given, fed = {"rule": QUANTIZES[kernels], "scale": s, "zero_point": z, "dtype": dtype}, {"x": x}
    return of_rule(ran(kernels, content), lambda feeds: [rules.quantize(**x, **given) for x in feeds], fed | given, fed)


OPS = {}
for name in KERNELS:
    OPS |= {
        f"ADD, {name}": partial(elementwise, "ADD", rules.add, ADDS, name),
        f"MUL, {name}": partial(elementwise, "MUL", rules.mul, MULS, name),
        f"QUANTIZE, {name}": partial(quantize, name),
    }
OPS |= tflite_draws.ops([*map(kernel_here, ("reference", "optimized", "xnnpack"))])

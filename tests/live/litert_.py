"""LiteRT (TensorFlow Lite): models of one op on its three sets of kernels, beside rules and qops.tflite."""

from functools import partial

import ai_edge_litert
import numpy as np
import tflite_draws
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from cpu import COLUMN, kernel_here
from draws import TYPES, length, of_rule, operands, pick, scale, values, zero_point

from benchmarks.peers.litert_ import F32, model, tensor
from qops import rules

VERSION = ai_edge_litert.__version__
KERNELS = {
    "reference": OpResolverType.BUILTIN_REF,
    "optimised": OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
    "XNNPACK": OpResolverType.AUTO,
}
KINDS = {np.uint8: schema.TensorType.UINT8, np.int8: schema.TensorType.INT8}
ADDS = {"reference": ["tflite-double"] * 2, "optimised": ["tflite-opt-u8", "tflite-opt-s8"], "XNNPACK": ["xnnpack"] * 2}
MULS = {
    "reference": ["tflite-double"] * 2,
    "optimised": ["tflite-opt-u8", "tflite-opt-s8"],
    "XNNPACK": ["rndnu" if COLUMN.endswith(("_arm", "_neon")) else "fp32-even"] * 2,
}
QUANTIZES = {"reference": "div-away", "optimised": "tflite-opt", "XNNPACK": "inv-even"}


def ran(kernels, content, *inputs):
    """A function that invokes a model of one op on these arrays."""

    def run():
        interpreter = Interpreter(model_content=content, num_threads=1, experimental_op_resolver_type=KERNELS[kernels])
        interpreter.allocate_tensors()
        for detail, x in zip(interpreter.get_input_details(), inputs, strict=True):
            interpreter.set_tensor(detail["index"], x)
        interpreter.invoke()
        return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])

    return run


def elementwise(op, rule, kind, kernels, rng):
    n, dtype = length(rng), pick(rng, TYPES)
    a, b, given = operands(rng, n, dtype, op == "MUL")
    while not is_modelled(op, given):
        a, b, given = operands(rng, n, dtype, op == "MUL")
    declared = [tensor(n, KINDS[dtype], given[f"{x}_scale"], given[f"{x}_zero_point"]) for x in "aby"]
    name = f"{op.capitalize()}Options"
    options = getattr(schema.BuiltinOptions, name), getattr(schema, f"{name}T")()
    content = model(getattr(schema.BuiltinOperator, op), declared, options)
    which = TYPES.index(dtype)
    row = kind["XNNPACK" if kernels == "XNNPACK" and is_delegated(op, given) else "optimised"][which]
    row = kind["reference"][which] if kernels == "reference" else row
    return of_rule(ran(kernels, content, a, b), lambda: rule(a, b, row, **given), {"a": a, "b": b, **given})


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
    content = model(schema.BuiltinOperator.QUANTIZE, [tensor(n, F32), tensor(n, KINDS[dtype], s, z)])
    given = {"scale": s, "zero_point": z, "dtype": dtype}
    return of_rule(ran(kernels, content, x), lambda: rules.quantize(x, QUANTIZES[kernels], **given), {"x": x, **given})


OPS = {}
for name in KERNELS:
    OPS |= {
        f"ADD, {name}": partial(elementwise, "ADD", rules.add, ADDS, name),
        f"MUL, {name}": partial(elementwise, "MUL", rules.mul, MULS, name),
        f"QUANTIZE, {name}": partial(quantize, name),
    }
OPS |= tflite_draws.ops([*map(kernel_here, ("reference", "optimized", "xnnpack"))])

"""Cases of rules, as tier_cases.py has them: any type of codes, any zero point and clamp, scales up to 4."""

import numpy as np
import tier_cases

from qops import codes, rules
from qops._kernels.stage import prepared as stages
from qops.rules.numbers import Numbers

TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.int32]
ONE = ["tflite-double", "tflite-single", "half-up-double", "rndna", "cmsis-s64", "fp32-away", "double-away"]
ONE += ["double-even-zp-inside", "torch-fbgemm", "torch-onednn", "fp32-even-zp-inside"]
EACH = ["torch-fbgemm", "torch-onednn", "tflite-double", "tflite-single", "rndna", "fp32-even", "double-away"]


def drawn_numbers(rule, rng, out, scale):
    """The rule with a scale, or some, a zero point in the codes or not, ends that are those of the type or not."""
    row = codes.of(out)
    lowest, highest = row.lowest, row.highest
    inner = sorted(rng.integers(lowest, highest + 1) for _ in range(2))
    lo, hi = tier_cases.one_of(rng, inner, (lowest, highest))
    zero = rng.integers(lowest, highest + 1) // [1, 1, 2**20][rng.integers(0, 3)]
    factors = (0.37, 2.9) if rules.TABLE[rule].is_stepwise else (1.0, 1.0)
    return Numbers(rules.TABLE[rule], scale, zero, lo, hi, factors)


def one(rule):
    """A case with one scale."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.int32), tier_cases.unaligned(rng, n, TYPES[rng.integers(0, 5)])
        stage = drawn_numbers(rule, rng, out, 2.0 ** rng.uniform(-31, 2) * rng.integers(1, 3)).stage()
        return lambda: (out, stage.run(x, out))

    return case


def each(rule):
    """A case with a scale for each of some elements, in turn."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.int32), tier_cases.unaligned(rng, n, TYPES[rng.integers(0, 5)])
        period, inner = [(48, 1), (1056, 1), (37, 1), (5, 70)][rng.integers(0, 4)]
        scales = 2.0 ** rng.uniform(-20, -2, period) * [1, 1, 8][rng.integers(0, 3)]
        stage = drawn_numbers(rule, rng, out, scales).stage()
        return lambda: (out, stage.run(x, out, inner))

    return case


def own(rule):
    """A case with a scale for each element."""

    def case(rng, n):
        x, out = tier_cases.drawn(rng, n, np.int32), tier_cases.unaligned(rng, n, TYPES[rng.integers(0, 5)])
        stage = drawn_numbers(rule, rng, out, 2.0 ** rng.uniform(-20, -2, max(n, 2))).stage()
        return lambda: (out, stage.run(x, out) if n else None)

    return case


def quantized(rule):
    """A case of float32 values."""

    def case(rng, n):
        x = tier_cases.drawn(rng, n, np.float32, finite=True)
        out = tier_cases.unaligned(rng, n, TYPES[rng.integers(0, 5)])
        row, scale = codes.of(out), 2.0 ** rng.uniform(-6, 6)
        x[::3] = np.float32(scale) * (rng.integers(-300, 300, x[::3].size) + np.float32(0.5))  # quotients next to ties
        made = rules.QUANTIZE[rule]
        where = {"plus" if made.zero_point == "inside" else "shift": rng.integers(row.lowest, row.highest) // 2}
        stage = stages.FloatStage(scale, made.rounding, row.lowest, row.highest, form=made.product, **where)
        return lambda: (out, stage.run(x, out))

    return case


def truncated(rng, n):
    """Quotients, products and sums of floats without their fractions, with a scale for each channel."""
    x = tier_cases.drawn(rng, n, tier_cases.one_of(rng, np.int32, np.float32), finite=True)
    out, scales = tier_cases.unaligned(rng, n, tier_cases.type_8(rng)), 2.0 ** rng.uniform(-9, 9, 37)
    how = tier_cases.one_of(rng, {"form": "over"}, {"form": "fused"}, {"before": 0.3, "after": 3.0})
    row = codes.of(out)
    stage = stages.FloatStage(scales, "truncate", row.lowest, row.highest, rng.integers(-3, 4), **how)
    return lambda: (out, stage.run(x, out))


def pair(call, rule, beyond=False):
    """A case of two arrays of codes; one in three has results beyond int32, if it may."""

    def case(rng, n):
        dtype = [np.uint8, np.int8, np.int16][rng.integers(0, 3 if rule.startswith("tflite") else 2)]
        a, b = (tier_cases.drawn(rng, n, dtype) for _ in "ab")
        row, out = codes.of(a), tier_cases.unaligned(rng, n, dtype)
        how = {
            f"{name}_scale": 2.0 ** tier_cases.one_of(rng, rng.uniform(-3, 0), -1) * [1, 4][name == "y"]
            for name in "aby"
        }
        how["y_scale"] *= 2.0 ** -rng.integers(14, 26) if beyond and rng.integers(0, 3) == 0 else 1
        zeros = (0, 1) if dtype == np.int16 else (row.lowest, row.highest + 1)
        how |= {f"{name}_zero_point": rng.integers(*zeros) for name in "aby"}
        return lambda: (out, call(a, b, rule, out=out, **how))

    return case


NAMED = (
    {"truncated": truncated}
    | {f"rule {rule}": one(rule) for rule in ONE}
    | {f"rule each {rule}": each(rule) for rule in EACH}
)
NAMED |= {f"rule own {rule}": own(rule) for rule in ["rndna", "fp32-away"]}
NAMED |= {
    f"pair add {rule}": pair(rules.add, rule)
    for rule in ["tflite-double", "xnnpack", "ort-x86", "torch-tail", "torch-2.14-tail"]
}
NAMED |= {f"pair mul {rule}": pair(rules.mul, rule) for rule in ["tflite-single", "fp32-even"]}
NAMED |= {f"pair add {rule} beyond int32": pair(rules.add, rule, True) for rule in ["ort-x86", "torch"]}
NAMED |= {f"pair mul {rule} beyond int32": pair(rules.mul, rule, True) for rule in ["ort-x86", "torch", "fp32-even"]}
NAMED |= {f"quantize {rule}": quantized(rule) for rule in ["div-away", "fma-zp-inside"]}

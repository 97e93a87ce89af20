"""ADD, SUB and MUL against twins in int64: all types, shapes that broadcast, odd zero points, scales far apart."""

from itertools import product
from math import frexp

import numpy as np
import pytest
from equal import equal

from qops import tflite
from qops.tflite.kernels import KERNELS
from qops.tflite.types import TAKES

F32 = np.float32
SHAPES = [
    ((40,), (40,), 40, False),
    ((3, 33), (3, 33), 99, False),
    ((2, 3, 16), (3, 16), 48, False),
    ((4, 20), (4, 1), 20, True),
    ((1,), (3, 30), 90, True),
    ((1, 3, 1, 3, 1, 3), (3, 1, 2, 1, 2, 1), 0, False),
]
"""Two shapes, how many neighbours LiteRT's optimised kernels compute in one go, and whether by one number."""


def wrap(x, bits=32):
    return x << (64 - bits) >> (64 - bits)


def factor(scale):
    """QuantizeMultiplier: 31 bits, and a shift that is positive to the left."""
    fraction, shift = frexp(scale)
    m = int(fraction * 2**31 + 0.5)
    m, shift = (m // 2, shift + 1) if m == 2**31 else (m, shift)
    return (0, 0) if shift < -31 else (m, shift)


def high(x, m):
    """SaturatingRoundingDoublingHighMul, of factors that never saturate it."""
    return (x * m + 2**30) >> 31


def away(x, n):
    half = 1 << n >> 1
    return np.where(x >= 0, (x + half) >> n, -((half - x) >> n))


def up(x, by):
    """As TFLITE_SINGLE_ROUNDING builds it."""
    m, e = by
    return wrap((wrap(x) * m + (1 << (30 - e))) >> (31 - e))


def twice(x, by):
    m, e = by
    return away(high(wrap(x << max(e, 0)), m), max(-e, 0))


def codes_of(total, by, zero, ends, scaled):
    return np.clip(wrap(scaled(total, by) + zero), *ends)


def twin_of_sum(x, y, sign, p, dtype, facts, ends):
    """All codes, each by itself; and a function that gives those of whole blocks."""
    a, b, c = (p[f"{name}_scale"] for name in "aby")
    rule, beyond = (facts.add, facts.add_beyond) if sign > 0 else (facts.sub, facts.sub_beyond)
    if dtype == np.int16 and facts.shifts_int16 and all(frexp(s)[0] == 0.5 for s in (a, b, c)):
        shifts = [frexp(c)[1] - frexp(s)[1] for s in (a, b)]
        return np.clip(away(x, shifts[0]) + sign * away(y, shifts[1]), *ends), None
    ratios = [F32(s) / F32(c) for s in (a, b)]
    if dtype != np.int16 and rule == "xnnpack":
        if all(2.0**-10 <= ratio < 2.0**8 for ratio in ratios):
            n = 21 - frexp(float(max(ratios)))[1]
            ma, mb = (int(np.rint(ratio * F32(2.0**n))) for ratio in ratios)
            return np.clip(((x * ma + sign * y * mb + (1 << (n - 1))) >> n) + p["y_zero_point"], *ends), None
        rule = beyond
    scaled, left = up if facts.tail == "tflite-single" else twice, 15 if dtype == np.int16 else 20
    largest = 2 * max(a, b)
    fa, fb, last = factor(a / largest), factor(b / largest), factor(largest / (2**left * c))
    total = scaled(x << left, fa) + sign * scaled(y << left, fb)
    plain = codes_of(wrap(total), last, p["y_zero_point"], ends, scaled)

    def of_blocks(by_one):
        def operand(v, by):
            m, e = by
            if by_one or dtype == np.uint8:
                return high(wrap(v << 20), m) >> -e
            return high(wrap(v << (20 + e)) if e >= -20 else v >> (-20 - e), m)

        sums = operand(x, fa) + operand(y, fb)
        near = wrap(wrap(away(high(sums, last[0]), -last[1]), 16) + p["y_zero_point"], 16)
        return np.clip(near, *ends)

    return plain, of_blocks if dtype != np.int16 and rule == "blocks" else None


def twin_of_product(x, y, p, dtype, facts, ends):
    a, b, c = (p[f"{name}_scale"] for name in "aby")
    scale = float(F32(F32(a) * F32(b)) / F32(c)) if facts.mul_scale == "f32" else a * b / c
    rule = facts.mul if 2.0**-16 <= scale < 2.0**8 or not facts.mul_beyond else facts.mul_beyond
    rule = facts.tail if dtype == np.int16 else rule
    zero, products = p["y_zero_point"], wrap(x * y)
    if rule == "fp32-even":
        return np.clip(np.rint(products.astype(F32) * F32(scale)).astype(np.int64) + zero, *ends), None
    if rule == "rndnu":
        m, e = factor(scale)
        return np.clip(((products * m + (1 << (30 - e))) >> (31 - e)) + zero, *ends), None
    scaled = up if facts.tail == "tflite-single" else twice

    def of_blocks(by_one):
        near = scaled(products, factor(scale))
        near = near if by_one and dtype == np.uint8 else np.clip(near, -(2**15), 2**15 - 1)
        return np.clip(wrap(near + zero, 16), *ends)

    return codes_of(products, factor(scale), zero, ends, scaled), of_blocks if rule == "blocks" else None


def scales(rng, kind):
    """Of a, b and y: near each other, powers of two, or far apart. The larger of a and b is at most that of y."""
    if kind == "powers":
        n, m = int(rng.integers(-9, 5)), int(rng.integers(0, 19))
        pair = [2.0 ** (n - m), 2.0**n]
        return [*(pair if rng.random() < 0.5 else pair[::-1]), 2.0**n]
    if kind == "far":
        pair = [float(F32(10 ** rng.uniform(-9, 0))), 1.0]
        return [*(pair if rng.random() < 0.5 else pair[::-1]), float(F32(rng.choice([1, 0.5, 2.7])))]
    return [float(F32(s)) for s in (*rng.choice([0.52, 0.26, 0.07, 0.11], 2), rng.choice([2.1, 1.1, 0.52, 0.13, 1e-3]))]


def numbers(rng, dtype, kind, any_zero_point):
    info = np.iinfo(dtype)
    zeros = [0 if dtype == np.int16 else int(rng.integers(info.min, info.max + 1)) for _ in range(3)]
    if any_zero_point and dtype != np.int16 and rng.random() < 0.5:
        zeros[int(rng.integers(2))] = int(rng.choice([300, -300, 1500]))
    named = {"scale": scales(rng, kind), "zero_point": zeros}
    return {f"{name}_{word}": x for word, each in named.items() for name, x in zip("aby", each, strict=True)}


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_codes_are_those_of_a_twin(op, kernel, rng):
    """Blocks have 16 codes of int8, and 8 of uint8; those of ADD by one number have 8."""
    facts, blocks, varied = KERNELS[kernel], set(), []
    for dtype in map(np.dtype, TAKES[op.upper(), kernel]):
        info = np.iinfo(dtype)
        for kind, (a_shape, b_shape, section, by_one) in product(("near", "powers", "far"), SHAPES):
            p = numbers(rng, dtype, kind, facts.any_zero_point and op != "sub")
            a, b = (
                rng.choice([info.min, info.max, *rng.integers(info.min, info.max, 20)], s) for s in (a_shape, b_shape)
            )
            a, b = a.astype(dtype), b.astype(dtype)
            x, y = np.broadcast_arrays(a - np.int64(p["a_zero_point"]), b - np.int64(p["b_zero_point"]))
            if op == "mul":
                want, of_blocks = twin_of_product(x, y, p, dtype, facts, (info.min, info.max))
            else:
                want, of_blocks = twin_of_sum(x, y, 1 if op == "add" else -1, p, dtype, facts, (info.min, info.max))
            size = 8 if dtype == np.uint8 or (by_one and op == "add") else 16
            if of_blocks and section:
                in_block = np.arange(x.size).reshape(-1, section) % section < section // size * size
                want = np.where(in_block.reshape(x.shape), of_blocks(by_one), want)
                blocks.add((dtype.name, by_one))
            if op == "add" and kind == "powers" and dtype == np.int16 and facts.shifts_int16 and a_shape != b_shape:
                with pytest.raises(ValueError, match="shapes that differ end the process"):
                    tflite.add(a, b, **p, kernel=kernel)
                continue
            how = (kind, dtype.name, a_shape, b_shape, p)
            varied.append(len(np.unique(want)) > 3)
            equal(getattr(tflite, op)(a, b, **p, kernel=kernel), want.astype(dtype), how)
    assert np.mean(varied) > 0.25
    has_blocks = "blocks" in ((facts.mul, facts.mul_beyond) if op == "mul" else (facts.add, facts.add_beyond))
    assert bool(blocks) == (has_blocks and op != "sub")


def test_products_that_c_does_not_define_are_refused():
    """From 2**31 steps of the result on, C shifts an int32 by 32 bits."""
    how = dict.fromkeys(("a_zero_point", "b_zero_point", "y_zero_point"), 0) | {"a_scale": 1.0, "b_scale": 1.0}
    for dtype, kernel in product((np.int8, np.uint8, np.int16), ("reference", "optimized", "xnnpack")):
        x = np.array([1, 2], dtype)
        with pytest.raises(ValueError, match=r"^a_scale, b_scale, y_scale: 2147483648.0 is out of the range"):
            tflite.mul(x, x, **how, y_scale=2.0**-31, kernel=kernel)


def test_pairs_of_transposed_convolutions_and_lstms_are_counted():
    """A pair at k and k + 8, which share a lane, and codes that share none; an LSTM has lanes of whole blocks alone."""
    w = np.zeros((2, 1, 1, 20), np.int8)
    w[0, 0, 0, [0, 8]] = w[1, 0, 0, [3, 4]] = -128
    scales = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0}
    how = {**scales, "y_scale": 1.0, "y_zero_point": 0}
    for kernel, counted in (("xnnpack_neon", (1, 32)), ("optimized_neon", (1, 32)), ("xnnpack_arm", (0, 0))):
        assert tflite.TransposeConv(np.int32([1, 2, 2, 2]), w, **how, kernel=kernel).unsafe_pairs == counted
    x, r = np.zeros((4, 3, 20), np.int8), np.zeros((4, 3, 3), np.int8)
    x[1, 2, [7, 15]] = x[0, 0, [16, 19]] = -128
    how = {**scales, "r_scale": 1.0, "hidden_scale": 1 / 128, "hidden_zero_point": 0, "cell_scale": 2.0**-11}
    made = [
        tflite.UnidirectionalSequenceLstm(x, r, np.zeros((4, 3), np.int32), **how, kernel=kernel).unsafe_pairs
        for kernel in ("reference_arm", "reference")
    ]
    assert made == [(1, 96), (0, 0)]

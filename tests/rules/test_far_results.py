"""Results far beyond the codes, in the 16 bits of TFLite's optimised kernels: LiteRT 2.3.0 gave what stands here."""

import numpy as np
import pytest

from qops import rules

ROWS = [
    ("add", "tflite-opt-u8", 8),
    ("add", "tflite-opt-s8", 16),
    ("mul", "tflite-opt-u8", 8),
    ("mul", "tflite-opt-s8", 16),
]


def wrapped(x):
    return (x + 2**15) % 2**16 - 2**15


def high(x, m):
    return (x * m + 2**30) >> 31


def away(x, n):
    return np.sign(x) * ((np.abs(x) + (1 << n >> 1)) >> n)


def near(op, rule, x, y, made):
    """The result before the zero point is added, as integers that do not wrap."""
    if op == "mul":
        m, n = made.integers
        left, right = max(31 - n, 0), max(n - 31, 0)
        return away(high((x * y) << left, m), right).clip(-(2**15), 2**15 - 1)
    (ma, na), (mb, nb), (m, n) = made.integers
    if rule == "tflite-opt-u8":
        total = (high(x << 20, ma) >> (na - 31)) + (high(y << 20, mb) >> (nb - 31))
    else:
        total = high(x << (51 - na), ma) + high(y << (51 - nb), mb)
    return away(high(total, m), n - 31)


@pytest.mark.parametrize("far", [2.0**n for n in (13, 15, 16, 17, 19)])
@pytest.mark.parametrize(("op", "rule", "width"), ROWS)
def test_results_wrap_in_16_bits_where_they_are_computed_together(tier, rng, op, rule, width, far):
    dtype = np.uint8 if rule.endswith("u8") else np.int8
    info, count = np.iinfo(dtype), 500 * width + width - 1
    a, b = rng.integers(info.min, info.max + 1, (2, count)).astype(dtype)
    for _ in range(6):
        sa, sb = rng.uniform(0.5, 2, 2).tolist()
        za, zb, zy = rng.integers(info.min, info.max + 1, 3).tolist()
        numbers = {"a_scale": sa, "b_scale": sb, "y_scale": (sa * sb * 65025 if op == "mul" else (sa + sb) * 255) / far}
        numbers |= {"a_zero_point": za, "b_zero_point": zb, "y_zero_point": zy}
        made = getattr(rules, op.capitalize())(rule, **numbers, dtype=dtype)
        exact = near(op, rule, a.astype(np.int64) - za, b.astype(np.int64) - zb, made) + zy
        want = wrapped(exact).clip(info.min, info.max)
        want[-(width - 1) :] = getattr(rules, op)(a, b, "tflite-double", **numbers)[-(width - 1) :]
        np.testing.assert_array_equal(made(a, b), want)


LITERT = [  # op, row, y_scale, zero point: all operands are the highest code, of a scale of 1 and a zero point of 0
    ("mul", "tflite-opt-u8", 1.8, 100, 0, 255),
    ("mul", "tflite-opt-s8", 0.4, 100, -128, 127),
    ("add", "tflite-opt-u8", 510 / 32700, 100, 0, 255),
    ("add", "tflite-opt-s8", 254 / 32700, 100, -128, 127),
]


@pytest.mark.parametrize(("op", "rule", "scale", "zero", "of_blocks", "of_tail"), LITERT)
def test_what_litert_gives_for_the_highest_codes(op, rule, scale, zero, of_blocks, of_tail):
    dtype, width = (np.uint8, 8) if rule.endswith("u8") else (np.int8, 16)
    codes = np.full(2 * width + 3, np.iinfo(dtype).max, dtype)
    how = {"a_scale": 1.0, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 0, "y_scale": scale, "y_zero_point": zero}
    found = getattr(rules, op)(codes, codes, rule, **how)
    assert found.tolist() == [of_blocks] * 2 * width + [of_tail] * 3

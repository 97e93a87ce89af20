"""The arithmetic of TFLite against Python's integers and fractions, one number at a time."""

import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from qops.tflite import arithmetic, fixed_point, tables
from qops.tflite.kernels import _AS_TFLM, _FACTS, _ON_ARM, _ON_AVX2, KERNELS, Kernel, kernel_for
from qops.tflite.types import TAKES, types_of

EDGES = [-(2**31), -(2**31) + 1, -(2**30), -3, -1, 0, 1, 2, 5, 2**30, 2**31 - 1]


def half_up(x):
    return math.floor(x + Fraction(1, 2))


def half_away(x):
    return half_up(x) if x >= 0 else -half_up(-x)


def wrapped(x):
    return (x + 2**31) % 2**32 - 2**31


def twice_rounded(x, m, e, second):
    high = min(half_up(Fraction(wrapped(x << max(e, 0)) * m, 2**31)), 2**31 - 1)
    return second(Fraction(high, 2 ** max(-e, 0)))


def multipliers():
    draw = random.Random(1)
    found = [(2**30, 0), (2**31 - 1, 5), (2**30, -1), (2**30 + 1, -31), (-(2**30), -3)]
    return found + [(draw.randrange(2**30, 2**31), draw.randrange(-31, 9)) for _ in range(40)]


def numbers(seed, count=60):
    draw = random.Random(seed)
    return EDGES + [draw.randrange(-(2**31), 2**31) >> draw.randrange(32) for _ in range(count)]


@pytest.mark.parametrize(("function", "second"), [(arithmetic.scaled, half_away), (arithmetic.scaled_up, half_up)])
def test_multipliers_round_twice(function, second):
    for by in multipliers():
        x = numbers(str(by))
        assert function(np.int64(x), by).tolist() == [twice_rounded(one, *by, second) for one in x], by


def test_multipliers_of_48_bits_round_once():
    draw = random.Random(2)
    for m, e in [by for by in multipliers() if by[0] > 0 and by[1] < 8]:
        reduced = min((m + 2**15) >> 16, 0x7FFF)
        x = [draw.randrange(-(2**47), 2**47) >> draw.randrange(40) for _ in range(60)]
        want = [wrapped(half_up(Fraction(one * reduced) / Fraction(2) ** (15 - e))) for one in x]
        assert arithmetic.scaled_wide(np.int64(x), (m, e)).tolist() == want


def test_half_away_is_exact_beside_a_half():
    x = np.float32([0.49999997, 0.5, 1.5, 2.5, -0.49999997, -0.5, -2.5, 8388609.0, np.inf, -np.inf])
    assert arithmetic.half_away(x).tolist() == [0, 1, 2, 3, 0, -1, -3, 8388609, math.inf, -math.inf]


def test_leading_zeros_of_powers_of_two():
    assert arithmetic.leading_zeros(np.int64([0, 1, 2**19, 2**31 - 1, 2**31])).tolist() == [32, 31, 12, 1, 0]


def test_a_factor_without_a_multiplier_is_refused():
    with pytest.raises(ValueError, match=r"^scale: a factor of inf"):
        arithmetic.quantized(math.inf)


@pytest.mark.parametrize("bits", [31, 15])
@pytest.mark.parametrize("whole", [1, 3, 4, 5])
def test_functions_in_fixed_point_are_near_the_real_ones(bits, whole):
    """Gemmlowp's own tests allow as much; the golden vectors tell every bit."""
    fraction, draw = bits - whole, random.Random(3)
    x = np.int64(
        [0, 1, -1, 2**bits - 1, -(2**bits) + 1] + [draw.randrange(-(2**bits) + 1, 2**bits) for _ in range(400)]
    )
    real, step = x / 2.0**fraction, 2.0**-bits
    most = (512 if bits == 31 else 12) * step
    near = [
        (fixed_point.exp_of_negative(-np.abs(x), whole, bits), np.exp(-np.abs(real))),
        (fixed_point.logistic(x, whole, bits), 1 / (1 + np.exp(-real))),
        (fixed_point.tanh(x, whole, bits), np.tanh(real)),
    ]
    for got, want in near:
        assert np.abs(got * step - want).max() <= most
        assert len({*got.tolist()}) > 40


def test_the_inverse_root_is_near():
    x = np.int64([*range(2, 3000), 2**20 + 7, 2**29 - 1, 2**29, 2**30 + 5, 2**31 - 1])
    m, e = fixed_point.inverse_sqrt(x)
    assert np.abs(m * 2.0 ** (e - 31.0) * np.sqrt(x) - 1).max() < 2e-6
    assert [part.tolist() for part in fixed_point.inverse_sqrt(np.int64([0, 1]))] == [[2**31 - 1] * 2, [0, 0]]


def test_the_logarithm_is_near():
    x = np.int64([2**19, 2**19 + 1, *range(2**20, 2**31, 2**22 + 12345)])
    assert np.abs(fixed_point.log_from_one(x) * 2.0**-26 - np.log(x * 2.0**-19)).max() < 1e-6


def test_sigmoids_are_rounded_or_one_higher():
    real = [65536 / (1 + math.exp(-i / 24)) for i in range(256)]
    more = tables.SIGMOIDS - [math.floor(one + 0.5) for one in real]
    assert {*more.tolist()} == {0, 1}
    assert more.sum() == 44


def test_a_table_of_8_bits_is_half_away_of_float32():
    x = np.arange(-128, 128)
    got = tables.of_8_bits(np.exp, x, 0.05, (0.07, 0))
    for code, value in zip(x.tolist(), got.tolist(), strict=True):
        exact = Fraction(math.exp(float(np.float32(0.05) * np.float32(code)))) / Fraction(float(np.float32(0.07)))
        assert abs(value - exact) <= Fraction(1, 2) + Fraction(1, 10**4)
    assert tables.of_8_bits(np.exp, np.int64([127]), 9.0, (0.07, 0)).tolist() == [math.inf]


@pytest.mark.parametrize(
    ("where", "zero", "want"),
    [("outside", 3, [4, 2]), ("outside", 4, [5, 3]), ("inside", 3, [4, 2]), ("inside", 4, [4, 4])],
)
def test_a_table_of_8_bits_adds_the_zero_point_where_it_is_said(where, zero, want):
    """0.5 and -0.5 are half a step: away from 0 without the zero point, with it to the even code."""
    assert tables.of_8_bits(lambda v: v, np.int64([1, -1]), 0.5, (1.0, zero), where).tolist() == want


@pytest.mark.parametrize("name", _FACTS)
def test_each_fact_has_a_column_for_each_library_and_is_read(name):
    assert len(_FACTS[name]) == len(KERNELS) - len(_AS_TFLM) - len(_ON_ARM | _ON_AVX2) == 4
    rooms = (Path(arithmetic.__file__).parent, Path(arithmetic.__file__).parents[1] / "models")
    assert any(f".{name}" in path.read_text() for room in rooms for path in room.rglob("*.py")), name
    assert name in Kernel._fields


def test_types_are_those_of_the_golden_vectors():
    assert len({op for op, _ in TAKES}) == 46
    assert types_of("SQRT") == ["int8"]
    with pytest.raises(ValueError, match=r"^kernel: reference has no int8 ELU"):
        kernel_for("reference", "ELU", np.dtype("int8"))

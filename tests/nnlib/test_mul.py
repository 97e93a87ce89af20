"""`qops.nnlib` multiplications against their twins, and the number of codes that wraps."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.mul import mul_8x8to8_integers

from qops import nnlib

numbers = st.one_of(st.floats(-64, 64, width=32), st.floats(-(2.0**-10), 2.0**-10, width=32))
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
shapes = st.sampled_from(
    [((2,), (2,)), ((0,), (0,)), ((131,), (131,)), ((3, 1, 4), (5, 1)), ((2, 3), (3,)), ((4, 1), (1, 70))]
)
many = settings(max_examples=200, deadline=None)
TINY = ((-19e-5, 236e-5), (-29e-5, 226e-5))  # whose products span less than 1e-6


def drawn(shape, seed):
    rng = np.random.default_rng(seed)
    lo, hi = sorted(rng.integers(0, 256, 2))
    return rng.integers(lo, hi + 1, shape, np.uint8)


@pytest.mark.long
@many
@given(a=ranges, b=ranges, shape=shapes, seed=st.integers(0, 2**32 - 1))
def test_8x8to32_matches_its_twin(a, b, shape, seed):
    x, y = drawn(shape[0], seed), drawn(shape[1], seed + 1)
    t = on_every_tier(nnlib.quantized_mul_8x8to32, (x, *a), (y, *b))
    codes, c_max = twin.mul_8x8to32(x, *a, y, *b)
    np.testing.assert_array_equal(t.data, codes)
    assert (t.min, t.max) == (-c_max, c_max)


@pytest.mark.long
@many
@example(a=TINY[0], b=TINY[1], shape=((131,), (131,)), seed=0)
@example(a=(0.0, 0.0), b=(-1.0, 1.0), shape=((2,), (2,)), seed=0)
@example(a=(-1.0, 254.0), b=(-1.0, 254.0), shape=((2,), (2,)), seed=1)
@given(a=ranges, b=ranges, shape=shapes, seed=st.integers(0, 2**32 - 1))
def test_8x8to8_matches_its_twin(a, b, shape, seed):
    x, y = drawn(shape[0], seed), drawn(shape[1], seed + 1)
    t = on_every_tier(nnlib.quantized_mul_8x8to8, (x, *a), (y, *b))
    codes, lo, hi = twin.mul_8x8to8(x, *a, y, *b)
    np.testing.assert_array_equal(t.data, codes)
    assert (t.min, t.max) == (lo, hi)


def test_few_products_around_0_have_a_gain_of_16():
    a = (np.uint8([99, 100, 101]), -100.0, 155.0)
    t = nnlib.quantized_mul_8x8to8(a, a)
    codes, lo, hi = twin.mul_8x8to8(*a, *a)
    assert (t.min, t.max) == (lo, hi) == (0.0, 255 / 16)
    assert t.data.tolist() == codes.tolist() == [16, 0, 16]


@pytest.mark.long
@many
@given(r=ranges, single=ranges, code=st.integers(0, 255))
def test_a_single_element_scales_the_range(r, single, code):
    codes = np.arange(256, dtype=np.uint8).reshape(2, 128)
    want, lo, hi = twin.scaled(codes, *r, code, *single)
    for t in (
        nnlib.quantized_mul_8x8to8((codes, *r), (np.uint8([code]), *single)),
        nnlib.quantized_mul_8x8to8((np.uint8([[code]]), *single), (codes, *r)),
    ):
        np.testing.assert_array_equal(t.data, want)
        assert (t.min, t.max) == (lo, hi)


def test_of_two_single_elements_b_is_the_factor():
    t = nnlib.quantized_mul_8x8to8((np.uint8([3]), 0.0, 255.0), (np.uint8([2]), 0.0, 255.0))
    assert (t.data.tolist(), t.max) == ([3], 510.0)


@pytest.mark.parametrize("op", [nnlib.quantized_mul_8x8to32, nnlib.quantized_mul_8x8to8])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_range_beyond_float32_is_refused_and_changes_nothing(op, shape):
    a = (np.full(shape, 200, np.uint8), 0.0, 1e30)
    out = np.full(shape, 7, np.int32 if "32" in op.__name__ else np.uint8)
    with pytest.raises(ValueError, match=r"^a, b: the product of the ranges .* beyond float32"):
        op(a, a, out=out)
    assert (out == 7).all()


@pytest.mark.parametrize(("x", "y"), [((-1.0, 2.0), (0.0, 3.0)), ((-5.0, 0.25), (-0.5, 7.0))])
def test_integers_are_what_the_loop_uses(x, y):
    a, b = np.meshgrid(*[np.arange(256, dtype=np.uint8)] * 2)
    zero = {name: round(-lo * 255 / (hi - lo)) for name, (lo, hi) in {"a": x, "b": y}.items()}
    products = (np.int64(a) - zero["a"]) * (np.int64(b) - zero["b"])
    k = mul_8x8to8_integers(x, y, products.min(), products.max())
    assert k["zeros"] == zero
    codes = np.minimum((products * k["multiplier"] + k["offset"] >> k["right_shift"]) & 0xFFFF, 255)
    t = nnlib.quantized_mul_8x8to8((a, *x), (b, *y))
    np.testing.assert_array_equal(t.data, codes)
    assert (t.min, t.max) == (k["min"], k["max"])

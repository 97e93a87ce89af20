"""`qops.nnlib` matmul against its twin."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_nnlib import quantize_scalar

from qops import nnlib

numbers = st.floats(-64, 64, width=32)
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
A, B = np.arange(24, dtype=np.uint8).reshape(2, 3, 4) * 10, np.arange(20, dtype=np.uint8).reshape(5, 4) * 12


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(a=ranges, b=ranges, shape=st.tuples(*[st.integers(1, 40)] * 3), seed=st.integers(0, 2**32 - 1))
def test_matches_its_twin(a, b, shape, seed):
    m, k, n = shape
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 256, m * k + rng.integers(0, k), np.uint8), rng.integers(0, 256, (k, n), np.uint8)
    t = nnlib.quantized_matmul_8x8to32((x, *a), (y[None, None], *b))
    zeros = (quantize_scalar(0, *r)["u8"] for r in (a, b))
    np.testing.assert_array_equal(t.data, twin.matmul(x, y, *zeros))
    c_max = twin.product_max(*a, *b)
    assert (t.min, t.max) == (-c_max, c_max)


def test_sums_wrap_modulo_2_to_the_32():
    k = 2**31 // 255**2 + 1
    t = nnlib.quantized_matmul_8x8to32(
        *((np.full((1, k), 255, np.uint8).reshape(s), 0.0, 255.0) for s in ((1, k), (k, 1)))
    )
    assert t.data.item() == 255**2 * k - 2**32


def test_refusals_are_named_and_change_nothing():
    out = np.full((1, 1, 4, 4), 7, np.int32)
    a, b = (A, 0.0, 1.0), (B, 0.0, 1.0)
    for second, message in (
        ((B[0], 0.0, 1.0), "b: expected a matrix"),
        ((np.stack([B, B]), 0.0, 1.0), "b: expected a matrix"),
        ((B[:0], 0.0, 1.0), "b: expected a matrix"),
        ((B, -3e38, 3e38), "a, b: the product of the ranges"),
    ):
        with pytest.raises(ValueError, match=rf"^{message}"):
            nnlib.quantized_matmul_8x8to32(a, second, out=out)
    with pytest.raises(ValueError, match=r"^out: shape"):
        nnlib.quantized_matmul_8x8to32(a, b, out=out[0, 0])
    assert (out == 7).all()
    assert nnlib.quantized_matmul_8x8to32(a, b, out=out).data is out
    assert (out != 7).any()

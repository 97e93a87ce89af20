"""`qops.nnlib` relu, relux, clamp and neg on all codes, against their twin."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

CODES = np.arange(256, dtype=np.uint8)
numbers = st.floats(-64, 64, width=32)
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
many = settings(max_examples=200, deadline=None)


@pytest.mark.long
@many
@example(r=(0.0, 0.0), lower=1.0, upper=2.0)
@example(r=(-1.0, 1.0), lower=0.5, upper=-0.5)
@given(r=ranges, lower=numbers, upper=numbers)
def test_all_codes_match_the_twin(r, lower, upper):
    t = (CODES, *r)
    cases = [
        (nnlib.quantized_relu_8(t), twin.clamped(range(256), *r, 0.0)),
        (nnlib.quantized_relux_8(t, upper), twin.clamped(range(256), *r, 0.0, upper)),
        (nnlib.quantized_clamp_8(t, lower, upper), twin.clamped(range(256), *r, lower, upper)),
    ]
    for got, want in cases:
        assert got.data.tolist() == want
        assert (got.min, got.max) == r


@many
@given(r=ranges)
def test_neg_is_exact(r):
    t = nnlib.quantized_neg_8((CODES, *r))
    assert t.data.tolist() == list(range(255, -1, -1))
    assert (t.min, t.max) == (-r[1], -r[0])


@pytest.mark.parametrize("name", ["lower", "upper"])
def test_an_end_that_is_no_number_is_named(name):
    ends = {"lower": 0.0, "upper": 1.0, name: np.nan}
    out = np.full(256, 7, np.uint8)
    with pytest.raises(ValueError, match=rf"^{name}: nan is not"):
        nnlib.quantized_clamp_8((CODES, 0.0, 1.0), **ends, out=out)
    assert (out == 7).all()
    with pytest.raises(TypeError, match=r"^limit: expected a number"):
        nnlib.quantized_relux_8((CODES, 0.0, 1.0), "6", out=out)

"""`qops.nnlib` subtractions against their twins."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier

from qops import nnlib
from qops._kernels.nnlib.add_8p8to32 import add_8p8to32_integers

numbers = st.one_of(st.floats(-64, 64, width=32), st.floats(-(2.0**-24), 2.0**-24, width=32))
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
A, B = np.arange(256, dtype=np.uint8).reshape(1, 256), np.uint8([[0], [1], [127], [128], [254], [255]])


@settings(max_examples=300, deadline=None)
@example(a=(0.0, 1.0), b=(0.0, 1.0))
@example(a=(0.0, 255e-12), b=(0.0, 510e-12))
@given(a=ranges, b=ranges)
def test_8p8to32_matches_its_twin(a, b):
    assume(a[0] < a[1] or b[0] < b[1])
    with np.errstate(all="ignore"):
        codes, c_max = twin.sub_8p8to32(A, *a, B, *b)
    t = on_every_tier(nnlib.quantized_sub_8p8to32, (A, *a), (B, *b))
    np.testing.assert_array_equal(t.data, codes)
    assert t[1:] == (-c_max, c_max)


def test_only_the_sign_of_kb_differs_from_the_add():
    plus, minus = (add_8p8to32_integers((-1.0, 3.0), (0.0, 1.0), subtract) for subtract in (False, True))
    assert (plus["ka"], plus["kb"], plus["max"]) == (minus["ka"], -minus["kb"], minus["max"])


def test_two_ranges_0_wide_are_refused_and_change_nothing():
    out = np.full((1, 256), 7, np.int32)
    for r in ((1.0, 1.0), (-3e38, 3e38)):
        with pytest.raises(ValueError, match=r"^a, b: the ranges .* are both 0 wide, or beyond float32"):
            nnlib.quantized_sub_8p8to32((A, *r), (A, *r), out=out)
    assert (out == 7).all()

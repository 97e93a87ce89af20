"""`qops.nnlib` minimum and maximum against their twin."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.recode import to_range_integers

from qops import nnlib

numbers = st.one_of(st.floats(-64, 64, width=32), st.floats(-1, 1, width=32))
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
PICK = {nnlib.quantized_minimum_8: np.minimum, nnlib.quantized_maximum_8: np.maximum}
A, B = np.arange(256, dtype=np.uint8).reshape(1, 256), np.uint8([[0], [1], [127], [128], [254], [255]])


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@example(a=(-1.0, 1.0), b=(-1.0, 1.0), c=None)
@example(a=(-16.0, 15.875), b=(0.0, 1.0), c=(-1.0, 0.9921875))
@example(a=(2.0, 2.0), b=(-2.0, -2.0), c=None)
@given(a=ranges, b=ranges, c=st.none() | ranges)
def test_all_codes_match_the_twin(a, b, c):
    ends = (min(a[0], b[0]), max(a[1], b[1])) if c is None else c
    assume(ends[0] < ends[1])
    for op, pick in PICK.items():
        t = on_every_tier(op, (A, *a), (B, *b), *(c or ()))
        x, y = (twin.into_range(codes.ravel().tolist(), r, ends) for codes, r in ((A, a), (B, b)))
        np.testing.assert_array_equal(t.data, pick(np.uint8(x)[None], np.uint8(y)[:, None]))
        assert (t.min, t.max) == ends


def test_only_a_min_may_be_given():
    t = nnlib.quantized_minimum_8((A, 0.0, 1.0), (B, 0.0, 2.0), -2.0)
    assert (t.min, t.max) == (-2.0, 2.0)
    with pytest.raises(ValueError, match=r"^min: expected a number, since max is given"):
        nnlib.quantized_minimum_8((A, 0.0, 1.0), (B, 0.0, 2.0), max=3.0)


@pytest.mark.parametrize("op", PICK)
def test_refusals_change_nothing(op):
    out = np.full((6, 256), 7, np.uint8)
    with pytest.raises(ValueError, match=r"^min, max: the output range \(1.0, 1.0\) is 0 wide"):
        op((A, 0.0, 1.0), (B, 0.0, 1.0), 1.0, 1.0, out=out)
    for operands, name in (((A, B[:1, 0]), "b"), ((B[:1], A), "a")):
        with pytest.raises(ValueError, match=rf"^{name}: a single element of code 0"):
            op(*((codes, 0.0, 1.0) for codes in operands), out=out[:1])
    assert (out == 7).all()
    assert op((A, 0.0, 1.0), (B[1:2], 0.0, 1.0)).data.shape == (1, 256)


def test_integers_are_what_the_loop_uses():
    row = to_range_integers((-1.0, 2.0), (-3.0, 3.0))
    moved = (A + np.int64(row["offset"])) * row["multiplier"]
    codes = np.clip((moved + (1 << row["right_shift"] >> 1) >> row["right_shift"]) + row["zero"], 0, 255)
    t = nnlib.quantized_maximum_8((A, -1.0, 2.0), (np.zeros_like(A), -3.0, 3.0))
    np.testing.assert_array_equal(t.data, codes)

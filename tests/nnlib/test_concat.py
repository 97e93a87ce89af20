"""`qops.nnlib` concat, of the vector unit and of plain C, against its twin."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.recode import to_hull_integers

from qops import nnlib

numbers = st.one_of(st.floats(-64, 64, width=32), st.floats(-(2.0**-8), 2.0**-8, width=32))
ranges = st.tuples(numbers, numbers).map(sorted).map(tuple)
CODES = np.arange(256, dtype=np.uint8).reshape(2, 128)
OPS = {nnlib.quantized_concat_8: True, nnlib.quantized_concat_8_ref: False}


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@example(parts=[(-10.0, 10.0), (-0.01, 0.01)])
@example(parts=[(-10.0, 10.0), (-1e-5, 1e-5), (1.0, 2.0)])
@example(parts=[(-1.0, 1.0), (0.0, 0.0), (-0.0, 1.0)])
@given(parts=st.lists(ranges, min_size=1, max_size=3))
def test_all_codes_match_the_twin(parts):
    tensors = [(np.roll(CODES, i)[:, i:], *r) for i, r in enumerate(parts)]
    for op, vector in OPS.items():
        t = on_every_tier(op, tensors)
        codes, lo, hi = twin.concat(tensors, vector)
        np.testing.assert_array_equal(t.data, codes)
        assert (t.min, t.max) == (lo, hi)


@pytest.mark.parametrize("width", [1, 3, 8, 16, 32, 64, 300, 511, 512, 4096, 8171, 8172, 8173])
def test_rows_of_any_width_are_those_of_one_row(rng, width):
    """Rows of up to 8192 codes, of all parts, are made together; of those of 512 and more of a part each by itself."""
    x, y = rng.integers(0, 256, (5, 20, width), np.uint8), rng.integers(0, 256, (5, 40, 7), np.uint8)[:, ::-2]
    for op in OPS:
        t = on_every_tier(op, [(x, -1.0, 2.0), (y, 0.0, 1.0)])
        row = op([(x.reshape(-1), -1.0, 2.0), (y.reshape(-1), 0.0, 1.0)]).data
        parts = row[: x.size].reshape(x.shape), row[x.size :].reshape(y.shape)
        np.testing.assert_array_equal(t.data, np.concatenate(parts, -1))


def test_the_two_forms_differ_where_a_sum_wraps():
    tensors = [(CODES, -10.0, 10.0), (CODES, -0.01, 0.01)]
    vector, plain = (op(tensors).data for op in OPS)
    assert (vector[:, :128] == plain[:, :128]).all()
    assert (vector[:, 128:] == 0).all()
    assert (plain[:, 128:] > 126).all()


@pytest.mark.parametrize("op", OPS)
def test_refusals_are_named_and_change_nothing(op):
    out, good = np.full((2, 256), 7, np.uint8), (CODES, 0.0, 1.0)
    for tensors, error, message in (
        ([], ValueError, "tensors: expected at least one"),
        (5, TypeError, "tensors: expected a sequence of tensors, got 5"),
        ([good, (np.int8(CODES // 2), 0.0, 1.0)], TypeError, r"tensors\[1\]: expected uint8"),
        ([good, (CODES[:1], 0.0, 1.0)], ValueError, "tensors: expected shapes that differ in the last axis"),
        ([(np.uint8(1), 0.0, 1.0)], ValueError, "tensors: expected shapes that differ in the last axis"),
        ([good, (CODES, -3e38, 3e38)], ValueError, "tensors: the range of all, .* wider than float32"),
        ([good], ValueError, "out: shape"),
        ([good, (out[:, :128], 0.0, 1.0)], ValueError, "out: shares memory"),
    ):
        with pytest.raises(error, match=rf"^{message}"):
            op(tensors, out=out)
    assert (out == 7).all()
    strided = np.zeros((2, 512), np.uint8)[:, ::2]
    assert (op([good, good], out=strided).data == op([good, good]).data).all()


def test_parts_without_elements():
    t = nnlib.quantized_concat_8([(CODES[:, :0], -4.0, 1.0), (CODES, 0.0, 1.0)])
    assert t.data.shape == (2, 128)
    assert t.min == -4.0


def test_integers_are_what_the_loop_uses():
    row = to_hull_integers((-1.0, 2.0), (-3.0, 3.0), True)
    moved = (CODES + np.int64(row["offset"])) * row["multiplier"]
    codes = np.clip((moved + (1 << row["right_shift"] >> 1) >> row["right_shift"]) + row["zero"], 0, 255)
    t = nnlib.quantized_concat_8([(CODES, -1.0, 2.0), (CODES, -3.0, 3.0)])
    np.testing.assert_array_equal(t.data[:, :128], codes)

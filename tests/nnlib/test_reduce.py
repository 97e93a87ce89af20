"""`qops.nnlib` means and sums over axes, and the orders of axes that nnlib adds wrongly."""

import itertools

import numpy as np
import pytest
import reference_nnlib as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from qops import nnlib

F = np.float32
AXES = [axes for n in range(1, 5) for axes in itertools.combinations(range(4), n)]


def mean(sums, count, ends, wanted):
    """The codes of a list of sums, and the range."""
    found = [*twin.adjust_minmax_for_zero(*ends).values()][1:]
    low, high = (a if b is None else F(b) for a, b in zip(found, wanted, strict=True))
    (zero, step), (out_zero, out_step) = (twin.level_zero(*pair).values() for pair in (found, (low, high)))
    _, multiplier, right = twin.multiplier_below_one(min(F(0.99999), step / (out_step * F(count))))
    codes = [twin.mul_by_quantized_multiplier(s - zero * count, multiplier, -right) + out_zero for s in sums]
    return [twin.sat8(twin.wrap(code, 16)) for code in codes], low, high


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(
    shape=st.tuples(*[st.integers(1, 5)] * 4),
    axes=st.sampled_from(AXES),
    low=st.floats(-20, 0, width=32),
    high=st.floats(0.25, 20, width=32),
    wanted=st.sampled_from([(None, None), (-2.0, None), (None, 50.0), (-1.0, 3.0), (-0.01, 0.02)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_means_and_sums_match_their_twins(shape, axes, low, high, wanted, seed):
    x = np.random.default_rng(seed).integers(0, 256, shape, np.uint8)
    ends = low, high
    sums, count = x.sum(axes, np.int64, keepdims=True), int(np.prod([shape[axis] for axis in axes]))
    want, *found = mean(sums.ravel().tolist(), count, ends, wanted)
    t = nnlib.quantized_mean_8((x, *ends), axes, *wanted)
    assert t.data.ravel().tolist() == want
    assert (t.min, t.max) == tuple(found)
    total = nnlib.quantized_sum_8to32((x, *ends), axes)
    lo, hi = [*twin.adjust_minmax_for_zero(*ends).values()][1:]
    np.testing.assert_array_equal(total.data, sums - count * twin.quantize_scalar(0.0, lo, hi)["u8"])
    assert (total.min, total.max) == (-F(2**31) * ((hi - lo) / F(255)), F(2**31) * ((hi - lo) / F(255)))


def test_axes_may_be_counted_from_the_end():
    x = np.arange(48, dtype=np.uint8).reshape(2, 2, 3, 4), 0.0, 1.0
    for axes, same in (([-1], [3]), ([-2, 0], [2, 0])):
        assert nnlib.quantized_mean_8(x, axes).data.tolist() == nnlib.quantized_mean_8(x, same).data.tolist()


@pytest.mark.parametrize(
    ("shape", "axes", "is_taken"),
    [
        ((2, 4, 4, 31), [1, 2], True),  # less than a vector of int32
        ((2, 4, 4, 32), [1, 2], True),  # whole vectors
        ((2, 4, 4, 33), [1, 2], False),
        ((1, 4, 4, 33), [1, 2], True),  # nothing is left outside
        ((2, 4, 4, 33), [2], True),  # one axis
        ((2, 4, 4, 33), [2, 1], False),
        ((2, 4, 4, 33), [0, 1, 2], True),  # along the batch first
        ((2, 4, 4, 33), [1, 2, 0], False),
        ((2, 4, 1, 64), [1, 2], False),  # an axis of length 1
        ((2, 4, 1, 128), [1, 2], True),
        ((2, 4, 4, 33), [0, 1, 2, 3], True),  # all at once
    ],
)
def test_what_the_original_overwrites_is_refused(shape, axes, is_taken):
    x = np.ones(shape, np.uint8), 0.0, 255.0
    for op in (nnlib.quantized_mean_8, nnlib.quantized_sum_8to32):
        if is_taken:
            assert op(x, axes).data.size
        else:
            with pytest.raises(ValueError, match=r"^axes: along axis \d of .*, nnlib overwrites"):
                op(x, axes)


@pytest.mark.parametrize("op", [nnlib.quantized_mean_8, nnlib.quantized_sum_8to32])
@pytest.mark.parametrize(
    ("t", "axes", "error", "message"),
    [
        (np.zeros((2, 3), np.uint8), [0], ValueError, "t: expected four axes"),
        (np.zeros((1, 0, 2, 2), np.uint8), [0], ValueError, "t: expected four axes"),
        (np.zeros((1, 2, 2, 2), np.uint8), [], ValueError, "axes: expected one to four different axes"),
        (np.zeros((1, 2, 2, 2), np.uint8), [1, -3], ValueError, "axes: expected one to four different axes"),
        (np.zeros((1, 2, 2, 2), np.uint8), [4], ValueError, "axes: expected an integer"),
        (np.zeros((1, 2, 2, 2), np.uint8), 1, TypeError, "axes: expected"),
        (np.broadcast_to(np.uint8(0), (1, 2**12, 2**12, 1)), [1, 2], ValueError, "axes: the sums"),
    ],
)
def test_refusals_are_named(op, t, axes, error, message):
    with pytest.raises(error, match=f"^{message}"):
        op((t, 0.0, 1.0), axes)


def test_a_range_that_crosses_what_is_found_is_refused():
    with pytest.raises(ValueError, match=r"^min, max: the range of the result is \(5.0, "):
        nnlib.quantized_mean_8((np.zeros((1, 2, 2, 2), np.uint8), 0.0, 1.0), [1], 5.0)
    with pytest.raises(ValueError, match=r"^t: the range .* is beyond float32"):
        nnlib.quantized_sum_8to32((np.zeros((1, 2, 2, 2), np.uint8), 0.0, 1e38), [1])

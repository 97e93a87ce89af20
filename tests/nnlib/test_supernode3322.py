"""`qops.nnlib.supernode3322` against Python's integers, and its refusals."""

import numpy as np
import pytest
from reference_nnlib import F, quantize_scalar
from reference_nnlib_nodes import columns, fraction

from qops import nnlib


def model(x, w, bias, padding, lo, hi):
    """Codes from exact integers; the words of the bias in float32."""
    zero, w_zero = (quantize_scalar(0, *t[1:])["u8"] for t in (x, w))
    step, w_step = ((F(t[2]) - F(t[1])) / F(255) for t in (x, w))
    product, filters = step * w_step, w[0].astype(np.int64) - w_zero
    sums, _ = columns(x[0], filters, zero, (1, 1), padding)
    steps, shift = int(np.rint((F(hi) - F(lo)) / product)), 0
    multiplier = 255 * 2**31 // steps
    while multiplier >= 2**31:
        shift += 1
        multiplier = 255 * 2**31 // ((steps + 1) << shift)
    in_steps = bias[0].astype(F) * ((F(bias[2]) - F(bias[1])) / F(2.0**32) / product) + -F(lo) / product
    words = np.rint(in_steps.astype(float)).astype(np.int64) - zero * filters.sum((0, 1, 2))
    return np.clip(fraction(sums + words, multiplier, shift), 0, 255)


@pytest.mark.parametrize("padding", ["VALID", "SAME", "SAME_CAFFE"])
@pytest.mark.parametrize("seed", range(12))
def test_matches_exact_integers(seed, padding):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 256, (2, 5, 6, 2), np.uint8), float(rng.choice([-1.0, -0.3, 0.0])), 1.0
    w = rng.integers(0, 256, (3, 3, 2, 2), np.uint8), -float(rng.choice([0.01, 1.0, 200.0])), 0.4
    bias, ends = (rng.integers(-(2**22), 2**22, 2, np.int32), -512.0, 512.0), (-float(rng.uniform(0, 4)), 3.0)
    t = nnlib.supernode3322(x, w, bias, padding, *ends)
    np.testing.assert_array_equal(t.data, model(x, w, bias, padding, *ends))
    assert (t.min, t.max) == tuple(map(float, map(np.float32, ends)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"w": (np.zeros((3, 3, 2, 3), np.uint8), 0.0, 1.0)}, r"w: expected shape \(3, 3, 2, 2\)"),
        ({"min": 0.5}, "min: expected at most 0"),
        ({"max": -0.5}, "max: expected at least 0"),
        ({"max": 0.0}, "min, max: expected a range"),
    ],
)
def test_refusals_are_named(changes, message):
    good = {"w": (np.zeros((3, 3, 2, 2), np.uint8), 0.0, 1.0), "bias": (np.zeros(2, np.int32), -1.0, 1.0)}
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.Supernode3322(**{**good, "padding": "VALID", "min": 0.0, "max": 1.0, **changes})


@pytest.mark.parametrize("top", [1e-12, 3e38])
def test_a_range_of_no_step_or_too_many_is_refused(top):
    op = nnlib.Supernode3322(
        (np.zeros((3, 3, 2, 2), np.uint8), 0.0, 1.0), (np.zeros(2, np.int32), -1.0, 1.0), "VALID", 0.0, top
    )
    with pytest.raises(ValueError, match=r"^min, max: .* steps of the sums, expected 1 to 2\*\*31 - 1"):
        op((np.zeros((1, 3, 3, 2), np.uint8), 0.0, 1.0))

"""`qops.safe_products`: no input of n products leaves the lane, and the witness of n + 1 does."""

import numpy as np
import pytest

import qops

RANGES = [(0, 15), (-128, 127), (-127, 127), (0, 255), (-8, 7), (3, 5), (-6, -2), (0, 0), (-3, 0)]


@pytest.mark.parametrize("x", RANGES)
@pytest.mark.parametrize("w", RANGES)
@pytest.mark.parametrize("bits", [8, 16, 20])
def test_n_is_the_largest(x, w, bits):
    """All products of small ranges are tried; sums are convex, so the ends of one product bound those of n."""
    all_products = [a * b for a in range(x[0], x[1] + 1) for b in range(w[0], w[1] + 1)]
    found, half = qops.safe_products(x, w, bits), 1 << bits - 1
    assert (found.lowest, found.highest) == (min(all_products), max(all_products))
    if found.n is None:
        assert all_products.count(0) == len(all_products)
        return
    for n, fits in ((found.n, True), (found.n + 1, False)):
        assert (-half <= n * found.lowest and n * found.highest < half) == fits
    assert len(found.x) == len(found.w) == found.n + 1
    assert int(found.x @ found.w) == found.sum
    assert not -half <= found.sum < half
    assert all(x[0] <= a <= x[1] for a in found.x)
    assert all(w[0] <= b <= w[1] for b in found.w)


def test_the_witness_leaves_the_lane_of_a_machine():
    found = qops.safe_products((0, 15), (-128, 127))
    n = len(found.x)
    for group in (n - 1, n):
        machine = qops.isa.Machine("mine", "u8", "s8", group=group, bits=16, overflow="wraps")
        a, b = found.x[:group].astype(np.uint8), found.w[:group].astype(np.int8)
        assert (machine.dot(a, b) == int(found.x[:group] @ found.w[:group])) == (group < n)


def test_very_long_lanes_have_no_witness():
    found = qops.safe_products((0, 1), (0, 1), 32)
    assert (found.n, found.x, found.sum) == (2**31 - 1, None, 2**31)


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        (((1, 0), (0, 1)), ValueError, "x: 1 > 0"),
        (((0, 1), 3), TypeError, "w: expected two codes"),
        (((0, 1), (0, 1), 1), ValueError, "bits"),
        (((0, 1), (0, 1), 65), ValueError, "bits"),
    ],
)
def test_bad_arguments(given, error, said):
    with pytest.raises(error, match=said):
        qops.safe_products(*given)

"""`qops.rules.average_pool`: ties of each rule by hand, and scales beyond float32. The golden set has the bits."""

import numpy as np
import pytest

from qops import rules
from qops.rules.pooling import reciprocal

HALVES = np.int8([[-3, -2], [0, 1], [2, 3]]).reshape(3, 1, 2, 1)  # means -2.5, 0.5, 2.5


@pytest.mark.parametrize(("rule", "want"), [("away-stored", [-3, 1, 3]), ("even-stored", [-2, 0, 2])])
def test_ties_go_where_the_rule_says(rule, want):
    assert rules.average_pool(HALVES, rule, kernel=(1, 2), zero_point=0).ravel().tolist() == want


def test_the_last_channels_go_by_their_codes():
    image = np.repeat(HALVES, 17, axis=3)
    found = rules.average_pool(image, "torch-nhwc", kernel=(1, 2), zero_point=1).reshape(3, 17)
    assert found[:, 0].tolist() == [-3, 1, 3], "half even of the values -3.5, -0.5, 1.5, and 1"
    assert found[:, 16].tolist() == [-2, 0, 2], "half even of the codes"


@pytest.mark.parametrize("size", [1, 2, 3, 1000, 65_537, 2**21 - 1, 2**21])
def test_every_mean_of_large_windows_is_exact(size):
    """Sums on both sides of where the mean changes."""
    sums = np.arange(-255, 256) * size + np.arange(-1, 2)[:, None] + np.array([0, size // 2, -size // 2])[:, None, None]
    sums = sums[abs(sums) <= 255 * size]
    want = np.where(sums > 0, (sums + size // 2) // size, -((size // 2 - sums) // size))
    assert np.array_equal(rules.requantize(sums, "rndna", integers=reciprocal(size), dtype=np.int16), want)


def test_larger_windows_are_refused():
    image = np.broadcast_to(np.uint8(3), (1, 2**11, 2**10 + 1, 1))
    with pytest.raises(ValueError, match=r"^kernel: expected windows of at most 2097152 codes, got 2048 by 1025"):
        rules.average_pool(image, "away-stored", kernel=image.shape[1:3], zero_point=0)


@pytest.mark.parametrize(
    ("rule", "x_scale", "y_scale"),
    [("ort", 1e37, 1.0), ("ort", 1.0, 1e-46), ("ort", 1.0, 1e39), ("ort-global", 1e300, 1e-300)],
)
def test_scales_beyond_float32_are_refused(rule, x_scale, y_scale):
    how = {"kernel": (1, 2), "zero_point": 0, "x_scale": x_scale, "y_scale": y_scale, "y_zero_point": 0}
    with pytest.raises(ValueError, match=r"^x_scale, y_scale: .* are beyond what ort(-global)? computes in float32$"):
        rules.average_pool(np.zeros_like(HALVES), rule, **how)

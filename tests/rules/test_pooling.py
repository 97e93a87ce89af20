"""`qops.rules.average_pool`: ties of each rule by hand, and scales beyond float32. The golden set has the bits."""

import numpy as np
import pytest

from qops import rules

HALVES = np.int8([[-3, -2], [0, 1], [2, 3]]).reshape(3, 1, 2, 1)  # means -2.5, 0.5, 2.5


@pytest.mark.parametrize(("rule", "want"), [("away-stored", [-3, 1, 3]), ("even-stored", [-2, 0, 2])])
def test_ties_go_where_the_rule_says(rule, want):
    assert rules.average_pool(HALVES, rule, kernel=(1, 2), zero_point=0).ravel().tolist() == want


def test_the_last_channels_go_by_their_codes():
    image = np.repeat(HALVES, 17, axis=3)
    found = rules.average_pool(image, "torch-nhwc", kernel=(1, 2), zero_point=1).reshape(3, 17)
    assert found[:, 0].tolist() == [-3, 1, 3], "half even of the values -3.5, -0.5, 1.5, and 1"
    assert found[:, 16].tolist() == [-2, 0, 2], "half even of the codes"


def test_scales_beyond_float32_are_refused():
    with pytest.raises(ValueError, match=r"^x_scale, y_scale: 1\.0, 1e-46 are beyond"):
        rules.average_pool(np.zeros_like(HALVES), "ort", kernel=(1, 2), zero_point=0, y_scale=1e-46, y_zero_point=0)

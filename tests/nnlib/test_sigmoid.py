"""`qops.nnlib` tanh and sigmoid of all codes of many ranges, beside the exact functions."""

import numpy as np
import pytest

from qops import nnlib

CODES = np.arange(256, dtype=np.uint8)
STEPS = np.geomspace(1e-4, 3, 25, dtype=np.float32)
OPS = {nnlib.quantized_tanh_8: np.tanh, nnlib.quantized_sigmoid_8: lambda x: 1 / (1 + np.exp(-x))}


def values(t):
    return t.min + t.data * ((t.max - t.min) / 255)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("zero", [0, 1, 77, 127, 128, 254, 255])
def test_functions_are_within_half_a_step_where_0_is_on_a_code(op, zero):
    for step in STEPS.astype(float):
        t = op((CODES, -zero * step, (255 - zero) * step))
        with np.errstate(over="ignore"):
            exact = OPS[op]((CODES.astype(float) - zero) * step).clip(t.min, t.max)
        assert np.abs(values(t) - exact).max() < 0.53 * (t.max - t.min) / 255
        assert (np.diff(t.data.astype(int)) >= 0).all()


def test_codes_as_far_on_either_side_of_0_are_inverse_but_for_ties():
    for step in STEPS.astype(float):
        ends = -128 * step, 127 * step
        up, down = CODES[129:], CODES[127:0:-1]
        found = nnlib.quantized_sigmoid_8((up, *ends)).data, nnlib.quantized_sigmoid_8((down, *ends)).data
        apart = found[0].astype(int) + found[1] - 255
        assert set(apart) <= {0, 1}
        assert np.mean(apart) < 0.1


@pytest.mark.parametrize("op", OPS)
def test_ranges_beyond_all_others_give_a_step(op):
    """A gain of 2**15 or more: what is below the zero is one end, what is above the other."""
    t = op((CODES, -12800.0, 12700.0))
    assert (t.data[129:] == t.data[255]).all()
    assert (t.data[:128] == t.data[0]).all()
    assert t.data[0] == 0
    assert t.data[255] == (254 if op is nnlib.quantized_tanh_8 else 255)


def test_a_range_0_wide_has_one_result():
    assert set(nnlib.quantized_tanh_8((CODES, 2.0, 2.0)).data) == {127}
    assert set(nnlib.quantized_sigmoid_8((CODES, 0.0, 0.0)).data) == {128}

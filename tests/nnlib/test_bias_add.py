"""The bias adds of nnlib: 8p8to32 on all pairs of codes, and what its docstring says of the error; 32p32to32."""

import numpy as np
import pytest
import reference_nnlib_ops
from cases import RANGE_PAIRS, A, B, rounded, spans
from hypothesis import given, settings
from hypothesis import strategies as st
from ops import on_every_tier
from qops._kernels.nnlib.bias_add import bias_add_8p8to32_integers
from reference_nnlib_bias_add import quantized_bias_add_8p8to32 as twin

from qops import nnlib, quantized_add_8p8to32

CHECKED = {name: pair for name, pair in RANGE_PAIRS.items() if max(map(abs, sum(pair, ()))) < 2.0**110}
ONE = np.zeros(1, np.uint8)


def check(x, bias):
    x, bias = (A, *rounded(*x)), (B, *rounded(*bias))
    t = on_every_tier(nnlib.quantized_bias_add_8p8to32, x, bias)
    want, top = twin(x, bias)
    assert (t.min, t.max) == (-top, top)
    np.testing.assert_array_equal(t.data, want)
    assert np.abs(t.data.astype(int)).max() <= 2**15 + 2**7
    return t


@pytest.mark.parametrize("pair", CHECKED.values(), ids=CHECKED)
def test_all_pairs_match_the_twin(pair):
    check(*pair)


@pytest.mark.parametrize(
    ("x", "bias"),
    [
        # 0.5 + (x + y) gives another code than the formula's (0.5 + x) + y: 4 of some 6,000 drawn
        ((-0.8523900508880615, -0.37731674313545227), (0.006783871911466122, 0.07401911914348602)),
        ((-2.295424222946167, 0.10549947619438171), (-61.5916862487793, -5.22764778137207)),
        ((-1.574841856956482, -0.608103334903717), (-38.81747817993164, -38.48607635498047)),
        ((0.1597217619419098, 0.3776719570159912), (-0.1535520702600479, 0.23778143525123596)),
        # 0.5 + x rounded once gives another code
        ((-0.6973447, -0.50233954), (-0.00270243, 0.0034645)),
        ((-3.9801424, 4.062732), (-74.66378, -70.84052)),
        ((1.5033487, 3.5755045), (-0.20697238, 0.10157102)),
    ],
)
def test_every_operation_rounds(x, bias):
    check(x, bias)


@given(x=spans(2.0**109), bias=spans(2.0**109))
def test_any_ranges_match_the_twin(x, bias):
    check(x, bias)


def test_error_with_0_on_codes_is_that_of_the_truncation():
    x, bias = (-128.0, 127.0), rounded(-100 * 1.7, 155 * 1.7)
    off = check(x, bias).data - quantized_add_8p8to32((A, *x), (B, *bias)).data
    assert 1 <= off.max() <= 2
    assert off.min() >= -1


def test_prepare_gives_the_integers():
    found = bias_add_8p8to32_integers((-128.0, 127.0), (0.0, 255.0))
    assert (found["zx"], found["zb"], found["mx"], found["max"]) == (128, 0, found["mb"], 255.0 * 2**17)
    assert bias_add_8p8to32_integers((1.0, 2.0), (-(2.0**40), 1.0 - 2.0**40))["zb"] == 2**31 - 128


@pytest.mark.parametrize(
    ("x", "bias", "words"),
    [
        ((ONE, 0.0, 1e34), (ONE, 0.0, 1.0), r"^x: the range \(0.0, 9.99\d*e\+33\) makes an output beyond float32"),
        ((ONE, 0.0, 1.0), (ONE, -(2.0**110), 1.0), r"^bias: the range \(-1.29\d*e\+33, 1.0\) makes"),
        ((ONE, 0.0, 1.0), (ONE, 1.0, 0.0), "^bias: min 1.0 > max 0.0"),
        ((ONE, 0.0, 1.0), (np.zeros(2, np.int8), 0.0, 1.0), "^bias: expected uint8 data, got int8"),
        ((ONE, 0.0, 1.0), (np.zeros(2, np.uint8), 0.0, 1.0), r"^bias: shape \(2,\) does not broadcast to \(1,\)"),
        (
            (np.zeros(2, np.uint8), 0.0, 1.0),
            (np.zeros(3, np.uint8), 0.0, 1.0),
            r"^x, bias: shapes \(2,\) and \(3,\) do not broadcast",
        ),
    ],
)
def test_bad_input_is_refused_by_the_callers_names(x, bias, words):
    with pytest.raises((ValueError, TypeError), match=words):
        nnlib.quantized_bias_add_8p8to32(x, bias)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(
    x_max=st.floats(2.0**-20, 2.0**20, width=32),
    bias_max=st.floats(0, 2.0**20, width=32),
    seed=st.integers(0, 2**32 - 1),
)
def test_32p32to32_matches_its_twin(x_max, bias_max, seed):
    rng = np.random.default_rng(seed)
    x, bias = ((rng.integers(-(2**31), 2**31, n) >> rng.integers(0, 32)).astype(np.int32) for n in ((4, 5), 5))
    t = nnlib.quantized_bias_add_32p32to32((x, -x_max, x_max), (bias, -bias_max, bias_max))
    np.testing.assert_array_equal(t.data, reference_nnlib_ops.bias_add_32p32to32(x, x_max, bias, bias_max))
    assert (t.min, t.max) == (-x_max, x_max)


def test_32p32to32_refusals_change_nothing():
    x, out = np.zeros((2, 3), np.int32), np.full((2, 3), 7, np.int32)
    for x_max, bias, bias_max, message in (
        (0.0, x, 1.0, "x, bias: the range"),
        (1e-44, x, 1.0, "x, bias: the range"),
        (3e38, x, 1.0, "x, bias: the range"),
        (1.0, x, 3e38, "x, bias: the range"),
        (1.0, x[:, :2], 1.0, "x, bias: shapes"),
        (1.0, x[None, :, :1], 1.0, "out: shape|bias: shape"),
    ):
        with pytest.raises(ValueError, match=rf"^({message})"):
            nnlib.quantized_bias_add_32p32to32((x, -x_max, x_max), (bias, -bias_max, bias_max), out=out)
    assert (out == 7).all()

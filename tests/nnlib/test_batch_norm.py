"""`qops.nnlib` batch norms against their twin, and what they refuse."""

import numpy as np
import pytest
import reference_nnlib_norms as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from qops import nnlib

X = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20
OPS = {np.uint8: nnlib.quantized_batch_norm_8x8p8to8, np.int32: nnlib.quantized_batch_norm_8x8p32to8}


def drawn(rng, shape, dtype, size):
    if dtype is np.int32:
        top = float(np.float32(size * 10 ** rng.uniform(0, 4)))
        part = max(1, int(2**31 * min(1, size / top)))
        return rng.integers(-part, part, shape, np.int32), -top, top
    lo = float(np.float32(-rng.uniform(0, 1) * size))
    return rng.integers(0, 256, shape, np.uint8), lo, float(np.float32(lo + rng.uniform(0.1, 1) * size))


@pytest.mark.long
@pytest.mark.parametrize("dtype", OPS)
@settings(max_examples=100, deadline=None)
@given(
    depth=st.sampled_from([1, 3, 32, 40]),
    size=st.sampled_from([0.01, 1.0, 30.0]),
    weight=st.sampled_from([0.01, 1.0, 30.0]),
    guess=st.sampled_from([(None, None), (-1.0, None), (None, 2.0), (-3.0, 2.0), (1.0, -1.0)]),
    seed=st.integers(0, 2**32 - 1),
)
def test_batch_norms_match_their_twin(dtype, depth, size, weight, guess, seed):
    rng = np.random.default_rng(seed)
    x, scale = drawn(rng, (9, depth), np.uint8, size), drawn(rng, depth, np.uint8, weight)
    bias = drawn(rng, depth, dtype, size * weight)
    want = twin.batch_norm(x, scale, bias, *guess)
    if want is None:
        with pytest.raises(ValueError, match=r"^(bias|x, scale, guess_min, guess_max): .* the original refuses"):
            OPS[dtype](x, scale, bias, *guess)
        return
    t = OPS[dtype](x, scale, bias, *guess)
    np.testing.assert_array_equal(t.data, want[0])
    assert (t.min, t.max) == want[1:]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": (X[:0], 0.0, 1.0)}, "x: expected channels"),
        ({"x": (np.uint8(1), 0.0, 1.0)}, "x: expected channels"),
        ({"x": (X, 1.0, 1.0)}, r"x: the range \(1.0, 1.0\) is 0 wide"),
        ({"scale": (X[0], 1.0, 1.0)}, r"scale: the range \(1.0, 1.0\) is 0 wide"),
        ({"scale": (X[0, :3], 0.0, 1.0)}, "scale: expected one code, or one for each of 4 channels"),
        ({"bias": (X[:, 0], 0.0, 1.0)}, "bias: expected one code, or one for each of 4 channels"),
        ({"bias": (X[0], 0.0, 1e6)}, "bias: a step of .*, which the original refuses"),
        ({"guess_min": -1e-9, "guess_max": 0.0}, "x, scale, guess_min, guess_max: .* the original refuses"),
        ({"guess_min": np.inf}, "guess_min: inf is not a finite float32"),
    ],
)
def test_refusals_are_named_and_change_nothing(change, message):
    out = np.full(X.shape, 7, np.uint8)
    good = {"x": (X, 0.0, 1.0), "scale": (X[0], 0.0, 2.0), "bias": (X[1], -1.0, 1.0), "out": out}
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.quantized_batch_norm_8x8p8to8(**good | change)
    assert (out == 7).all()


def test_one_scale_and_one_bias_serve_all_channels():
    ones = (np.uint8([200]), 0.0, 2.0), (np.uint8([90]), -1.0, 1.0)
    each = [(np.full(4, q[0], np.uint8), lo, hi) for q, lo, hi in ones]
    one, four = (nnlib.quantized_batch_norm_8x8p8to8((X, 0.0, 1.0), *pair) for pair in (ones, each))
    assert (one.data.tolist(), one.min, one.max) == (four.data.tolist(), four.min, four.max)


def test_a_session_refuses_it_as_no_second_call_is_known():
    for op in (nnlib.quantized_batch_norm_8x8p8to8, nnlib.quantized_batch_norm_8x8p32to8):
        with pytest.raises(TypeError, match=rf"^op: {op.__name__} keeps a range .* no second call was recorded"):
            nnlib.Session(op)

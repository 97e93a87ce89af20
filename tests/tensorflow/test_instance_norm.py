"""`quantized_instance_norm`: the twin, separation, given ranges, bad input."""

import numpy as np
import pytest
import reference_tensorflow_norms as twin

from qops.tensorflow import quantized_instance_norm


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 7, 7, 1), (1, 1, 1, 3)], ids=str)
@pytest.mark.parametrize("ends", [(-1.0, 1.0), (2.5, 7.25), (-9.0, -4.5), (0.0, 1e6), (0.0, 1e-6)], ids=str)
@pytest.mark.parametrize("given", [None, (-2.0, 2.5), (0.0, 1e-4)], ids=str)
def test_norm_matches_twin(rng, shape, ends, given):
    q = rng.integers(0, 256, shape).astype(np.uint8)
    for epsilon, separation in ((1e-5, 1e-3), (0.5, 10.0)):
        codes, low, high = twin.instance_norm(q, *ends, epsilon, separation, given)
        options = (True, *given) if given else (False, 0.0, 0.0)
        t = quantized_instance_norm((q, *ends), *options, epsilon, separation)
        np.testing.assert_array_equal(t.data, codes, strict=True)
        assert (t.min, t.max) == (low, high)


X = np.zeros((1, 2, 3, 1), np.uint8)
BAD = [
    ((X, 1.0, 1.0), {}, "x: input_min must be less than input_max : 1.0 >= 1.0"),
    ((X, 1.0, -1.0), {}, "x: input_min must be less than input_max"),
    ((X[0], -1.0, 1.0), {}, "x: expected 4 dimensions"),
    ((X[:0], -1.0, 1.0), {}, "x: has no elements"),
    (
        (X, -1.0, 1.0),
        {"output_range_given": True, "given_y_min": 2.0, "given_y_max": 1.0},
        "given_y_min: given_y_min must",
    ),
    ((X, -1.0, 1.0), {"variance_epsilon": 0.0}, "variance_epsilon: a variance of 0.0"),
    ((X, -1.0, 1.0), {"min_separation": np.nan}, "min_separation: nan"),
    ((X, -1.0, 1.0), {"min_separation": 1e-39}, "given_y_min, given_y_max: the range"),
    ((X, -1.0, 1.0), {"output_range_given": 1}, "output_range_given: expected a bool"),
    ((X.astype(np.int8), -1.0, 1.0), {}, "x: expected uint8 data"),
]


@pytest.mark.parametrize(("x", "options", "message"), BAD)
def test_norm_rejects(x, options, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        quantized_instance_norm(x, **options)


def test_a_variance_beyond_float32_makes_all_codes_0():
    usual = quantized_instance_norm((np.uint8([120, 130] * 8).reshape(1, 1, -1, 1), -1e20, 1e20))
    assert (usual.data.ravel()[:2].tolist(), round(usual.min, 5), round(usual.max, 5)) == ([0, 255], -1, 1)
    for q, top in (([0, 0, 0, 255], 1e20), ([0, 255], 3.68e19)):  # a square, the sum of two
        t = quantized_instance_norm((np.uint8(q).reshape(1, 1, -1, 1), 0.0, top))
        assert (t.data.any(), t.min, t.max) == (False, 0, np.float32(1e-3))


def test_one_value_without_separation_is_code_0():
    t = quantized_instance_norm((X, -1.0, 1.0), min_separation=0.0)
    assert (t.data.any(), t.min, t.max) == (False, 0.0, 0.0)

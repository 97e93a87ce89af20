"""`quantized_batch_norm_with_global_normalization`: the twin, wraps, bad input."""

import numpy as np
import pytest
import reference_tensorflow_norms as twin

from qops.tensorflow import quantized_batch_norm_with_global_normalization as batch_norm

RANGES = [
    ((-1, 1), (-0.5, 0.5), (0, 2), (-1, 1), (0, 2)),
    ((-100, 100), (-20, 20), (0, 400), (-5, 5), (-2, 2)),
    ((0, 3e6), (5, 9), (0, 1e-3), (2, 2), (1, -1)),
]


@pytest.mark.parametrize("ranges", RANGES, ids=str)
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1])
def test_norm_matches_twin(rng, ranges, scaled, epsilon):
    for shape in ((2, 3, 4, 5), (1, 1, 1, 2), (0, 2, 2, 3)):
        shapes = [shape] + [shape[3:]] * 4
        tensors = [
            (rng.integers(0, 256, size).astype(np.uint8), float(lo), float(hi))
            for size, (lo, hi) in zip(shapes, ranges, strict=True)
        ]
        y = batch_norm(*tensors, epsilon, scaled)
        np.testing.assert_array_equal(y.data, twin.batch_norm(*tensors, epsilon, scaled), strict=True)
        assert (y.min, y.max) == (-(2.0**20), 2.0**20)


T, C = (np.ones((1, 2, 2, 3), np.uint8), 0.0, 1.0), (np.ones(3, np.uint8), 0.0, 1.0)
ALL = {"t": T, "m": C, "v": C, "beta": C, "gamma": C, "variance_epsilon": 1e-3, "scale_after_normalization": True}
ONE, PAIR = (C[0][:1], 0.0, 1.0), (C[0][:2], 0.0, 1.0)
BAD = [
    ({"t": (T[0][0], 0.0, 1.0)}, r"t: input must be 4-dimensional\[2,2,3\]"),
    ({"m": (C[0][None], 0.0, 1.0)}, r"m: mean must be 1-dimensional\[1,3\]"),
    ({"beta": (C[0][None], 0.0, 1.0)}, "beta: beta must be 1-dimensional"),
    ({"gamma": PAIR}, r"gamma: Mean and gamma tensors must have the same shape: \[3\] vs. \[2\]"),
    ({"v": PAIR}, "v: Mean and var tensors must have the same shape"),
    ({"m": ONE, "v": ONE, "beta": ONE, "gamma": ONE}, r"m: Must have at least a mean value\[1\]"),
    ({"m": PAIR, "v": PAIR, "beta": PAIR, "gamma": PAIR}, "m: expected 3 values, one per channel of t, got 2"),
    ({"v": (C[0], -2.0, -1.0)}, "v: with variance_epsilon"),
    ({"v": (C[0] * 0, 0.0, 1.0), "variance_epsilon": 0.0}, "v: with variance_epsilon"),
    ({"variance_epsilon": np.nan}, "variance_epsilon: nan"),
    ({"scale_after_normalization": 1}, "scale_after_normalization: expected a bool"),
    ({"t": (T[0].astype(np.int8), 0.0, 1.0)}, "t: expected uint8 data"),
]


@pytest.mark.parametrize(("changes", "message"), BAD)
def test_norm_rejects(changes, message):
    with pytest.raises((ValueError, TypeError), match=rf"^{message}"):
        batch_norm(**ALL | changes)

"""`qops.nnlib.super_fc` against its twin, and its refusals."""

import numpy as np
import pytest
import reference_nnlib_nodes as twin

from qops import nnlib


@pytest.mark.parametrize("seed", range(40))
def test_matches_its_twin(seed):
    rng = np.random.default_rng(seed)
    depth, outputs = int(rng.choice([32, 48, 128])), int(rng.choice([1, 16, 33]))
    x = rng.integers(0, 256, (3, 1, 1, depth), np.uint8), -0.3, 1.0
    w = rng.integers(0, 256, (1, 1, depth, outputs), np.uint8), -0.6, 0.4
    top = float(rng.choice([2.0**9, 2.0**20]))  # such a bias is beyond int32 in steps of the sums
    bias = rng.integers(-(2**30), 2**30, outputs, np.int32), -top, top
    given = tuple(rng.choice([None, end]) for end in (-float(rng.uniform(0, 3)), float(rng.uniform(0.1, 5))))
    session = nnlib.Session(nnlib.SuperFC(w, bias, *given))
    want = twin.super_fc(x, w, bias, given)
    t = session(x)
    np.testing.assert_array_equal(t.data.reshape(3, outputs), want[0])
    assert (t.min, t.max, session.passes) == want[1:]
    np.testing.assert_array_equal(nnlib.super_fc(x, w, bias, *given).data, t.data)


def test_refusals_are_named():
    bias = np.zeros(2, np.int32), -1.0, 1.0
    for shape, message in (
        ((1, 1, 16, 2), "a multiple of 16 from 32 on"),
        ((1, 1, 40, 2), "a multiple of 16 from 32 on"),
    ):
        with pytest.raises(ValueError, match=f"^w: expected {message}"):
            nnlib.SuperFC((np.zeros(shape, np.uint8), 0.0, 1.0), bias)
    with pytest.raises(ValueError, match=r"^w: expected \(1, 1, K, O\)"):
        nnlib.SuperFC((np.zeros((1, 2, 32, 2), np.uint8), 0.0, 1.0), bias)
    op = nnlib.SuperFC((np.zeros((1, 1, 32, 2), np.uint8), 0.0, 1.0), bias)
    with pytest.raises(ValueError, match=r"^x: expected rows of 32 codes"):
        op((np.zeros((1, 1, 1, 31), np.uint8), 0.0, 1.0))
    with pytest.raises(TypeError, match=r"^bias: expected int32"):
        nnlib.SuperFC((np.zeros((1, 1, 32, 2), np.uint8), 0.0, 1.0), (np.zeros(2, np.uint8), -1.0, 1.0))

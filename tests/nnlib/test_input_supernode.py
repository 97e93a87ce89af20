"""`qops.nnlib.input_supernode` against its twin, and its refusals."""

import numpy as np
import pytest
import reference_nnlib_nodes as twin
from nnlib_layers import drawn

from qops import nnlib


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_matches_its_twin(seed):
    rng = np.random.default_rng(seed)
    x, w, bias, (down, _), padding, given = drawn(rng, channels=(1, 2, 3, 4), outputs=(1, 3, 33), widths=range(1, 14))
    stride = down, int(rng.choice([1, 2, 4]))
    session = nnlib.Session(nnlib.InputSupernode(w, bias, stride, padding, *given))
    try:
        want = twin.input_supernode(x, w, bias, stride, padding, given)
    except ValueError:
        with pytest.raises(ValueError, match=r"^x: after 3 passes results are beyond the range"):
            session(x)
        return
    t = session(x)
    np.testing.assert_array_equal(t.data, want[0])
    assert (t.min, t.max, session.passes) == want[1:]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"w": (np.zeros((1, 1, 5, 2), np.uint8), 0.0, 1.0)}, "w: expected filters of up to 4 channels"),
        ({"stride": (1, 5)}, "stride: expected at most 4 across, got 5"),
        ({"stride": (1, 3)}, "stride: 3 across runs on older code, whose windows lie elsewhere in a way not known"),
        ({"guess_min": 0.0, "guess_max": 1.0}, r"w: filters \(3, 3, 2, 2\) with stride 1 .* run as a supernode3322"),
    ],
)
def test_what_runs_otherwise_is_refused(changes, message):
    good = {
        "w": (np.zeros((3, 3, 2, 2), np.uint8), 0.0, 1.0),
        "bias": (np.zeros(2, np.int32), -1.0, 1.0),
        "stride": (1, 1),
        "padding": "VALID",
    }
    nnlib.InputSupernode(**good)
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.InputSupernode(**{**good, **changes})

"""`qops.nnlib` requantizers to 16 bits against their twin: gains on both sides of 1, few and many steps."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import example, given, settings
from hypothesis import strategies as st

from qops import nnlib

F = np.float32
seeds = st.integers(0, 2**32 - 1)


def codes(seed, n=130):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-(2**31) + 1, 2**31, n) >> rng.integers(0, 32)).astype(np.int32)
    x[: n // 16] = rng.choice([-(2**31) + 1, 2**31 - 1, 0], n // 16)
    return x


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@example(half=2.0**15, limit=2.0**-11, seed=0)
@given(half=st.floats(1.0, 2.0**20, width=32), limit=st.floats(2.0**-12, 2.0**12, width=32), seed=seeds)
def test_32to16_matches_its_twin(half, limit, seed):
    x = codes(seed)
    x[:2] = -(2**31)
    kept = max(F(limit), F(2.0**-11))
    gain = (F(2) * F(half) * F(2.0**-32)) / (kept * F(2.0**-15))
    t = nnlib.requantize_32to16((x, -half, half), -limit, limit / 2)
    assert t.data.tolist() == twin.requantize_16(x.tolist(), gain)
    assert (t.min, t.max) == (-kept, kept)
    assert t.scale == kept / 32768


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(half=st.floats(2.0**-13, 2.0**20, width=32), seed=seeds)
def test_shrink_matches_its_twin(half, seed):
    x = codes(seed)
    level = F(2) * F(half) * F(2.0**-32)
    limit = level * F(max(2, *np.abs(x).tolist()))
    gain = level / (limit * F(2.0**-15))
    t = nnlib.quantize_down_and_shrink_range_32to16((x, -half, half))
    if gain >= 1:
        limit = level * F(32768)
        assert t.data.tolist() == np.clip(x, -(2**15), 2**15 - 1).tolist()
    else:
        assert t.data.tolist() == twin.requantize_16(x.tolist(), gain)
    assert (t.min, t.max) == (-limit, limit)


def test_refusals_change_nothing():
    x, out = np.int32([1, -(2**31)]), np.int16([7, 7])
    for limit, half in ((1e12, 1.0), (0.0, 2.0**40)):
        with pytest.raises(ValueError, match=r"^t, min, max: from .* is a gain of .*, refused"):
            nnlib.requantize_32to16((x, -half, half), -limit, limit, out=out)
    with pytest.raises(ValueError, match=r"^t: holds -2\*\*31"):
        nnlib.quantize_down_and_shrink_range_32to16((x, -1.0, 1.0), out=out)
    with pytest.raises(ValueError, match=r"^t: the range \(0.0, 0.0\) is 0 wide"):
        nnlib.quantize_down_and_shrink_range_32to16((x, 0.0, 0.0), out=out)
    assert out.tolist() == [7, 7]

import exact
import numpy as np
import onednn_twins as twins
import pytest
from equal import equal
from ops import on_every_tier

from qops.onednn import cast, destination


def test_store_rounds_half_to_even_on_each_side_of_every_tie():
    for code in range(-130, 260):
        tie = np.float32(code + 0.5)
        x = np.array([np.nextafter(tie, np.float32(-1000)), tie, np.nextafter(tie, np.float32(1000))])
        for dt in ("u8", "s8"):
            assert cast.store(x, dt).tolist() == [twins.store(v, dt) for v in x]


def test_store_saturates_infinities_and_s32():
    inf = np.float32([-np.inf, np.inf])
    assert cast.store(inf, "u8").tolist() == [0, 255]
    assert cast.store(inf, "s8").tolist() == [-128, 127]
    assert cast.store(inf, "s32").tolist() == [-(2**31), 2147483520]


@pytest.mark.parametrize("dt", ["u8", "s8", "s32"])
def test_store_refuses_nan(dt):
    with pytest.raises(ValueError, match=f"^x: the result holds nan, which has no code in {dt}"):
        cast.store(np.float32([0, np.nan]), dt)


def test_fma_survives_a_tie_that_double_rounding_would_lose(tier):
    # 1 + 2^-24 is a tie in f32; the last bit, 2^-60 below or above it, is beyond f64.
    x = np.full(40, 2.0**-24, np.float32)
    for sign in (-1, 1):
        factor = np.float32(1) + np.float32(sign * 2.0**-23)
        assert (destination.fma(x, factor, 1.0) == twins.fma(x[0], factor, np.float32(1))).all()
    with np.errstate(over="ignore"):
        assert destination.fma(np.float32([3e38]), 10.0, 1.0) == np.inf


def test_fma_rounds_once_beside_ties_of_every_size(rng):
    """The kernel's, and that of the tests' twins."""
    # 3 * x has 25 bits and is odd, so it is a tie; the addend, far below it, decides, or the even neighbour does
    x = ((2 * rng.integers(2**22, 2**23 * 2 // 3, 40) + 1) * rng.choice([-1, 1], 40)).astype(np.float32)
    for power in range(-148, 102, 10):
        factor = np.float32(3 * 2.0**power)
        for addend in np.float32([0, 2.0**-149, -(2.0**-149), 2.0 ** (power - 30), -(2.0 ** (power - 30))]):
            want = [twins.fma(v, factor, addend) for v in x]
            assert on_every_tier(destination.fma, x, factor, addend).tolist() == want, (power, addend)
            assert exact.fma(x, factor, addend).tolist() == want, (power, addend)


def test_fma_of_zeros_and_infinities(tier):
    x = np.repeat(np.float32([0, -0.0, np.inf, -np.inf, 1]), 40)
    for factor, addend in [(1.0, -0.0), (-1.0, 0.0), (2.0, 1.0), (1.0, np.inf), (-1.0, np.inf), (np.inf, 1.0)]:
        with np.errstate(invalid="ignore"):
            want = x * np.float32(factor) + np.float32(addend)
        got = destination.fma(x, factor, addend)
        equal(got, want)
        assert (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


def test_round_half_away_and_cvtps2dq():
    x = np.array([2.5, -2.5, 2.4999999, -3e9, 3e9])
    assert cast.round_half_away_s32(x).tolist() == [3, -3, 2, -(2**31), 2**31 - 1]
    assert cast.cvtps2dq(np.float32([2.5, -3e9, 3e9, np.inf])).tolist() == [2, -(2**31), -(2**31), -(2**31)]

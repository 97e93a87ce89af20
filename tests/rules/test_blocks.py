"""Rules of `qops.rules.BLOCKS`: what does not fill a block goes by another rule. All elements here are ties."""

import numpy as np
import pytest

from qops import rules

TIES_APART = "half-up-double", "tflite-double"


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("each", [False, True])
def test_the_last_channels_go_by_the_rule_of_the_tail(rng, axis, each):
    for channels in (3, 8, 16, 21):
        shape = [2, 3, 5]
        shape[axis] = channels
        x = (rng.integers(-60, 60, shape) * 64 + 32).astype(np.int32)
        scale = 2.0**-6 * rng.choice([1, 3], channels) if each else 2.0**-6  # all are ties
        how = {"axis": axis, "zero_point": 3}
        got = rules.requantize(x, "tflite-opt-depthwise", scale=scale, **how)
        whole, tail = (rules.requantize(x, r, scale=scale, **how) for r in TIES_APART)
        parts = [np.moveaxis(v, axis, -1) for v in (got, whole, tail)]
        blocks = channels // 8 * 8
        np.testing.assert_array_equal(parts[0], np.concatenate([parts[1][..., :blocks], parts[2][..., blocks:]], -1))
        assert (channels % 8 == 0) == np.array_equal(got, whole)
        if each:
            given = np.transpose([rules.integers("half-up-double", s) for s in scale])
            same = rules.requantize(x, "tflite-opt-depthwise", integers=tuple(given), **how)
            np.testing.assert_array_equal(same, got)


@pytest.mark.parametrize("axis", [2, 5, -3, -64])
def test_blocks_of_channels_refuse_an_axis_that_is_not_there(rng, axis):
    """Also with one scale: then nothing but the blocks depends on the axis."""
    x, out = rng.integers(-100, 100, (20, 3), np.int32), np.zeros((20, 3), np.int8)
    with pytest.raises(ValueError, match=rf"axis: expected an integer in \[-2, 1\], got {axis}"):
        rules.requantize(x, "tflite-opt-depthwise", scale=0.5, axis=axis, out=out)
    assert not out.any()


@pytest.mark.parametrize("shape", [(1,), (5,), (16,), (3, 37), (2, 3, 16), (0, 3)])
def test_the_last_elements_go_by_the_rule_of_the_tail(rng, shape):
    x = (rng.integers(-100, 0, shape) * 64 + 32).astype(np.int32)
    out = np.zeros((*shape, 2), np.int8)[..., 0]
    for how in ({"scale": 2.0**-6}, {"integers": (1 << 30, 36)}):
        got = rules.requantize(np.asfortranarray(x), "tflite-opt-quantize", **how, zero_point=3, out=out)
        whole, tail = (rules.requantize(x, r, **how, zero_point=3).ravel() for r in TIES_APART)
        cut = x.size // 16 * 16
        assert got is out
        assert x.size == 0 or (whole != tail).all()
        np.testing.assert_array_equal(got.ravel(), np.concatenate([whole[:cut], tail[cut:]]))

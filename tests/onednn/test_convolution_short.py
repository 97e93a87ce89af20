"""Bare convolutions go a short way: it gives what the long way gives, refuses what that refuses, and is taken."""

import numpy as np
import pytest

from qops import onednn
from qops.onednn import Attr, Window
from qops.onednn.machine import MACHINES

IMAGES = np.random.default_rng(8).integers(0, 256, (2, 8, 5, 6), dtype=np.uint8)
WEIGHTS = {
    shape: np.random.default_rng(9).integers(-128, 128, shape, dtype=np.int8)
    for shape in [(3, 8, 3, 2), (4, 8, 1, 1), (8, 1, 1, 3, 3), (2, 3, 4, 3, 3)]
}
WINDOW = Window(stride=(2, 1), dilation=(0, 1), pad_l=(1, 0), pad_r=(2, 3))


def both_ways(src, weights, **how):
    """An Attr of its own is looked at, whatever is in it."""
    return onednn.convolution(src, weights, **how), onednn.convolution(src, weights, attr=Attr(), **how)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("shape", WEIGHTS)
@pytest.mark.parametrize("window", [Window(), WINDOW])
def test_both_ways_give_the_same(version, isa, shape, window):
    machine = {"version": version, "isa": isa}
    for weights in (WEIGHTS[shape], onednn.pack_convolution_weights(WEIGHTS[shape], **machine)):
        for src in (IMAGES, np.asfortranarray(IMAGES), IMAGES.view(np.int8)):
            short, long = both_ways(src, weights, window=window, num_threads=2, **machine)
            assert np.array_equal(short, long)
            assert short.strides == long.strides
            for out in (np.empty_like(short), np.empty(short.shape, np.int32)):
                assert onednn.convolution(src, weights, window=window, out=out, **machine) is out
                assert np.array_equal(out, long)


def test_the_short_way_is_taken(monkeypatch):
    weights = onednn.pack_convolution_weights(WEIGHTS[3, 8, 3, 2])
    out = onednn.convolution(IMAGES, weights)
    monkeypatch.setattr("qops.onednn._checks.array", lambda *_: pytest.fail("went the long way"))
    onednn.convolution(IMAGES, weights, out=out)
    with pytest.raises(pytest.fail.Exception, match="long way"):
        onednn.convolution(IMAGES, weights, attr=Attr())


RESULT = (2, 3, 3, 5)
SHARED = np.zeros(4096, np.uint8)
BAD = {
    "src of another dtype": {"src": IMAGES.astype(np.int16)},
    "three dimensions": {"src": IMAGES[0]},
    "other channels": {"src": IMAGES[:, :7]},
    "a list": {"src": IMAGES.tolist()},
    "weights of another dtype": {"weights": WEIGHTS[3, 8, 3, 2].astype(np.int16)},
    "flat weights": {"weights": WEIGHTS[3, 8, 3, 2].ravel()},
    "no taps": {"weights": WEIGHTS[3, 8, 3, 2][..., :0]},
    "weights of another machine": {"weights": onednn.pack_convolution_weights(WEIGHTS[3, 8, 3, 2], isa="avx2")},
    "a kernel that does not fit": {"weights": np.zeros((1, 8, 6, 1), np.int8)},
    "no window": {"window": None},
    "no threads": {"num_threads": 0},
    "True threads": {"num_threads": True},
    "an unknown layout": {"layout": "chwn"},
    "an array of layouts": {"layout": np.array(["nhwc", "nchw"])},
    "an unknown dtype": {"dst_dt": "s16"},
    "out of another dtype": {"out": np.ones(RESULT, np.float32)},
    "out of another byte order": {"out": np.ones(RESULT, ">i4")},
    "out of another shape": {"out": np.ones((2, 3, 3, 4), np.int32)},
    "out of other dimensions": {"out": np.ones((2, 3, 15), np.int32)},
    "out that is no array": {"out": [0]},
    "out within src": {"src": SHARED[:480].reshape(2, 8, 5, 6), "out": SHARED[:360].view(np.int32).reshape(RESULT)},
}


@pytest.mark.parametrize("bad", BAD)
def test_both_ways_refuse_the_same(bad):
    given = {"src": IMAGES, "weights": WEIGHTS[3, 8, 3, 2], **BAD[bad]}
    before = given["out"].copy() if isinstance(given.get("out"), np.ndarray) else None
    with pytest.raises((TypeError, ValueError)) as long:
        onednn.convolution(attr=Attr(), **given)
    with pytest.raises(long.type) as short:
        onednn.convolution(**given)
    assert str(short.value) == str(long.value)
    assert before is None or np.array_equal(given["out"], before)


def test_out_within_the_weights_is_refused():
    memory = np.zeros(4096, np.int8)
    weights = memory[:144].reshape(3, 8, 3, 2)
    out = memory[:360].view(np.int32).reshape(RESULT)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        onednn.convolution(IMAGES, weights, out=out)

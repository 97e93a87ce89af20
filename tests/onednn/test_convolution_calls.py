"""A convolution that is nothing but sums takes the same checks as any other, and gives the same bits."""

import numpy as np
import pytest
from cases import lay_out

from qops import onednn
from qops.onednn import Attr, Window
from qops.onednn.machine import MACHINES

IMAGES = np.random.default_rng(8).integers(0, 256, (2, 8, 5, 6), dtype=np.uint8)
WEIGHTS = {
    shape: np.random.default_rng(9).integers(-128, 128, shape, dtype=np.int8)
    for shape in [(3, 8, 3, 2), (4, 8, 1, 1), (8, 1, 1, 3, 3), (2, 3, 4, 3, 3)]
}
WINDOW = Window(stride=(2, 1), dilation=(0, 1), pad_l=(1, 0), pad_r=(2, 3))


def both(src, weights, **how):
    """The sums, and the sums again through the float32 steps of a scale of 1, which change nothing this small."""
    scale = Attr(oscale=1.0) if how.get("version") == "2.6" else Attr(src_scale=1.0)
    return onednn.convolution(src, weights, **how), onednn.convolution(src, weights, attr=scale, **how)


@pytest.mark.parametrize(("version", "isa"), MACHINES)
@pytest.mark.parametrize("shape", WEIGHTS)
@pytest.mark.parametrize("window", [Window(), WINDOW])
def test_sums_are_the_same_through_float_steps_and_in_any_out(version, isa, shape, window):
    machine = {"version": version, "isa": isa}
    weights = WEIGHTS[shape]
    op = onednn.Convolution(weights, window=window, **machine)
    for src in (IMAGES, np.asfortranarray(IMAGES), IMAGES.view(np.int8)):
        sums, scaled = both(src, weights, window=window, num_threads=2, **machine)
        assert np.array_equal(sums, scaled)
        assert sums.strides == scaled.strides
        for out in (np.empty_like(sums), np.empty(sums.shape, np.int32), lay_out(sums + 1, "misaligned")):
            assert onednn.convolution(src, weights, window=window, out=out, **machine) is out
            assert np.array_equal(out, sums)
            out[...] = 77
            assert op(src, out) is out
            assert np.array_equal(out, sums)


RESULT = (2, 3, 3, 5)
SHARED = np.zeros(4096, np.uint8)
BAD = {
    "src of another dtype": ("src: expected uint8, int8", {"src": IMAGES.astype(np.int16)}),
    "three dimensions": ("src: expected 4 dimensions", {"src": IMAGES[0]}),
    "other channels": ("src, NCHW, of shape .2, 7, 5, 6. has 7", {"src": IMAGES[:, :7]}),
    "a list": ("src: expected uint8", {"src": IMAGES.tolist()}),
    "weights of another dtype": (
        "weights: expected int8, float32",
        {"weights": WEIGHTS[3, 8, 3, 2].astype(np.int16)},
    ),
    "flat weights": ("weights: expected shape", {"weights": WEIGHTS[3, 8, 3, 2].ravel()}),
    "no taps": ("weights: expected at least one group", {"weights": WEIGHTS[3, 8, 3, 2][..., :0]}),
    "an unknown machine": ("isa: expected one of", {"isa": "amx"}),
    "a kernel that does not fit": (
        "weights: expected a window that fits in images",
        {"weights": np.zeros((1, 8, 6, 1), np.int8)},
    ),
    "no window": ("window: expected a qops", {"window": None}),
    "no threads": ("num_threads: expected an integer in", {"num_threads": 0}),
    "True threads": ("num_threads: expected an integer, got True", {"num_threads": True}),
    "an unknown layout": ("layout: expected one of", {"layout": "chwn"}),
    "an array of layouts": ("layout: expected one of", {"layout": np.array(["nhwc", "nchw"])}),
    "an unknown dtype": ("dst_dt: expected one of", {"dst_dt": "s16"}),
    "out of another dtype": ("out: expected native int32", {"out": np.ones(RESULT, np.float32)}),
    "out of another byte order": ("out: expected native int32", {"out": np.ones(RESULT, ">i4")}),
    "out of another shape": ("out: shape", {"out": np.ones((2, 3, 3, 4), np.int32)}),
    "out of other dimensions": ("out: shape", {"out": np.ones((2, 3, 15), np.int32)}),
    "out that is no array": ("out: expected an ndarray", {"out": [0]}),
    "out within src": (
        "out: shares memory",
        {"src": SHARED[:480].reshape(2, 8, 5, 6), "out": SHARED[:360].view(np.int32).reshape(RESULT)},
    ),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("attr", [Attr(), Attr(src_scale=0.5)])
def test_what_does_not_fit_is_refused_and_changes_nothing(bad, attr):
    words, given = BAD[bad]
    given = {"src": IMAGES, "weights": WEIGHTS[3, 8, 3, 2], **given}
    before = given["out"].copy() if isinstance(given.get("out"), np.ndarray) else None
    with pytest.raises((TypeError, ValueError), match=words):
        onednn.convolution(attr=attr, **given)
    assert before is None or np.array_equal(given["out"], before)


def test_out_within_the_weights_is_refused():
    memory = np.zeros(4096, np.int8)
    weights = memory[:144].reshape(3, 8, 3, 2)
    out = memory[:360].view(np.int32).reshape(RESULT)
    with pytest.raises(ValueError, match="out: shares memory with an input"):
        onednn.convolution(IMAGES, weights, out=out)

"""`qops.nnlib.supernode` and `Session` against their twin: both arches, scales, free and given ranges, sessions."""

import numpy as np
import pytest
import reference_nnlib_nodes as twin
from nnlib_layers import drawn

from qops import nnlib


def undefined(call):
    """What the twin gives whatever byte fills the memory beside the image; None if that differs."""
    found = [call(fill) for fill in (0, 255)]
    return found[0] if found[0][1:] == found[1][1:] else None


@pytest.mark.long
@pytest.mark.parametrize("seed", range(80))
def test_matches_its_twin(seed):
    rng = np.random.default_rng(seed)
    x, w, bias, stride, padding, given = drawn(rng)
    arch, o = str(rng.choice(["v65", "v65", "v60"])), w[0].shape[3]
    scales = rng.uniform(0.1, 1, o).astype(np.float32) if rng.random() < 0.3 else None
    want = undefined(lambda fill: twin.supernode(x, w, bias, stride, padding, given, scales, arch, fill))
    session = nnlib.Session(nnlib.Supernode(w, bias, stride, padding, *given, channel_scale=scales, arch=arch))
    if want is None:
        with pytest.raises(ValueError, match=r"^guess_min, guess_max: the range depends on bytes beside the image"):
            session(x)
        return
    t = session(x)
    np.testing.assert_array_equal(t.data, want[0])
    assert (t.min, t.max, session.passes) == want[1:]
    again = nnlib.supernode(x, w, bias, stride, padding, *given, channel_scale=scales, arch=arch, num_threads=2)
    np.testing.assert_array_equal(again.data, t.data)


@pytest.mark.parametrize("outputs", [32, 64, 96])
@pytest.mark.parametrize("width", [*range(1, 20), 33, 34, 35, 36])
def test_watches_the_columns_that_the_kernels_compute(width, outputs):
    """Windows of one pixel, whose memory is all set: nothing is refused."""
    rng = np.random.default_rng(width)
    x = rng.integers(0, 256, (1, 1, width, 8), np.uint8), -1.0, 1.0
    w = rng.integers(0, 256, (1, 1, 8, outputs), np.uint8)
    bias = rng.integers(-(2**28), 2**28, outputs, np.int32), -8.0, 8.0
    fine = np.where(np.arange(outputs) // 32 % 2, 1, 0.05).astype(np.float32)  # every other block has small results
    for channel, scales in ((0, None), (outputs - 1, None), (0, fine), (outputs - 33, fine)):
        far = w.copy()
        far[..., max(channel, 0)] = 255  # the farthest results are those of one channel
        given = (far, -1.0, 1.0), bias, (1, 1), "VALID"
        want = twin.supernode(x, *given, (None, None), scales, "v65")
        t = nnlib.supernode(x, *given, channel_scale=scales)
        np.testing.assert_array_equal(t.data, want[0])
        assert (t.min, t.max) == want[1:3]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_a_session_only_widens_its_range(seed):
    rng = np.random.default_rng(seed)
    (codes, lo, hi), w, bias, stride, _, given = drawn(rng)
    session, node = (
        nnlib.Session(nnlib.Supernode(w, bias, stride, "VALID", *given)),
        twin.Twin(given, (0, 0.5), 3, False),
    )
    last = session.range
    for shrink in (8, 1, 4):
        x = (codes // shrink, lo, hi)
        want = twin.supernode(x, w, bias, stride, "VALID", given, None, "v65", twin=node)
        t = session(x)
        np.testing.assert_array_equal(t.data, want[0])
        assert (t.min, t.max, session.passes) == want[1:]
        assert session.range == (t.min, t.max)
        assert t.max - t.min >= 0.99 * (last[1] - last[0])
        last = session.range


def test_a_call_that_raises_leaves_the_range():
    w, bias = (np.full((1, 1, 8, 1), 255, np.uint8), 0.0, 1.0), (np.int32([0]), -1.0, 1.0)
    session = nnlib.Session(nnlib.Supernode(w, bias, (1, 1), "VALID", 0.0))
    session((np.full((1, 1, 1, 8), 255, np.uint8), 0.0, 1.0))
    before = session.range, session.passes
    with pytest.raises(ValueError, match=r"^x: expected images of 8 channels"):
        session((np.zeros((1, 1, 1, 7), np.uint8), 0.0, 1.0))
    assert (session.range, session.passes) == before
    with pytest.raises(TypeError, match=r"^op: expected a prepared op of nnlib that finds its range, got 3"):
        nnlib.Session(3)
    assert repr(session) == f"Session({session.op!r})"


def test_weights_beyond_the_memory_of_a_v65_are_not_signed():
    rng = np.random.default_rng(0)
    bias = np.zeros(1, np.int32), -1.0, 1.0
    for depth, rescaled in ((1024, [False]), (992, [False]), (64, [True])):
        w = rng.integers(0, 256, (3, 3, depth, 1), np.uint8), 0.0, 1.0
        w[0][0, 0, 0, 0] = 255
        taps = w if depth > 64 else (w[0][:1, :1], 0.0, 1.0)
        op = nnlib.Supernode(taps, bias, (1, 1), "VALID")
        assert op.rescaled.tolist() == (rescaled if depth != 992 else [3 * 3 * 992 * 32 <= 2**18])


def test_refusals_are_named_and_change_nothing():
    out = np.full((1, 3, 4, 2), 7, np.uint8)
    x, w = (np.zeros((1, 3, 4, 8), np.uint8), 0.0, 1.0), (np.zeros((1, 1, 8, 2), np.uint8), -1.0, 1.0)
    good = {"x": x, "w": w, "bias": (np.zeros(2, np.int32), -1.0, 1.0), "stride": (1, 1), "padding": "VALID"}
    for key, value, error, message in (
        ("w", (w[0][..., 0], 0.0, 1.0), ValueError, r"w: expected \(KH, KW, C, O\)"),
        ("w", (w[0], 1.0, 1.0), ValueError, "x, w: the steps .* make a step of sums of 0"),
        ("w", (w[0][:, :, :4], 0.0, 1.0), ValueError, "w: filters of 4 channels run as an input_supernode"),
        ("x", (x[0][..., :7], 0.0, 1.0), ValueError, "x: expected images of 8 channels"),
        ("bias", (np.zeros(3, np.int32), -1.0, 1.0), ValueError, r"bias: expected shape \(2,\)"),
        ("bias", (np.zeros(2, np.int16), -1.0, 1.0), TypeError, "bias: expected"),
        ("bias", (np.int32([0, 2**31 - 1]), -1e9, 1e9), ValueError, "bias, guess_min: in channel 1, .* beyond int32"),
        ("guess_min", 0.5, ValueError, "guess_min: expected at most 0, got 0.5"),
        ("guess_max", -0.5, ValueError, "guess_max: expected at least 0, got -0.5"),
        ("guess_max", 1e-30, ValueError, "guess_min, guess_max: .* steps too fine"),
        ("channel_scale", [1.0, 1.5], ValueError, "channel_scale: expected numbers from 1/2048 to 1"),
        ("channel_scale", [1.0, 1e308], ValueError, "channel_scale: expected numbers from 1/2048 to 1, got 1.0 to inf"),
        ("channel_scale", [1.0, 0.5, 0.5], ValueError, "channel_scale: expected 2 numbers"),
        ("channel_scale", "half", TypeError, "channel_scale: expected floats"),
        ("arch", "v66", ValueError, "arch: expected one of v65, v60"),
        ("stride", (2, 1), ValueError, "out: shape"),
    ):
        given = {"guess_min": 0.0} if key == "guess_max" else {}
        with pytest.raises(error, match=rf"^{message}"):
            nnlib.supernode(**{**good, **given, key: value}, out=out)
    assert (out == 7).all()
    with pytest.raises(ValueError, match=r"^guess_min, guess_max: expected a range, got 0.0 and 0.0"):
        nnlib.supernode(**good, guess_min=0.0, guess_max=0.0)
    assert nnlib.supernode(**good, channel_scale=1.0, out=out).data is out

"""`qops.nnlib.depthwise_supernode` against its twin, the memory that 3 x 3 filters watch, and its refusals."""

import numpy as np
import pytest
import reference_nnlib_nodes as twin

from qops import nnlib

PADDINGS = ("VALID", "SAME", "SAME_CAFFE")


def drawn(rng, height, width):
    channels = int(rng.choice([1, 3, 32, 33, 70]))
    size = int(rng.integers(height, height + 4)), int(rng.integers(width, width + 9))
    x = rng.integers(0, 256, (2, *size, channels), np.uint8), float(rng.choice([-1.0, -0.3, 0.0])), 1.0
    large = float(rng.choice([1, 600]))  # then a first guess is too steep
    w = (
        rng.integers(0, 256, (height, width, channels, 1), np.uint8),
        -0.6 * large,
        float(rng.choice([0.0, 0.4])) * large,
    )
    bias = rng.integers(-(2**22), 2**22, channels, np.int32), -512.0, 512.0
    given = tuple(rng.choice([None, end]) for end in (-float(rng.uniform(0, 3)), float(rng.uniform(0.1, 5))))
    return x, w, bias, (int(rng.integers(1, 4)), int(rng.choice([1, 2]))), str(rng.choice(PADDINGS)), given


@pytest.mark.long
@pytest.mark.parametrize("width", [3, 5, 7])
@pytest.mark.parametrize("seed", range(25))
def test_matches_its_twin(seed, width):
    rng = np.random.default_rng(seed)
    height = int(rng.choice([2, 4, 5])) if width == 3 else int(rng.integers(2, 6))
    x, w, bias, stride, padding, given = drawn(rng, height, width)
    scales = rng.uniform(0.1, 1, w[0].shape[2]).astype(np.float32) if seed % 2 else None
    session = nnlib.Session(nnlib.DepthwiseSupernode(w, bias, stride, padding, *given, channel_scale=scales))
    want = twin.depthwise_supernode(x, w, bias, stride, padding, given, scales)
    t = session(x)
    np.testing.assert_array_equal(t.data, want[0])
    assert (t.min, t.max, session.passes) == want[1:]


def test_the_last_column_of_filters_5_wide_counts_shifted_twice():
    """With stride 2 and one column more than a multiple of four; the range is too wide by 2**left_shift."""
    codes = np.zeros((1, 2, 13, 1), np.uint8)
    w, bias = (np.full((2, 5, 1, 1), 255, np.uint8), 0.0, 600.0), (np.zeros(1, np.int32), -1.0, 1.0)
    found = []
    for column in (12, 0):  # only the last window has the one, only the first has the other
        codes[...] = 0
        codes[..., column, :] = 255
        want = twin.depthwise_supernode((codes, 0.0, 1.0), w, bias, (1, 2), "VALID", (0.0, None), None)
        t = nnlib.depthwise_supernode((codes, 0.0, 1.0), w, bias, (1, 2), "VALID", 0.0)
        np.testing.assert_array_equal(t.data, want[0])
        assert (t.min, t.max) == want[1:3]
        found.append(t.max)
    assert found[0] > 1.9 * found[1]


@pytest.mark.parametrize("seed", range(20))
def test_3x3_filters_watch_at_least_the_results(seed):
    """With a given range they are the twin's; a free one is that of the results, or wider."""
    rng = np.random.default_rng(seed)
    x, w, bias, stride, padding, _ = drawn(rng, 3, 3)
    given = -2.0, 3.0
    want = twin.depthwise_supernode(x, w, bias, stride, padding, given, None)
    np.testing.assert_array_equal(nnlib.depthwise_supernode(x, w, bias, stride, padding, *given).data, want[0])
    _, lo, hi, _ = twin.depthwise_supernode(x, w, bias, stride, padding, (None, None), None)
    t = nnlib.depthwise_supernode(x, w, bias, stride, padding)
    assert t.max - t.min >= 0.98 * (hi - lo)


def test_a_row_reads_over_its_end_into_the_next_one():
    """One window beyond the last column of 5 reads the left padding and the first pixels of the second row."""
    codes = np.zeros((1, 4, 8, 32), np.uint8)
    w, bias = (np.zeros((3, 3, 32, 1), np.uint8), 0.0, 1.0), (np.zeros(32, np.int32), -1.0, 1.0)
    w[0][0] = 255
    found = []
    for row in (None, 0, 1):
        codes[...] = 0
        if row is not None:
            codes[0, row, 7] = 255  # with stride 2, no window of the result has the last column
        t = nnlib.depthwise_supernode((codes, 0.0, 1.0), w, bias, (1, 2), "VALID", 0.0)
        assert not t.data.any()
        found.append(t.max)
    assert found[0] < found[1] == found[2]


def test_a_range_that_depends_on_channels_that_are_not_set_is_refused():
    """One window beyond the last column of 32 channels reads the next 32, of which only one is set."""
    x = np.zeros((1, 4, 8, 33), np.uint8), 0.0, 1.0
    w, bias = (np.full((3, 3, 33, 1), 255, np.uint8), 0.0, 1.0), (np.zeros(33, np.int32), -1.0, 1.0)
    with pytest.raises(ValueError, match=r"^guess_min, guess_max: the range depends on bytes"):
        nnlib.depthwise_supernode(x, w, bias, (1, 2), "VALID")
    assert not nnlib.depthwise_supernode(x, w, bias, (1, 2), "VALID", 0.0, 9.0).data.any()


def test_channels_that_are_set_count_beside_those_that_are_not():
    """Of the next 32 channels only one is set. Only its own channel has weights, so the others, set or not, add 0."""
    found = []
    for channels, pixel in ((33, 0), (33, 255), (64, 255)):
        codes, w = np.zeros((1, 4, 8, channels), np.uint8), np.zeros((3, 3, channels, 1), np.uint8)
        codes[0, :, 0, 32], w[:, :, 0] = pixel, 255
        bias = np.zeros(channels, np.int32), -1.0, 1.0
        t = nnlib.depthwise_supernode((codes, 0.0, 1.0), (w, 0.0, 1.0), bias, (1, 2), "VALID", 0.0)
        found.append((t.min, t.max))
    assert found[0] != found[1] == found[2]


@pytest.mark.parametrize(
    ("shape", "stride", "message"),
    [
        ((1, 3, 2, 1), (1, 1), "w: expected filters at least 2 high"),
        ((3, 9, 2, 1), (1, 1), "w: expected filters 3, 5 or 7 wide"),
        ((3, 4, 2, 1), (1, 1), "w: expected filters 3, 5 or 7 wide"),
        ((3, 3, 2, 2), (1, 1), "w: expected one filter for each channel"),
        ((3, 3, 2, 1), (3, 3), "stride: expected 1 or 2 across, got 3"),
        ((3, 3, 2, 1), (1, 4), "stride: expected 1 or 2 across, got 4"),
    ],
)
def test_what_the_original_does_not_run_is_refused(shape, stride, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        nnlib.DepthwiseSupernode((np.zeros(shape, np.uint8), 0.0, 1.0), (np.zeros(2, np.int32), -1, 1), stride, "VALID")

"""Windows and pools against loops over places and taps."""

import itertools
import sys

import numpy as np
import pytest
from qops._kernels.arrays.window import Window

from qops._kernels.pool import pooling


def windows(image, kernel, stride, dilation, padding):
    """The codes of each window of a plane (H, W) that lie on it: place -> list."""
    (top, bottom), (left, right) = padding
    found, shape = {}, []
    for size, before, after, k, s, d in zip(
        image.shape, (top, left), (bottom, right), kernel, stride, dilation, strict=True
    ):
        shape.append(
            sum(1 for first in range(0, size + before + after, s) if first + (k - 1) * d < size + before + after)
        )
    for y, x in itertools.product(*map(range, shape)):
        rows = [y * stride[0] - top + i * dilation[0] for i in range(kernel[0])]
        columns = [x * stride[1] - left + i * dilation[1] for i in range(kernel[1])]
        found[y, x] = [
            int(image[i, j]) for i in rows for j in columns if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]
        ]
    return shape, found


CASES = [  # kernel, stride, dilation, padding
    ((2, 3), (1, 1), (1, 1), ((0, 0), (0, 0))),
    ((3, 2), (2, 1), (1, 2), ((1, 0), (0, 2))),
    ((1, 4), (1, 3), (3, 2), ((0, 0), (3, 3))),
    ((5, 6), (5, 6), (1, 1), ((0, 0), (0, 0))),
]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_pools_and_taps(rng, case, dtype):
    kernel, stride, dilation, padding = case
    info = np.iinfo(dtype)
    image = rng.choice(np.array([info.min, info.max, 1, 2], dtype), (2, 3, 5, 8))
    window = Window(stride, dilation, padding)
    shape, found = windows(image[1, 2], *case)
    assert window.out_size((5, 8), kernel) == tuple(shape)
    by_channel = image.transpose(0, 2, 3, 1)
    pools = pooling.largest, pooling.totals
    largest, sums = (pool(by_channel, kernel, window).transpose(0, 3, 1, 2) for pool in pools)
    counts, all_taps = (pooling.counts((5, 8), kernel, window, padding=flag) for flag in (False, True))
    taps = window.taps(image, kernel, 77)
    assert (largest.dtype, sums.dtype) == (dtype, np.int32)
    for place, codes in found.items():
        assert largest[(1, 2, *place)] == max(codes, default=info.min)
        assert sums[(1, 2, *place)] == sum(codes)
        assert counts[place] == len(codes)
        assert all_taps[place] == kernel[0] * kernel[1]
        seen = taps[(1, 2, *place)].ravel().tolist()
        assert sorted(seen) == sorted([*codes, *[77] * (len(seen) - len(codes))])


@pytest.mark.parametrize("stride", [(1, 1), (2, 3)])
@pytest.mark.parametrize("dilation", [(1, 1), (2, 1)])
@pytest.mark.parametrize("padding", [((0, 0), (0, 0)), ((1, 2), (3, 0)), ((9, 9), (0, 9))])
def test_cuts_are_the_taps_within_the_image(stride, dilation, padding):
    window, size, kernel = Window(stride, dilation, padding), (7, 6), (3, 2)
    (down, of_row), (across, of_column) = window.cuts(size, kernel)
    taps = window.taps(np.ones((1, 1, *size), np.int64), kernel, 0)[0, 0]
    assert np.array_equal(np.einsum("ik,jl->ijkl", down[of_row], across[of_column]), taps)
    assert all((cuts[1:] != cuts[:-1]).any(1).all() for cuts in (down, across))


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "padding"),
    [  # as TensorFlow 2.21 counts them
        ((5, 5), (3, 3), (1, 1), (1, 1), ((1, 1), (1, 1))),
        ((5, 6), (3, 3), (2, 2), (1, 1), ((1, 1), (0, 1))),
        ((5, 5), (2, 4), (1, 1), (1, 1), ((0, 1), (1, 2))),
        ((7, 7), (1, 1), (3, 2), (1, 1), ((0, 0), (0, 0))),
        ((4, 9), (3, 2), (1, 1), (2, 3), ((2, 2), (1, 2))),
    ],
)
def test_same_and_valid(size, kernel, stride, dilation, padding):
    same = Window.named("SAME", size, kernel, stride, dilation)
    assert same.padding == padding
    assert same.out_size(size, kernel) == tuple(-(-n // s) for n, s in zip(size, stride, strict=True))
    valid = Window.named("VALID", size, (2, 2), stride)
    assert valid.padding == ((0, 0), (0, 0))
    assert valid.out_size(size, (2, 2)) == tuple((n - 2) // s + 1 for n, s in zip(size, stride, strict=True))


@pytest.mark.parametrize(
    ("window", "want"),
    [
        (Window((1, 1), (1, 2**30), ((0, 0), (2**31 - 1, 2**31 - 1))), (5, 3)),  # spans 2**32 + 1, fits 2**32 + 3
        (Window.named("SAME", (5, 5), (1, 5), dilation=(1, 2**30)), (5, 5)),
        (Window.named("SAME", (5, 5), (1, 5), (1, 2**31 - 1), (1, 2**30)), (5, 1)),
    ],
)
def test_sizes_beyond_32_bits_are_counted_or_refused(window, want):
    """In 32 bits a span of 2**32 + 1 would be 1, and the window would fit."""
    if sys.maxsize > 2**32:
        assert window.span((1, 5)) == (1, 2**32 + 1)
        assert window.out_size((5, 5), (1, 5)) == want
    else:
        with pytest.raises(ValueError, match=r"^kernel: "):
            window.out_size((5, 5), (1, 5))


def test_sizes_beyond_64_bits_are_refused():
    far = sys.maxsize // 2
    for window, kernel in (
        (Window(dilation=(1, far)), 5),  # spans 2**64 - 3
        (Window(dilation=(1, far), padding=((0, 0), (far // 4, far // 4))), 4),
        (Window.named("SAME", (5, 5), (1, 9), dilation=(1, far)), 9),
    ):
        with pytest.raises(ValueError, match=r"^kernel: "):
            window.out_size((5, 5), (1, kernel))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Window((0, 1)), r"stride: expected at least 1, got \(0, 1\)"),
        (lambda: Window(dilation=(1, 0)), "dilation: expected at least 1"),
        (lambda: Window(padding=((0, 0), (-1, 0))), "padding: expected at least 0"),
        (lambda: Window.named("FULL", (3, 3), (1, 1)), "padding: expected 'SAME' or 'VALID', got 'FULL'"),
        (
            lambda: Window().out_size((3, 3), (4, 1)),
            r"fits in images of \(3, 3\) .* got \(4, 1\), which spans \(4, 1\)",
        ),
        (lambda: Window().out_size((3, 3), (0, 1)), r"kernel: .* got \(0, 1\)"),
        (lambda: Window(dilation=(1, 3)).taps(np.zeros((1, 1, 3, 3)), (1, 2), 0), r"kernel: .* spans \(1, 4\)"),
    ],
)
def test_bad_windows(call, words):
    with pytest.raises(ValueError, match=words):
        call()

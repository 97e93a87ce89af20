"""Images of one channel on AVX-512 without VNNI, version 3.13: pairs of taps saturate."""

import numpy as np
import pytest
from equal import equal

from qops import onednn
from qops.onednn import Attr, Window

HOW = {"isa": "avx512", "version": "3.13"}


def model(x, w, window, zero_point):
    """One output pixel at a time, for one group; pairs as the docstring of `qops.onednn.unrolled` has them."""
    (sy, sx), (dy, dx), (top, left), (bottom, right) = window.stride, window.dilation, window.pad_l, window.pad_r
    kh, kw = w.shape[2:]
    pads = (top, bottom), (left, right)
    image, inside = np.pad(x[0, 0].astype(int), pads), np.pad(np.ones_like(x[0, 0], int), pads)
    oh, ow = window.out_size(x.shape[2:], (kh, kw))
    filters, result = w[:, 0].astype(int), np.zeros((len(w), oh, ow), int)
    for y, z in np.ndindex(oh, ow):
        taps = np.ix_(y * sy + (dy + 1) * np.arange(kh), z * sx + (dx + 1) * np.arange(kw))
        products = image[taps] * filters
        if dx:
            runs = products.reshape(len(w), -1, 1)
        elif dy or ow <= 4:
            runs = products
        else:
            runs = products.transpose(0, 2, 1).reshape(len(w), 1, -1)
        pairs = runs[..., ::2].copy()
        pairs[..., : runs.shape[2] // 2] += runs[..., 1::2]
        result[:, y, z] = np.minimum(np.maximum(pairs, -32768), 32767).sum((1, 2)) - zero_point * (
            filters * inside[taps]
        ).sum((1, 2))
    return result


WINDOWS = [
    Window(),
    Window(pad_l=(1, 1), pad_r=(1, 1)),
    Window(stride=(2, 2), pad_l=(1, 0), pad_r=(0, 2)),
    Window(stride=(1, 3)),
    Window(dilation=(1, 0), pad_l=(1, 1)),
    Window(dilation=(0, 1)),
    Window(dilation=(1, 1), stride=(2, 1)),
]


@pytest.mark.parametrize("zero_point", [None, 7, 200])
@pytest.mark.parametrize("taps", [(3, 3), (5, 5), (1, 5), (5, 1), (4, 3), (1, 1)])
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_pairs_of_taps_saturate(rng, window, taps, zero_point):
    x = rng.choice(np.uint8([0, 200, 254, 255]), (1, 1, 11, 12))
    w = rng.choice(np.int8([127, 100, -90, -128]), (5, 1, *taps))
    want = model(x, w, window, zero_point or 0)
    attr = Attr(src_zp=zero_point)
    equal(onednn.convolution(x, w, window=window, attr=attr, **HOW)[0], want)
    if window.dilation[1] == 0 and taps[1] > 1:
        exact = onednn.convolution(x, w, window=window, attr=attr)
        assert (onednn.convolution(x, w, window=window, attr=attr, isa="avx2") == exact).all()
        assert (want != exact[0]).any()


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_one_op_takes_images_whose_results_have_few_or_many_columns(rng, window):
    w = rng.choice(np.int8([127, 100, -90, -128]), (5, 1, 3, 3))
    op = onednn.Convolution(w, window=window, **HOW)
    for size in (5, 6, 7, 9, 16, 6):
        x = rng.choice(np.uint8([0, 200, 254, 255]), (1, 1, size, size))
        equal(op(x)[0], model(x, w, window, 0))


def test_groups_of_one_channel_are_unrolled_each(rng):
    x = rng.choice(np.uint8([0, 200, 254, 255]), (2, 2, 9, 9))
    w = rng.choice(np.int8([127, 100, -90, -128]), (2, 3, 1, 3, 3))
    for window in (Window(pad_l=(1, 1)), Window(stride=(3, 3))):
        want = [np.concatenate([model(i[g : g + 1][None], w[g], window, 0) for g in (0, 1)]) for i in x]
        out = np.zeros(np.shape(want), np.int32)
        assert onednn.convolution(x, w, window=window, out=out, num_threads=2, **HOW) is out
        equal(out, want)


def test_bits_of_the_library():
    """3.13.2, capped to AVX512_CORE: 5 columns of results pair down the columns, 4 along the rows."""
    w = np.int8([[127, 127, 0], [0, 0, 0], [0, 0, 0]]).reshape(1, 1, 3, 3).repeat(16, 0)
    for taps, bits in ((w, (64770, 32767)), (w.transpose(0, 1, 3, 2), (32767, 64770))):
        got = [onednn.convolution(np.full((1, 1, n, n), 255, np.uint8), taps, **HOW) for n in (7, 6)]
        assert tuple(set(x.ravel()) for x in got) == tuple({bit} for bit in bits)

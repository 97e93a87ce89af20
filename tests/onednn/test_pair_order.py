"""Pairs in the orders of fbgemm and onnxruntime: against Python integers, and what its convolutions lose."""

import numpy as np
import pytest
from saturating import codes, counted

from qops import onednn, onnx
from qops.onednn import Window, saturated_pairs, unsafe_pairs

ORDER = {"order": "taps, channels"}
SWAPPED = {"order": "channels, taps"}
PADDED = Window(stride=(2, 1), dilation=(0, 1), pad_l=(1, 2), pad_r=(2, 0))
U8, S8 = np.zeros((2, 4), np.uint8), np.zeros((3, 4), np.int8)


def rows(x, pad, kernel=(2, 3)):
    """What is under the window PADDED: taps, and the channels of each."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 2), (2, 0)), constant_values=pad).astype(int)
    kh, kw = kernel
    places = [(i, 2 * y, x0) for i in range(len(x)) for y in range(4) for x0 in range(2)]
    taps = [(ky, 2 * kx) for ky in range(kh) for kx in range(kw)]
    return np.array([np.concatenate([padded[i, :, y + ky, x0 + kx] for ky, kx in taps]) for i, y, x0 in places])


@pytest.mark.parametrize("zero_point", [0, 200])
@pytest.mark.parametrize("channels", [1, 2, 3, 5])
def test_counts_match_python_integers_where_channels_are_odd(channels, zero_point):
    rng = np.random.default_rng(channels)
    x, w = codes(rng, (2, channels, 5, 4), np.uint8), codes(rng, (3, channels, 2, 3), np.int8)
    found = saturated_pairs(x, w, window=PADDED, zero_point=zero_point, **ORDER)
    want = counted(rows(x, zero_point), w.transpose(0, 2, 3, 1).reshape(3, -1), (0,))
    assert np.array_equal(found.counts, want)
    assert want.sum() > 0
    assert found.places == 16


def test_padding_takes_part_by_its_zero_point():
    x, w, window = np.uint8([[[[255]]]]), np.int8([[[[127, 127]]]]), Window(pad_l=(0, 1))
    losses = [saturated_pairs(x, w, window=window, zero_point=z, **ORDER).largest_loss for z in (0, 255)]
    assert losses == [0, 2 * 255 * 127 - 32767]


@pytest.mark.parametrize("groups", [1, 2])
def test_losses_are_those_of_onnxruntime(rng, groups):
    x, w = codes(rng, (2, 3 * groups, 5, 4), np.uint8), codes(rng, (4 * groups, 3, 2, 3), np.int8)
    found = saturated_pairs(
        x, w.reshape(groups, 4, 3, 2, 3) if groups > 1 else w, window=PADDED, zero_point=77, **ORDER
    )
    how = {"pads": [1, 2, 2, 0], "strides": [2, 1], "dilations": [1, 2], "group": groups}
    scales = {"x_scale": 1.0, "x_zero_point": 77, "w_scale": 1.0, "w_zero_point": 0, "y_scale": 999.0}
    ends = [
        onnx.qlinear_conv(x, w=w, y_zero_point=128, runtime=runtime, **scales, **how).astype(int)
        for runtime in ("ort", "ort_avx2")
    ]
    assert found.largest_loss > 999
    assert abs(np.abs(ends[0] - ends[1]).max() - found.largest_loss / 999) <= 1


def test_matrices_have_one_block_whatever_their_length(rng):
    x, w = codes(rng, (4, 514), np.uint8), codes(rng, (3, 514), np.int8)
    assert np.array_equal(saturated_pairs(x, w, **ORDER).counts, counted(x.astype(int), w, (0,)))
    assert not np.array_equal(saturated_pairs(x, w).counts, saturated_pairs(x, w, **ORDER).counts)


@pytest.mark.parametrize("top", [255, 127])
def test_a_pair_is_unsafe_where_codes_of_0_and_top_saturate_it(rng, top):
    w = codes(rng, (3, 3, 3, 3), np.int8)
    row = w.transpose(0, 2, 3, 1).reshape(3, -1).astype(int)
    full = np.pad(row, ((0, 0), (0, 1))).reshape(3, -1, 2)
    sums = top * np.stack([np.maximum(full, 0).sum(2), np.minimum(full, 0).sum(2)])
    assert np.array_equal(unsafe_pairs(w, top, **ORDER), ((sums > 32767) | (sums < -32768)).any(0))
    assert unsafe_pairs(w, **ORDER).sum() != unsafe_pairs(w).sum()


def test_nothing_saturates_for_int8_codes_or_with_vnni(rng):
    x, w = codes(rng, (1, 3, 5, 5), np.int8), codes(rng, (3, 3, 3, 3), np.int8)
    assert saturated_pairs(x, w, **ORDER).share == 0
    assert not unsafe_pairs(w, src_dt="s8", **ORDER).any()
    assert saturated_pairs(x.view(np.uint8), w, **ORDER).share > 0
    assert saturated_pairs(x.view(np.uint8), w, isa="vnni", **ORDER).largest_loss == 0


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("zero_point", [-128, 7, 127])
def test_losses_are_those_of_conv_integer(rng, groups, zero_point):
    """Depthwise filters saturate too; bytes near the ends of their types make most pairs do it."""
    x = rng.choice(np.int8([-128, -127, 126, 127, 3]), (2, 6, 5, 4))
    w = rng.choice(np.uint8([255, 254, 127, 1, 0]), (2 * groups, 6 // groups, 2, 3))
    how = {"pads": [1, 2, 2, 0], "strides": [2, 1], "dilations": [1, 2], "group": groups}
    exact, found = (onnx.conv_integer(x, w, zero_point, 9, runtime=r, **how).astype(int) for r in ("ort", "ort_avx2"))
    filters = w.reshape(groups, 2, *w.shape[1:]) if groups > 1 else w
    seen = saturated_pairs(x, filters, window=PADDED, zero_point=zero_point, **SWAPPED)
    assert seen.largest_loss == np.abs(exact - found).max() > 999
    assert abs(seen.mean_loss - np.abs(exact - found).mean()) < 1e-9
    unsafe = onednn.unsafe_pairs(filters, src_dt="s8", **SWAPPED)
    assert unsafe.shape == seen.counts.shape
    assert unsafe[seen.counts > 0].all()


def test_a_pair_of_unsigned_weights_is_unsafe_where_some_codes_of_int8_saturate_it():
    sums = np.arange(0, 511)
    w = np.stack([sums // 2, sums - sums // 2], 1).astype(np.uint8)[:, None, None]
    for top, low, high in ((255, -128, 127), (128, -128, 0), (0, -128, 0)):
        ends = np.array([[low * s, high * s] for s in sums])
        want = ((ends < -32768) | (ends > 32767)).any(1)
        assert np.array_equal(unsafe_pairs(w, top, src_dt="s8", **SWAPPED)[:, 0], want)
        assert want.sum() == 254


@pytest.mark.parametrize(("src", "weights"), [(np.uint8, np.uint8), (np.uint8, np.int8), (np.int8, np.int8)])
def test_other_types_of_conv_integer_are_exact(src, weights):
    x, w = np.full((1, 2, 1, 1), 100, src), np.full((1, 2, 1, 1), 255, np.uint8).view(weights)
    assert saturated_pairs(x, w, **SWAPPED).largest_loss == 0
    assert not unsafe_pairs(w, src_dt="u8" if src is np.uint8 else "s8", **SWAPPED).any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"order": "rows"}, "order: expected one of channels of a tap, taps, channels, channels, taps, got 'rows'"),
        ({"zero_point": 3}, "zero_point: expected 0 with order 'channels of a tap', got 3"),
        ({"zero_point": 256, **ORDER}, r"zero_point: expected an integer in \[0, 255\], got 256"),
        (
            {"zero_point": 128, "src": S8[..., None, None], "weights": S8[..., None, None], **SWAPPED},
            r"integer in \[-128, 127\]",
        ),
        (SWAPPED, r"weights: expected shape \(O, C, KH, KW\) or \(G, O, C, KH, KW\), got \(3, 4\)"),
        ({"window": Window((2, 2)), **ORDER}, "window: expected none for an inner product"),
    ],
)
def test_what_does_not_fit_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        saturated_pairs(**{"src": U8, "weights": S8, **given})


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"src, weights: shapes \(2, 4\) and \(3, 2\) do not fit"):
        onednn.saturated_pairs(U8, S8[:, :2], **ORDER)

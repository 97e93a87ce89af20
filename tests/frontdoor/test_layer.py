"""Layers: bias, clip, ranges per channel, groups and codes of 8 bits, all within the bound of the exact results."""

from fractions import Fraction

import numpy as np
import pytest
import reference
import reference_products as twin
from cases import HUGE, TINY, rounded, spans
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier, same

import qops
from qops.frontdoor.conv2d import BOUND_CONV2D, BOUND_CONV2D_8
from qops.frontdoor.matmul import BOUND_MATMUL, BOUND_MATMUL_8

NARROWEST = 2.0**-25
SPANS = st.one_of(spans(1e12), st.sampled_from([(-1.0, 1.0), (0.0, 6.0), (2.0, 3.0), (-9.0, -8.5), (-TINY, 9 * TINY)]))


def drawn(rng, shape, dtype):
    return rng.integers(0, 256, shape, np.uint8).view(dtype)


def position(value, lo, hi):
    """The exact position of a value among the 8-bit codes of a range, from 0 to 255."""
    return max(Fraction(0), min(Fraction(255), (value - Fraction(lo)) * 255 / (Fraction(hi) - Fraction(lo))))


def check_32(t, values, tops, bound):
    """int32 codes against exact values, flat, whose channels have the ranges -tops, tops."""
    assert t.data.dtype == np.int32
    ends = np.broadcast_to(np.float64(t.max), (1,) * (t.data.ndim - 1) + t.data.shape[-1:]).ravel()
    assert ends.tolist() == tops
    assert np.array_equal(-np.asarray(t.max), t.min)
    for at, (code, value) in enumerate(zip(t.data.ravel().tolist(), values, strict=True)):
        step = Fraction(tops[at % len(tops)]) / 2**31 or Fraction(1)
        assert abs(code - value / step) <= bound


def check_8(t, values, farthest, bound, kept=None, guess=(None, None)):
    """8-bit codes against exact values, and the range: `kept`, or what the values, the guess and 0 span."""
    lowest = np.iinfo(t.data.dtype).min
    if kept:
        assert (t.min, t.max) == kept
    else:
        lo, hi = (float(f([*values, 0, *(end for end in guess if end is not None)], default=0)) for f in (min, max))
        scale, _ = reference.affine_holding_zero(lo, hi)
        least = 2 * NARROWEST * float(farthest)
        if hi - lo > 1.001 * least:
            assert (t.max - t.min) == pytest.approx(255 * scale, rel=1e-6)
        assert t.max - t.min >= 0.999 * least
        assert t.min <= 0 <= t.max
    if t.min == t.max:
        assert (t.data == lowest).all()
        return
    if not kept:
        at = position(Fraction(0), t.min, t.max)
        assert abs(at - round(at)) < Fraction(1, 2**15)  # 0 is on a code
    off = [
        abs(code - lowest - position(v, t.min, t.max)) for code, v in zip(t.data.ravel().tolist(), values, strict=True)
    ]
    assert max(off, default=0) <= bound


@st.composite
def layers(draw, channels):
    """The options of a layer with so many channels: (range of the weights, bias, clip, dtype, guess, range)."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    each = np.float32([draw(SPANS) for _ in range(channels)]).reshape(-1, 2).T
    ends = draw(st.sampled_from([(each[0], each[1]), rounded(*draw(SPANS))]))
    size = draw(st.sampled_from([1.0, 1e-20, 1e20]))  # beyond int32 where steps are small
    wholes = rng.integers(-(2**31), 2**31, channels).astype(np.int32)
    bias = draw(st.sampled_from([None, size * rng.normal(0, 1, channels), wholes, np.float32(wholes)]))
    clip = draw(st.sampled_from([None, (0.0, None), (0.0, 6.0), (None, -1.5), (-0.1, 0.3), (2.0, 2.0)]))
    dtype = draw(st.sampled_from(["int32", "uint8", "int8"]))
    return ends, bias, clip, dtype, draw(st.sampled_from([None, (None, 3.0), (-1e10, 1e9), "range", "narrow"]))


def tried(op, x, w, k, bound, options, exact, **more):
    """Run a layer on every tier, and compare it with the exact sums of products."""
    _, bias, clip, dtype, watch = options
    clip32 = clip and tuple(None if end is None else float(np.float32(end)) for end in clip)
    n = w[0].shape[-1]
    added = twin.biases(x, w, bias)
    values = twin.clipped([v + added[i % n] for i, v in enumerate(exact)], clip32 or (None, None))
    farthest = max(twin.tops(x, w, k, bias, clip32 or (None, None)), default=0)
    if dtype == "int32":
        if farthest < float("inf"):
            t = on_every_tier(op, x, w, bias, clip=clip, **more)
            check_32(t, values, twin.tops(x, w, k, bias, clip32 or (None, None)), bound[0])
        return
    most = max(
        [
            k * max(map(abs, x[1:])) * max(map(abs, ends)) + abs(float(b))
            for ends, b in zip(twin.channels(w), added, strict=True)
        ],
        default=0,
    )
    low, high = clip32 or (None, None)
    most = max(most, low or 0.0, -(high or 0.0))  # a clip beyond 0 moves results away from it
    words = {"dtype": dtype, "clip": clip, **more}
    if watch in ("range", "narrow"):
        near = float(values[0]) if values and watch == "narrow" else -0.1 * most
        half = (0.51 * NARROWEST if watch == "narrow" else 0.2) * most
        kept = rounded(max(near - half, -1e38), min(near + half, 1e38))
        if not kept[0] < kept[1] or kept[1] - kept[0] <= NARROWEST * most:
            return
        check_8(on_every_tier(op, x, w, bias, range=kept, **words), values, most, bound[1], kept)
    elif max(map(abs, values), default=0) < 1e38:
        check_8(
            on_every_tier(op, x, w, bias, guess=watch, **words), values, most, bound[1], None, watch or (None, None)
        )


def test_a_clip_on_one_side_of_zero_widens_no_range():
    nothing = np.zeros((0, 3), np.uint8), -1.0, 1.0
    found = qops.matmul(nothing, (np.zeros((3, 1), np.uint8), 0.0, 0.0), clip=(0.0, 6.0), dtype="uint8")
    assert (found.min, found.max) == (0.0, 0.0)


@given(x_span=SPANS, data=st.data())
def test_matmul_of_any_layer_within_bound(x_span, data):
    m, k, n = (data.draw(st.integers(low, high)) for low, high in ((0, 3), (0, 9), (1, 20)))
    rng, options = np.random.default_rng(data.draw(st.integers(0, 99))), data.draw(layers(n))
    types = [data.draw(st.sampled_from([np.uint8, np.int8])) for _ in "ab"]
    a = drawn(rng, (m, k), types[0]), *rounded(*x_span)
    ends = options[0] if np.ndim(options[0][0]) == 0 else [end.reshape(1, n) for end in options[0]]
    b = drawn(rng, (k, n), types[1]), *ends
    tried(qops.matmul, a, b, k, (BOUND_MATMUL, BOUND_MATMUL_8), options, twin.matmul(a, b)[0])


@given(x_span=SPANS, data=st.data())
def test_conv2d_of_any_layer_within_bound(x_span, data):
    """Groups, one channel each among them; padding, which is 0 whatever the range."""
    groups, c, each = (data.draw(st.integers(1, high)) for high in (4, 2, 3))
    n = groups * each
    rng, options = np.random.default_rng(data.draw(st.integers(0, 99))), data.draw(layers(n))
    types = [data.draw(st.sampled_from([np.uint8, np.int8])) for _ in "xw"]
    x = drawn(rng, (1, 4, 3, c * groups), types[0]), *rounded(*x_span)
    ends = options[0] if np.ndim(options[0][0]) == 0 else [end.reshape(1, 1, 1, n) for end in options[0]]
    w = drawn(rng, (2, 2, c, n), types[1]), *ends
    stride, pads = data.draw(st.sampled_from([((1, 1), ((0, 1), (1, 1))), ((2, 1), ((0, 0), (0, 0)))]))
    exact = twin.conv2d(x, w, stride, (1, 1), pads, groups)[0]
    words = {"stride": stride, "padding": pads, "groups": groups}
    tried(qops.conv2d, x, w, 4 * c, (BOUND_CONV2D, BOUND_CONV2D_8), options, exact, **words)


@pytest.mark.parametrize("n", [1, 7, 16, 33, 64, 80, 131, 300])
@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8"])
def test_layers_of_many_rows_and_columns_within_bound(n, dtype, rng):
    """Columns in whole vectors and not, each with a range and a bias of its own."""
    ends = np.sort(rng.normal(0, 1, (2, n)), 0).astype(np.float32) * np.float32(10.0 ** rng.integers(-3, 3, n))
    a, b = (drawn(rng, (5, 6), np.uint8), -1.0, 2.0), (drawn(rng, (6, n), np.int8), *ends[:, None])
    bias = rng.normal(0, 5, n)
    values = [v + Fraction(bias[i % n]) for i, v in enumerate(twin.matmul(a, b)[0])]
    t = on_every_tier(qops.matmul, a, b, bias, dtype=dtype)
    if dtype == "int32":
        check_32(t, values, twin.tops(a, b, 6, bias, (None, None)), BOUND_MATMUL)
    else:
        check_8(t, values, 0, BOUND_MATMUL_8)


def test_a_chain_of_five_layers_is_within_the_sum_of_the_bounds(rng):
    """Exact arithmetic beside it: what a layer adds is passed on by the absolute weights, and a clip widens nothing."""
    t = qops.quantize(rng.normal(0, 1, (3, 8)))
    exact = twin.exact_values((t.data, t.min, t.max))
    error = np.full((3, 8), Fraction(0))
    for number in range(5):
        weights = qops.quantize(rng.normal(0, 0.5, (8, 8)), axis=1, dtype=["int8", "uint8"][number % 2])
        bias, clip = rng.normal(0, 1, 8), [(0, None), (0, 6), None][number % 3]
        t = qops.matmul(t, weights, bias, dtype=["uint8", "int8"][number % 2], clip=clip)
        w = twin.exact_values((weights.data, weights.min, weights.max))
        added = np.array([Fraction(x) for x in bias], object)
        exact = np.reshape(twin.clipped((exact @ w + added).ravel().tolist(), clip or (None, None)), (3, 8))
        error = error @ np.abs(w) + Fraction(BOUND_MATMUL_8) * (Fraction(t.max) - Fraction(t.min)) / 255
        assert (np.abs(twin.exact_values((t.data, t.min, t.max)) - exact) <= error).all()
    assert len(np.unique(t.data)) > 4


def test_a_guess_is_kept_and_results_beyond_it_are_too(rng):
    a, b = qops.quantize(rng.normal(0, 1, (9, 30))), qops.quantize(rng.normal(0, 1, (30, 9)), dtype="int8")
    whole = qops.matmul(a, b, dtype="uint8")
    far = whole.max - whole.min
    assert qops.matmul(a, b, dtype="uint8", guess=(-2 * far, None)).min == pytest.approx(-2 * far, rel=1e-2)
    same(qops.matmul(a, b, dtype="uint8", guess=(0.9 * whole.min, 0.5)), whole)
    same(
        qops.matmul(a, b, dtype="uint8", guess=(0.0, 255.0), clip=(0, 255)),
        qops.matmul(a, b, dtype="uint8", range=(0, 255)),
    )


def test_a_kept_range_saturates():
    a, b = (np.uint8([[0, 100, 255]]).T, 0.0, 255.0), (np.int8([[1]]), -128.0, 127.0)
    for dtype, lowest in (("uint8", 0), ("int8", -128)):
        codes = qops.matmul(a, b, dtype=dtype, range=(50.0, 152.0)).data.ravel().astype(int) - lowest
        assert codes.tolist() == [0, 125, 255]
        assert (qops.matmul(a, b, dtype=dtype, range=(3.0, 3.0)).data == lowest).all()


def test_an_int32_bias_counts_the_product_of_both_steps():
    a, b = (np.uint8([[7]]), 0.0, 51.0), (np.int8([[1, 2]]), -64.0, 63.5)
    t = qops.matmul(a, b, np.int32([10, -10]))
    assert t.data.tolist() == [[7 * 1 + 10, 7 * 2 - 10]]
    assert t.scale == pytest.approx(0.1)
    same(t, qops.matmul(a, b, [1.0, -1.0]))


def test_padding_and_steps_of_one_number_mean_both(rng):
    x, w = (drawn(rng, (1, 6, 7, 2), np.uint8), -1.0, 2.0), (drawn(rng, (3, 3, 2, 4), np.int8), -1.0, 1.0)
    same(qops.conv2d(x, w, stride=2, padding=1), qops.conv2d(x, w, stride=(2, 2), padding=((1, 1), (1, 1))))
    same(
        qops.conv2d(x, w, dilation=2, padding=(1, (2, 0))), qops.conv2d(x, w, dilation=(2, 2), padding=((1, 1), (2, 0)))
    )
    same(qops.conv2d(x, w, padding="same"), qops.conv2d(x, w, padding="SAME"))
    same(qops.conv2d(x, w), qops.conv2d(x, w, padding="valid"))


@pytest.mark.parametrize("dtype", ["int32", "uint8"])
def test_groups_are_convolutions_side_by_side(dtype, rng):
    x, w = drawn(rng, (2, 5, 6, 6), np.uint8), drawn(rng, (3, 3, 2, 9), np.int8)
    words = {"dtype": dtype, "padding": 1} | ({"range": (-9.0, 9.0)} if dtype == "uint8" else {})
    whole = qops.conv2d((x, -1.0, 2.0), (w, -0.7, 2.0), groups=3, num_threads=2, **words).data
    for g in range(3):
        part = qops.conv2d((x[..., 2 * g : 2 * g + 2], -1.0, 2.0), (w[..., 3 * g : 3 * g + 3], -0.7, 2.0), **words).data
        np.testing.assert_array_equal(whole[..., 3 * g : 3 * g + 3], part)


@pytest.mark.parametrize("ends", [(-1.0, 2.0), (0.3, 2.0)], ids=["0 inside", "0 outside"])
@pytest.mark.parametrize(
    "words", [{}, {"dtype": "uint8", "range": (-30.0, 30.0)}, {"dtype": "int8", "guess": (-900.0, 900.0)}]
)
def test_rows_and_images_are_the_same_alone_and_in_any_number_of_parts(ends, words, rng):
    """So many that their sums do not fit in one batch, with terms of rows, of columns and of the image's border."""
    a, w = drawn(rng, (301, 20), np.uint8), (drawn(rng, (20, 333), np.int8), -0.4, 1.0)
    alone = np.concatenate([qops.matmul((row[None], *ends), w, **words).data for row in a])
    x, f = drawn(rng, (3, 21, 23, 5), np.uint8), (drawn(rng, (3, 2, 5, 40), np.int8), -0.4, 1.0)
    apart = np.concatenate([qops.conv2d((image[None], *ends), f, padding=1, **words).data for image in x])
    for count in (1, 2, 3, 50, 400):
        np.testing.assert_array_equal(qops.matmul((a, *ends), w, num_threads=count, **words).data, alone)
        np.testing.assert_array_equal(qops.conv2d((x, *ends), f, padding=1, num_threads=count, **words).data, apart)


def test_depthwise_filters_of_many_channels_within_bound(rng):
    x, w = (drawn(rng, (1, 3, 3, 300), np.uint8), -1.0, 2.0), (drawn(rng, (2, 2, 1, 300), np.int8), -0.3, 1.0)
    values = twin.conv2d(x, w, groups=300)[0]
    check_8(on_every_tier(qops.conv2d, x, w, groups=300, dtype="int8"), values, 0, BOUND_CONV2D_8)


A, B = (np.zeros((2, 3), np.uint8), -1.0, 1.0), np.zeros((3, 4), np.int8)
X, W = (np.zeros((1, 4, 4, 6), np.uint8), 0.0, 1.0), np.zeros((2, 2, 2, 6), np.int8)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"b": (B, np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))}, r"b: shapes \(1, 3\)"),
        ({"b": (B, np.zeros((3, 1), np.float32), np.ones((3, 1), np.float32))}, r"b: expected one range or ends of sh"),
        ({"b": (B.astype(np.int16), np.zeros(4, np.float32), np.ones(4, np.float32))}, "b: expected uint8 or int8"),
        ({"b": (B, np.ones((1, 4), np.float32), np.zeros((1, 4), np.float32))}, "b: has a range with min > max"),
        (
            {"a": (A[0], np.zeros((1, 3), np.float32), np.ones((1, 3), np.float32))},
            "a: expected one range or ends",
        ),
        ({"bias": np.zeros(3)}, r"bias: expected shape \(4,\), one value for each output channel, got \(3,\)"),
        ({"bias": 1.0}, r"bias: expected shape \(4,\)"),
        ({"bias": np.int64([1, 2, 3, 4])}, "bias: .* real values, .* codes, got int64, which could be either"),
        ({"bias": [0.0, 0.0, 0.0, np.nan]}, "bias: has a value that is not finite in float32"),
        ({"bias": [0.0, 0.0, 0.0, 1e39]}, "bias: has a value that is not finite in float32"),
        ({"dtype": "int16"}, "dtype: expected int32, uint8, int8, got 'int16'"),
        ({"dtype": "float32"}, "dtype: expected int32, uint8, int8, got 'float32'"),
        ({"range": (0.0, 1.0)}, "range: int32 codes have the range of all possible sums"),
        ({"guess": (0.0, 1.0)}, "guess: int32 codes have"),
        ({"dtype": "uint8", "range": (0.0, 1.0), "guess": (0.0, 1.0)}, "range: give range or guess, not both"),
        ({"dtype": "uint8", "range": (0.0, None)}, "range max: expected a number, got None"),
        ({"dtype": "uint8", "range": (2.0, 1.0)}, "range: min 2.0 > max 1.0"),
        ({"dtype": "uint8", "range": (0.0, 1e-9)}, r"range: \(0.0, .*\) is too narrow for sums of up to 3"),
        ({"dtype": "uint8", "range": 5}, r"range: expected \(min, max\), got 5"),
        ({"dtype": "uint8", "guess": (2.0, 1.0)}, "guess: min 2.0 > max 1.0"),
        ({"dtype": "uint8", "guess": (-HUGE, HUGE)}, "a, b: the range of the results"),
        ({"clip": (2.0, 1.0)}, "clip: min 2.0 > max 1.0"),
        ({"clip": (np.nan, None)}, "clip min: nan is not a finite float32"),
        ({"clip": 6}, r"clip: expected \(min, max\), got 6"),
        ({"dtype": "uint8", "out": np.zeros((2, 4), np.int8)}, "out: expected native uint8"),
    ],
)
def test_layers_refuse(changes, text):
    words = {"a": A, "b": (B, -1.0, 1.0), **changes}
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.matmul(**words)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"groups": 4}, "groups: expected a divisor of the 6 filters of w, got 4"),
        ({"groups": 0}, "groups: expected an integer in"),
        ({"groups": 2}, "x: expected images of 4 channels, as w has 2 in each of 2 groups: "),
        ({"x": (X[0][:, :0], 0.0, 1.0)}, r"x: expected \(N, H, W, C\), each at least 1"),
        ({"w": (W, np.zeros((1, 1, 2, 1), np.float32), 1.0)}, r"w: expected one range or ends of shape \(1, 1, 1, 6\)"),
        ({"bias": np.zeros(5)}, r"bias: expected shape \(6,\)"),
        ({"stride": (1, 0)}, "stride: expected an integer in"),
        ({"padding": -1}, "padding: expected an integer in"),
        ({"padding": 1.5}, "padding: expected an integer"),
        ({"padding": "full"}, "padding: expected 'same', 'valid' or numbers of pixels, got 'full'"),
        ({"padding": ((1, 2), (3, 4), (5, 6))}, "padding: expected 2 integers"),
    ],
)
def test_convolutions_refuse(changes, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        qops.conv2d(**{"x": X, "w": (W, -1.0, 1.0), "groups": 3, **changes})


def test_ranges_of_channels_may_be_unaligned_or_swapped():
    """A CPU may read unaligned ones all the same: `make debug` tells."""
    lo, hi = np.float32([[-1, -2, -3]]), np.float32([[1, 2, 3]])
    odd = [np.zeros(13, np.uint8)[1:].view(np.float32).reshape(1, 3) for _ in "ab"]
    for place, ends in zip(odd, (lo, hi), strict=True):
        place[...] = ends
    x, w = (np.uint8([[5, 200]]), -1.0, 1.0), np.int8([[9, -3, 77], [100, 4, -100]])
    other = qops.matmul(x, (w, lo, hi))
    for ends in (odd, (lo.astype(">f4"), hi)):
        one = qops.matmul(x, (w, *ends))
        assert (one.data.tolist(), one.max.tolist()) == (other.data.tolist(), other.max.tolist())

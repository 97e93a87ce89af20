"""max_pool and avg_pool against windows of Python integers: any window, all pairs of codes, large windows, refusals."""

from fractions import Fraction

import numpy as np
import pytest
import reference
from cases import A, B
from hypothesis import given
from hypothesis import strategies as st
from ops import on_every_tier

import qops
from qops.frontdoor.pool import BOUND_AVG_POOL

POOLS = [qops.max_pool, qops.avg_pool]


def check(codes, kernel, stride=None, padding=0, sides=((0, 0), (0, 0))):
    """Every code: of max the largest, of avg the mean rounded half to even; `sides` is the padding, pixel by pixel."""
    step = stride or kernel
    t = on_every_tier(qops.max_pool, (codes, -1.5, 3.0), kernel, stride=stride, padding=padding)
    assert (t.min, t.max, t.data.dtype) == (-1.5, 3.0, codes.dtype)
    np.testing.assert_array_equal(t.data, reference.max_pool(codes, kernel, step, sides).astype(codes.dtype))
    t = on_every_tier(qops.avg_pool, (codes, 1.5, 3.0), kernel, stride=stride, padding=padding)
    assert (t.min, t.max, t.data.dtype) == (1.5, 3.0, codes.dtype)
    means = reference.avg_pool(codes, kernel, step, sides)
    np.testing.assert_array_equal(t.data, np.vectorize(round, otypes=[codes.dtype])(means))


@given(data=st.data(), dtype=st.sampled_from([np.uint8, np.int8]))
def test_pools_of_any_window_match(data, dtype):
    shape = [data.draw(st.integers(1, most)) for most in (2, 9, 9, 5)]
    info = np.iinfo(dtype)
    codes = np.random.default_rng(data.draw(st.integers(0, 99))).integers(info.min, info.max + 1, shape).astype(dtype)
    kernel = tuple(data.draw(st.integers(1, 5)) for _ in range(2))
    stride = tuple(data.draw(st.integers(1, 4)) for _ in range(2))
    sides = tuple(tuple(data.draw(st.integers(0, k - 1)) for _ in range(2)) for k in kernel)
    if all(n + sum(pads) >= k for n, pads, k in zip(shape[1:3], sides, kernel, strict=True)):
        check(codes, kernel, stride, sides, sides)
    check(codes, kernel, stride, "same", reference.same_pads(shape[1:3], kernel, stride))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_pools_of_all_pairs_of_codes(dtype):
    """Half of the means are ties."""
    pairs = np.stack([A, B], axis=-1).view(dtype).reshape(1, 256, 512, 1)
    one, other = (x.astype(int) for x in (pairs[..., ::2, :], pairs[..., 1::2, :]))
    largest = on_every_tier(qops.max_pool, (pairs, 0.0, 1.0), (1, 2))
    np.testing.assert_array_equal(largest.data, np.maximum(one, other))
    mean = on_every_tier(qops.avg_pool, (pairs, 0.0, 1.0), (1, 2))
    down, tie = (one + other) // 2, (one + other) % 2 == 1
    np.testing.assert_array_equal(mean.data, down + (tie & (down % 2 == 1)))


@pytest.mark.parametrize("op", POOLS)
def test_pools_take_one_number_for_both_axes(op):
    t = np.random.default_rng(3).integers(0, 256, (2, 7, 8, 3), dtype=np.uint8), 0.0, 1.0
    assert op(t, 2) == op(t, (2, 2)) == op(t, [2, 2], stride=2) == op(t, 2, stride=(2, 2), padding="VALID")
    assert op(t, 3, padding=1) == op(t, 3, padding=(1, 1)) == op(t, 3, padding=((1, 1), [1, 1]))
    assert op(t, 3, padding=(2, 1)) == op(t, 3, padding=((2, 2), 1))
    assert op(t, 3, stride=1, padding="same").shape == t[0].shape
    assert op(t, None) == op(t, (7, 8))
    assert op(t, None).shape == (2, 1, 1, 3)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("height", "width"), [(255, 257), (300, 300), (1, 70000), (3000, 3000)])
def test_avg_pool_of_large_windows(dtype, height, width):
    """Sums next to a tie: exact up to 65535 pixels, within the bound above, refused where int32 does not hold sums."""
    info, count = np.iinfo(dtype), height * width
    codes = np.full((1, height, width, 1), info.max, dtype)
    if count > 2**23:
        with pytest.raises(ValueError, match=r"^kernel: expected at most 8388608 pixels, got \(3000, 3000\)"):
            qops.avg_pool((codes, 0.0, 1.0), None)
        assert qops.max_pool((codes, 0.0, 1.0), None).data.item() == info.max
        return
    for lower in (0, 1, count // 2, (count + 1) // 2, (count + 3) // 2):
        codes.ravel()[:lower] = info.max - 1
        exact = Fraction(int(codes.sum(dtype=np.int64)), count)
        got = on_every_tier(qops.avg_pool, (codes, 0.0, 1.0), None).data.item()
        assert abs(got - exact) <= (BOUND_AVG_POOL if count > 65535 else Fraction(1, 2))
        if count <= 65535:
            assert got == round(exact)


@pytest.mark.parametrize("padding", [2, ((2, 0), (0, 0)), ((0, 0), (1, 2))])
def test_no_padding_holds_a_whole_window(padding):
    with pytest.raises(ValueError, match=r"^padding: expected less than the kernel, \(2, 2\), got"):
        qops.max_pool((np.zeros((1, 4, 4, 1), np.uint8), 0.0, 1.0), 2, padding=padding)


def test_padding_does_not_count():
    codes = np.full((1, 2, 2, 1), -100, np.int8)
    for op in POOLS:
        assert (op((codes, -2.0, -1.0), 3, stride=1, padding="same").data == -100).all()


IMAGE = np.zeros((1, 4, 5, 2), np.uint8), 0.0, 1.0


@pytest.mark.parametrize("op", POOLS)
@pytest.mark.parametrize(
    ("t", "kernel", "words", "text"),
    [
        ((IMAGE[0].astype(np.int32), -1.0, 1.0), 2, {}, "t: expected uint8 or int8 data, got int32"),
        ((IMAGE[0][0], 0.0, 1.0), 2, {}, r"t: expected \(N, H, W, C\), each at least 1, got shape \(4, 5, 2\)"),
        ((IMAGE[0][:0], 0.0, 1.0), 2, {}, "t: expected"),
        (IMAGE, 0, {}, "kernel: expected an integer in"),
        (IMAGE, 1.0, {}, "kernel: expected an integer, got 1.0"),
        (IMAGE, (1, 2, 3), {}, "kernel: expected 2 integers"),
        (IMAGE, (5, 1), {}, r"kernel: expected a window that fits in images of \(4, 5\)"),
        (IMAGE, 2, {"stride": 0}, "stride: expected"),
        (IMAGE, 2, {"stride": (1, None)}, "stride: expected an integer"),
        (IMAGE, 2, {"padding": 2}, r"padding: expected less than the kernel, \(2, 2\), got 2"),
        (IMAGE, (3, 1), {"padding": (1, 1)}, r"padding: expected less than the kernel, \(3, 1\), got \(1, 1\)"),
        (IMAGE, 2, {"padding": -1}, "padding: expected an integer in"),
        (IMAGE, 2, {"padding": (1, 1, 1)}, "padding: expected 2 integers"),
        (IMAGE, 2, {"padding": ((1, 1), (1, 1.5))}, "padding: expected an integer, got 1.5"),
        (IMAGE, 2, {"padding": "full"}, "padding: expected 'same', 'valid' or numbers of pixels, got 'full'"),
        (IMAGE, 2, {"padding": None}, "padding: expected"),
        (IMAGE, 2, {"out": np.empty((1, 2, 2, 2), np.int8)}, "out: expected native uint8"),
        (IMAGE, 2, {"out": np.empty((1, 2, 3, 2), np.uint8)}, "out: shape"),
        (IMAGE, 1, {"out": IMAGE[0]}, "out: shares memory"),
    ],
)
def test_pools_refuse(op, t, kernel, words, text):
    with pytest.raises((TypeError, ValueError), match=f"^{text}"):
        op(t, kernel, **words)

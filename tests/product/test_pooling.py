"""Means of every sum, and pools on every tier, against their formulas."""

import sys

import numpy as np
import pytest
from ops import on_every_tier
from qops._kernels.arrays.window import Window

from qops._kernels.pool import pooling
from qops._kernels.stage import prepared as stages

COUNTS = (1, 2, 3, 4, 6, 7, 9, 14, 25, 28, 49, 64, 127, 128, 144)


def every_sum(dtype, count, step=1):
    """A window of so many taps in a row, a channel for each sum that it can have, or for some and the largest."""
    info = np.iinfo(dtype)
    sums = np.append(np.arange(info.min * count, info.max * count, step), info.max * count)
    part, over = np.divmod(sums, count)
    return sums, (part + (np.arange(count)[:, None] < over)).astype(dtype).reshape(1, 1, count, -1)


def formula(sums, count, rule):
    """What pooling.pyx says of a mean."""
    if rule == "reciprocal":
        return np.rint(sums.astype(np.float32) * (np.float32(1) / np.float32(count)))
    if rule == "quotient":
        return np.rint(sums.astype(np.float32) / np.float32(count))
    if rule == "truncate":
        return np.sign(sums) * (abs(sums) // count)
    if rule == "half_away":
        return np.sign(sums) * np.floor(abs(sums) / count + 0.5)
    return np.clip((sums.astype(np.int16).astype(int) * min(32768 // count, 32767) + 0x4000) >> 15, 0, 255)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_means_of_every_sum(dtype):
    for count in COUNTS:
        sums, image = every_sum(dtype, count)
        for rule in pooling.RULES if dtype == np.uint8 else list(pooling.RULES)[:4]:
            got = on_every_tier(pooling.means, image, (1, count), Window(), rule)
            assert got.dtype == dtype
            assert np.array_equal(got[0, 0, 0], formula(sums, count, rule)), (count, rule)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kernel", [(17, 16), (255, 2), (256, 1), (300, 2), (1, 255), (1, 256), (1, 257), (1, 258)])
def test_means_of_more_taps_than_16_bits_hold(dtype, kernel):
    count = kernel[0] * kernel[1]
    sums, image = every_sum(dtype, count, 97)
    image = image.reshape(1, *kernel, -1)
    for rule in pooling.RULES if dtype == np.uint8 else list(pooling.RULES)[:4]:
        assert np.array_equal(pooling.means(image, kernel, Window(), rule)[0, 0, 0], formula(sums, count, rule)), rule


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("kernel", [(1, 1), (3, 2), (2, 200), (260, 2)])
def test_codes_by_a_stage(rng, kernel, dtype):
    """A stage takes sums, or means of values, which are added one after the other."""
    info, size, f32 = np.iinfo(dtype), kernel[0] * kernel[1], np.float32
    image = rng.integers(info.min, info.max + 1, (2, max(5, kernel[0]), 203 if kernel[0] < 5 else 4, 19)).astype(dtype)
    taps = Window().taps(image.transpose(0, 3, 1, 2).astype(int), kernel, 0).transpose(0, 2, 3, 1, 4, 5)
    near = stages.FloatStage(1 / size, "half_even", info.min, info.max, shift=7)
    want = np.rint((taps.sum((4, 5)) - 3 * size).astype(f32) * f32(1 / size)) + 7
    got = on_every_tier(pooling.coded, image, kernel, Window(), near, 3 * size)
    assert np.array_equal(got, want.clip(info.min, info.max))
    total = f32(0)
    for tap in np.moveaxis(taps.reshape(*taps.shape[:4], size), -1, 0):
        total = total + (tap - 3).astype(f32) * f32(0.1)
    over = stages.FloatStage(0.3, "half_even", info.min, info.max, form="over", plus=7)
    want = np.rint(total / f32(size) / f32(0.3) + f32(7)).clip(info.min, info.max)
    assert np.array_equal(on_every_tier(pooling.coded, image, kernel, Window(), over, 3, 0.1), want)


@pytest.mark.parametrize("channels", [1, 3, 16, 31, 32, 63, 64, 65, 130])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_all_channels(rng, channels, dtype):
    image = rng.integers(-128, 128, (2, 9, 11, channels)).astype(dtype)
    for kernel, stride, pads in (((2, 2), 2, 0), ((3, 3), 2, 1), ((3, 2), 1, 1), ((1, 5), 3, 2), ((9, 11), 1, 0)):
        window = Window((stride, stride), padding=((min(pads, kernel[0] - 1),) * 2, (pads, pads)))
        taps = window.taps(image.transpose(0, 3, 1, 2).astype(int), kernel, -1000).transpose(0, 2, 3, 1, 4, 5)
        valid = np.where(taps == -1000, 0, taps)
        sums, count = valid.sum((4, 5)), (taps != -1000).sum((4, 5))
        assert np.array_equal(on_every_tier(pooling.largest, image, kernel, window), taps.max((4, 5)))
        assert np.array_equal(on_every_tier(pooling.totals, image, kernel, window), sums)
        wide = image.astype(np.int32) * 2**28
        wrapped = (sums * 2**28).astype(np.int32)
        assert np.array_equal(on_every_tier(pooling.totals, wide, kernel, window), wrapped)
        for padding, n in ((False, count), (True, np.full_like(count, kernel[0] * kernel[1]))):
            got = on_every_tier(pooling.means, image, kernel, window, "truncate", padding=padding)
            assert np.array_equal(got, np.sign(sums) * (abs(sums) // n))


def test_out_and_any_layout(rng):
    image = rng.integers(0, 256, (2, 40, 6, 8), np.uint8).transpose(0, 2, 3, 1)
    window = Window((2, 2))
    expected = np.ascontiguousarray(image).reshape(2, 3, 2, 4, 2, 40).max((2, 4))
    for out in (np.empty((2, 3, 4, 40), np.uint8), np.empty((2, 40, 3, 4), np.uint8).transpose(0, 2, 3, 1)):
        assert pooling.largest(image, (2, 2), window, out) is out
        assert np.array_equal(out, expected)
    with pytest.raises(ValueError, match="out: shares memory"):
        pooling.largest(image, (1, 1), Window(), image)
    with pytest.raises(ValueError, match=r"rule: expected one of reciprocal, .* got 'q15'"):
        pooling.means(image.view(np.int8), (2, 2), window, "q15")
    with pytest.raises(ValueError, match="image: expected 4 dimensions"):
        pooling.largest(image[0], (2, 2), window)


# --- sizes of a half of what Py_ssize_t counts, or a little more


def test_distances_near_the_largest():
    """A window of which only the second tap is on the image: the distances to both add up to more than the largest."""
    far, image = sys.maxsize // 2 + 5, np.full((1, 1, 1, 3), 7, np.uint8)
    across = Window(dilation=(1, far), padding=((0, 0), (far, 0)))
    down = Window(dilation=(far, 1), padding=((far, 0), (0, 0)))
    for window, kernel in ((across, (1, 2)), (down, (2, 1))):
        assert np.array_equal(pooling.largest(image, kernel, window), image)
        assert np.array_equal(pooling.totals(image, kernel, window), image)


def test_more_taps_than_32_bits_count():
    image, ends = np.full((1, 1, 1, 1), 200, np.uint8), (2**16 - 1, 0)
    for rule in ("reciprocal", "quotient", "truncate"):
        made = pooling.means(image, (2**16, 2**16), Window(padding=(ends, ends)), rule, padding=True)
        assert made.item() == 0  # 200 / 2**32


def test_sums_beyond_memory_are_refused():
    """In 32 bits there may be memory for the codes, but not for their sums of four bytes."""
    window = Window(padding=((0, 0), (0, sys.maxsize // 2)))
    with pytest.raises(MemoryError):
        pooling.means(np.ones((1, 1, 1, 1), np.uint8), (1, 1), window, "truncate")

"""`qops.rules.average_pool` with strides, padding, clamps and int16, beside windows that Python adds one by one."""

import numpy as np
import pytest

from qops import rules
from qops.rules import AVERAGE_POOL

F = np.float32
SX, ZX, SY, ZY = 0.5, 9, 0.3, 3
MOVES = {
    "strides": {"stride": (2, 3)},
    "stride of both": {"stride": 2},
    "padding": {"padding": 1},
    "uneven padding": {"padding": ((1, 0), (0, 2))},
    "both": {"stride": (1, 2), "padding": (1, 2)},
    "same": {"padding": "same"},
    "same, strides": {"padding": "same", "stride": 2},
}


def pads_of(moves, size, kernel, stride):
    """Pixels before and behind the image along both axes."""
    padding = moves.get("padding", 0)
    if padding == "same":
        total = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(size, kernel, stride, strict=True)]
        return [(t // 2, t - t // 2) for t in total]
    both = padding if isinstance(padding, tuple) else (padding, padding)
    return [p if isinstance(p, tuple) else (p, p) for p in both]


def windows(x, kernel, moves):
    """For each place of the result, its index and its taps on the image, row after row: (taps, C)."""
    stride = moves.get("stride", 1)
    stride = stride if isinstance(stride, tuple) else (stride, stride)
    pads = pads_of(moves, x.shape[:2], kernel, stride)
    count = [(n + sum(p) - k) // s + 1 for n, p, k, s in zip(x.shape, pads, kernel, stride, strict=False)]
    for i, j in np.ndindex(*count):
        rows = [r for r in range(i * stride[0] - pads[0][0], i * stride[0] - pads[0][0] + kernel[0])]
        columns = [c for c in range(j * stride[1] - pads[1][0], j * stride[1] - pads[1][0] + kernel[1])]
        inside = [(r, c) for r in rows for c in columns if 0 <= r < x.shape[0] and 0 <= c < x.shape[1]]
        yield (i, j), np.array([x[at] for at in inside]).astype(int)


TORCH_BLOCKS = {"torch-nchw": 99, "torch-nhwc": 16, "torch-nhwc-avx2": 8, "torch-2.14-nhwc": 1}


def fma(a, b, c):
    return (np.longdouble(a) * np.longdouble(b) + np.longdouble(c)).astype(F)


BY_HAND = {  # the quotients of whole numbers; `//` floors
    "floor": lambda total, stored, n: stored // n,
    "half-up": lambda total, stored, n: (2 * stored + n) // (2 * n),
    "truncate-stored": lambda total, stored, n: np.sign(stored) * (abs(stored) // n),
    "truncate": lambda total, stored, n: np.sign(total) * (abs(total) // n) + ZX,
    "away": lambda total, stored, n: np.sign(total) * ((2 * abs(total) + n) // (2 * n)) + ZX,
    "even": lambda total, stored, n: np.rint(total.astype(F) / F(n)) + ZX,
}


def rounded(rule, taps, n):
    """The result of one window before it is clamped, with the zero point."""
    total = (taps - ZX).sum(0)
    if rule in BY_HAND:
        padded = taps.sum(0) + (n - len(taps)) * ZX
        return BY_HAND[rule](total, padded, n)
    if rule == "away-stored":
        stored = taps.sum(0)
        return np.where(stored > 0, (stored + n // 2) // n, -((-stored + n // 2) // n))
    if rule == "torch-arm-nchw":
        return np.rint(fma(total, F(1) / F(n), F(ZX)))
    if rule in TORCH_BLOCKS:
        mean, block = total.astype(F) * (F(1) / F(n)), TORCH_BLOCKS[rule]
        whole = len(total) // block * block
        return np.where(np.arange(len(total)) < whole, np.rint(mean) + ZX, np.rint(mean + F(ZX)))
    if rule in ("ort", "ort-arm"):
        real = np.zeros(len(total), F)
        for tap in taps:
            real = real + (tap - ZX).astype(F) * F(SX)
        return np.rint(real / F(n) / F(SY) + F(ZY))
    y, zero = (SX, ZX) if rule == "torch-qnnpack" else (SY, ZY)
    return np.rint(total.astype(F) * (F(SX) / (F(y) * F(n)))) + zero


def numbers(rule):
    own = {"x_scale": SX, "y_scale": SY, "y_zero_point": ZY} if AVERAGE_POOL[rule].rescales else {"x_scale": SX}
    return {"zero_point": ZX, **own}


def pooled(x, rule, kernel, moves, counts_all):
    """The codes of one image after the other."""
    info, images = np.iinfo(x.dtype), []
    for image in x:
        of = {
            at: rounded(rule, t, kernel[0] * kernel[1] if counts_all else len(t))
            for at, t in windows(image, kernel, moves)
        }
        last = max(of)
        images.append([[of[i, j] for j in range(last[1] + 1)] for i in range(last[0] + 1)])
    return np.array(images).clip(info.min, info.max)


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("rule", AVERAGE_POOL)
def test_windows_move_and_are_cut(rng, rule, dtype, moves):
    info, kernel = np.iinfo(dtype), (2, 3)
    for size in ((6, 7), (2, 3), (5, 4)):
        x = rng.integers(info.min, info.max + 1, (2, *size, 19)).astype(dtype)
        for counts in {"image": [False], "all": [True]}.get(AVERAGE_POOL[rule].counts, [False, True]):
            got = rules.average_pool(x, rule, kernel=kernel, **numbers(rule), **moves, count_padding=counts)
            has_pads = any(map(sum, pads_of(moves, size, kernel, np.broadcast_to(moves.get("stride", 1), 2).tolist())))
            own = "ort-global" if rule in ("ort", "ort-arm") and size == kernel and not has_pads else rule
            np.testing.assert_array_equal(got, pooled(x, own, kernel, moves, counts))
            out = np.zeros(got.shape[::-1], dtype).T
            op = rules.AveragePool(rule, kernel=kernel, **numbers(rule), **moves, count_padding=counts, dtype=dtype)
            assert op(x, out) is out
            np.testing.assert_array_equal(out, got)


@pytest.mark.parametrize(("rule", "counts"), [("torch-nchw", False), ("torch-qnnpack", True), ("away-stored", False)])
def test_what_counts_by_default(rng, rule, counts):
    x = rng.integers(0, 256, (1, 5, 5, 3)).astype(np.uint8)
    got = rules.average_pool(x, rule, kernel=(3, 3), padding=1, **numbers(rule))
    np.testing.assert_array_equal(got, pooled(x, rule, (3, 3), {"padding": 1}, counts))


@pytest.mark.parametrize("rule", AVERAGE_POOL)
def test_a_clamped_mean_is_the_mean_clamped(rng, rule):
    x = rng.integers(0, 256, (1, 9, 9, 19)).astype(np.uint8)
    free = rules.average_pool(x, rule, kernel=(2, 1), padding=(1, 0), **numbers(rule))
    got = rules.average_pool(x, rule, kernel=(2, 1), padding=(1, 0), **numbers(rule), qmin=60, qmax=130)
    np.testing.assert_array_equal(got, free.clip(60, 130))
    assert free.min() < 60 < 130 < free.max()


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
def test_codes_of_16_bits(tier, rng, moves):
    x = rng.integers(-32768, 32768, (2, 6, 7, 35)).astype(np.int16)
    got = rules.average_pool(x, "away-stored", kernel=(2, 3), zero_point=0, **moves)
    np.testing.assert_array_equal(got, pooled(x, "away-stored", (2, 3), moves, False))
    assert got.dtype == np.int16
    out = np.zeros(got.shape[::-1], np.int16).T
    rules.average_pool(x, "away-stored", kernel=(2, 3), zero_point=0, **moves, out=out)
    np.testing.assert_array_equal(out, got)


@pytest.mark.parametrize("size", [(128, 128), (127, 129), (129, 127), (1, 16381), (3, 5461)])
def test_the_largest_windows_of_16_bits_are_exact(rng, size):
    """Sums beside every tie and at both ends: the reciprocal has 31 bits."""
    n = size[0] * size[1]
    means = rng.integers(-32767, 32767, 40)
    sums = np.concatenate(
        [means * n + n // 2 + k for k in (-1, 0, 1)] + [np.array([-32768 * n, 32767 * n, n // 2, -(n // 2)])]
    )
    sums = sums.clip(-32768 * n, 32767 * n)
    whole, rest = np.divmod(sums, n)
    x = (whole[:, None] + (np.arange(n) < rest[:, None])).astype(np.int16).reshape(len(sums), *size, 1)
    got = rules.average_pool(x, "away-stored", kernel=size, zero_point=0).ravel()
    want = np.where(sums > 0, (sums + n // 2) // n, -((-sums + n // 2) // n))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("zero", [0, 100])
def test_a_mean_that_int32_does_not_hold_becomes_the_lowest_code(zero):
    """As onnxruntime 1.32 gives it; 255 at a scale of 8.4e6 still fits."""
    x = np.full((1, 3, 3, 2), 255, np.uint8)
    for scale, code in ((8.4e6, 255), (8.43e6, 0), (1e30, 0)):
        how = {"kernel": (2, 2), "zero_point": 0, "x_scale": scale, "y_scale": 1.0, "y_zero_point": zero}
        assert set(rules.average_pool(x, "ort", **how).ravel().tolist()) == {code}

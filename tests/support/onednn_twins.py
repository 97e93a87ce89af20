"""Slow twins, written from the formulas in Python integers and single f32 scalars; they share no code with onednn."""

import itertools
from fractions import Fraction

import numpy as np
from product_models import exact_model, saturating_model

F = np.float32


def sat16(x):
    return max(-32768, min(32767, x))


def wrap32(x):
    return (x + 2**31) % 2**32 - 2**31


def dot(a, b, saturates, starts=(0,)):
    """Sum of a[i]*b[i] for lists of ints, by pairs that start anew at each of `starts`."""
    if not saturates:
        return wrap32(sum(x * y for x, y in zip(a, b, strict=True)))
    total = 0
    for lo, hi in itertools.pairwise([*starts, len(a)]):
        for i in range(lo, hi, 2):
            total += sat16(sum(a[j] * b[j] for j in range(i, min(i + 2, hi))))
    return wrap32(total)


def k_starts(k, block, single):
    if k <= single:
        return [0]
    step = -(-k // 2) if k < 2 * block else block
    return list(range(0, k, step))


def matrix(a, b, saturates, starts=(0,)):
    """Product of 2-d integer arrays; an s8 left side is shifted and compensated."""
    return saturating_model(a, b, starts) if saturates else exact_model(a, b)


def nearest_f32(exact):
    """Round a Fraction half to even to f32, by comparing the three candidates."""
    middle = F(float(exact))
    candidates = {float(np.nextafter(middle, F(-np.inf))), float(middle), float(np.nextafter(middle, F(np.inf)))}

    def key(x):
        return abs(Fraction(x) - exact), int(F(x).view(np.int32)) & 1

    return F(min(candidates, key=key))


def fma(a, b, c):
    return nearest_f32(Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c)))


def store(x, dt):
    """q(x) of one f32."""
    if dt == "f32":
        return F(x)
    low, high = {"u8": (0, 255), "s8": (-128, 127), "s32": (-(2**31), 2147483520)}[dt]
    exact = min(max(Fraction(float(x)), low), high)
    return round(exact)  # Python rounds a Fraction half to even


def convolution(src, weights, stride, dilation, pad, src_zp, saturates, halved):
    """Accumulate in Python integers, weights (G, O, I, KH, KW) halved if asked; before doubling.

    Padding is 0, and no zero point is subtracted there.
    """
    shift = 128 if src.dtype == np.int8 else 0
    w = weights.astype(int)
    if halved:
        w = np.array([round(Fraction(int(v), 2)) for v in w.ravel()]).reshape(w.shape)
    n, _, h, width = src.shape
    groups, outs, ins, kh, kw = w.shape
    size = [
        (x + 2 * p - ((k - 1) * (d + 1) + 1)) // s + 1
        for x, p, k, d, s in zip((h, width), pad, (kh, kw), dilation, stride, strict=True)
    ]
    acc = np.zeros((n, groups * outs, *size), np.int64)
    for i, g, o, y, x in itertools.product(range(n), range(groups), range(outs), *map(range, size)):
        total = 0
        for ky, kx in itertools.product(range(kh), range(kw)):
            row = y * stride[0] - pad[0] + ky * (dilation[0] + 1)
            col = x * stride[1] - pad[1] + kx * (dilation[1] + 1)
            inside = 0 <= row < h and 0 <= col < width
            codes = src[i, g * ins : (g + 1) * ins, row, col].tolist() if inside else [0] * ins
            tap = w[g, o, :, ky, kx].tolist()
            shifted = [code + shift for code in codes]
            total += dot(shifted, tap, saturates) - (shift + (src_zp if inside else 0)) * sum(tap)
        acc[i, g * outs + o, y, x] = wrap32(total)
    return acc


def pool(src, alg, kernel, stride, pad, divide):
    n, c, h, w = src.shape
    size = [(x + 2 * p - k) // s + 1 for x, p, k, s in zip((h, w), pad, kernel, stride, strict=True)]
    out = np.zeros((n, c, *size), src.dtype)
    dt = "u8" if src.dtype == np.uint8 else "s8"
    for i, j, y, x in itertools.product(range(n), range(c), *map(range, size)):
        rows = [r for r in range(y * stride[0] - pad[0], y * stride[0] - pad[0] + kernel[0]) if 0 <= r < h]
        cols = [q for q in range(x * stride[1] - pad[1], x * stride[1] - pad[1] + kernel[1]) if 0 <= q < w]
        taps = [int(src[i, j, r, q]) for r in rows for q in cols]
        if alg == "max":
            out[i, j, y, x] = max(taps)
        else:
            count = F(kernel[0] * kernel[1] if alg == "avg_inc" else len(taps))
            mean = F(sum(taps)) / count if divide else F(sum(taps)) * (F(1) / count)
            out[i, j, y, x] = store(mean, dt)
    return out

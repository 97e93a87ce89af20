"""Slow twins of the ops of `qops.nnlib` on whole tensors: integers and numpy float32, from the formulas."""

import numpy as np
from reference_nnlib import (
    SILENT,
    F,
    adjust_minmax_for_zero,
    exponent,
    frac,
    level_zero,
    quantize_scalar,
    rnd,
    roundf,
    sat8,
    sat16,
    sat32,
    wrap,
)


def pairs(a, b):
    """Give the pairs of two arrays of codes as Python integers, and their shape."""
    a, b = np.broadcast_arrays(a, b)
    return list(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)), a.shape


def shaped(codes, shape, dtype=np.uint8):
    made = np.asarray(codes).astype(dtype)
    assert (made == codes).all()
    return made.reshape(shape)


# ---- one operand


def clamped(codes, lo, hi, lower, upper=None):
    first = quantize_scalar(lower, lo, hi)["u8"]
    last = 255 if upper is None else quantize_scalar(upper, lo, hi)["u8"]
    return [min(max(q, first), last) for q in codes]


# ---- two operands


def sub_8p8to32(a, a_min, a_max, b, b_min, b_max):
    (za, sa), (zb, sb) = level_zero(a_min, a_max).values(), level_zero(b_min, b_max).values()
    coarse = max(sa, sb)
    ka, kb = (rnd(s * F(0x7F80) / max(F(1e-10), coarse)) for s in (sa, sb))
    ka, kb = (0x7F80, kb) if sa > sb else (ka, 0x7F80)
    codes = ka * (np.int64(a) - za) - kb * (np.int64(b) - zb)
    return shaped(codes, codes.shape, np.int32), F(2**31 / 0x7F80) * coarse


def mul_8x8to32(a, a_min, a_max, b, b_min, b_max):
    (za, sa), (zb, sb) = level_zero(a_min, a_max).values(), level_zero(b_min, b_max).values()
    every, shape = pairs(a, b)
    with np.errstate(**SILENT):
        return shaped([(p - za) * (q - zb) * 128 for p, q in every], shape, np.int32), sa * sb * F(2**24)


def mul_8x8to8(a, a_min, a_max, b, b_min, b_max):
    """Of operands with more than one element each."""
    (za, sa), (zb, sb) = level_zero(a_min, a_max).values(), level_zero(b_min, b_max).values()
    every, shape = pairs(a, b)
    products = [(p - za) * (q - zb) for p, q in every]
    lowest, highest = min([0, *products]), max([0, *products])
    highest += 4 if lowest == highest else 0
    with np.errstate(**SILENT):
        unit = sa * sb
        r = adjust_minmax_for_zero(F(lowest) * unit, F(highest) * unit)
        lo, hi = r["min"], r["max"]
        zero, step = level_zero(lo, hi).values()
        gain = unit / step if unit / F(16) < step else F(16)
        if gain == F(16):
            step = unit / F(16)
            lo, hi = F(-zero) * step, F(255 - zero) * step
    shift = min(14 - exponent(gain), 23)
    multiplier = rnd(F(float(gain) * 2**shift))
    codes = [(p * multiplier + ((2 * zero + 1) << (shift - 1)) >> shift) % 2**16 for p in products]
    return shaped([sat8(c) for c in codes], shape), lo, hi


def scaled(codes, lo, hi, code, code_min, code_max):
    """Give the product with a single element."""
    zero, step = level_zero(code_min, code_max).values()
    factor = F(code - zero) * step
    if code > zero:
        return codes, F(lo) * factor, F(hi) * factor
    if code < zero:
        return 255 - codes, F(hi) * factor, F(lo) * factor
    return codes * 0, F(0), F(1)


def into_range(codes, a, c):
    """Give the codes of minimum and maximum in the output range c."""
    if a == c:
        return codes
    (za, sa), (zc, sc) = level_zero(*a).values(), level_zero(*c).values()
    with np.errstate(**SILENT):
        multiplier = roundf(F(4096) * (sa / sc)) % 2**16
    return sat8(sat16((np.int64(codes) - za) * multiplier + 2048 >> 12) + zc)


def concat(parts, vector):
    lo, hi = min([F(0), *(F(p[1]) for p in parts)]), max(F(p[2]) for p in parts)
    recoded = []
    for codes, part_lo, part_hi in parts:
        with np.errstate(**SILENT):
            start = min(F(part_lo), F(0))
            step = (F(part_hi) - start) / F(255)
            offset = max(0, rnd((start - lo) / step))
            gain = min(rnd(F(255) / (hi - lo) * step * F(2**15)), 32767)
        sums = wrap(np.int64(codes) + offset, 16 if vector else 32)
        recoded.append(shaped(sat8(sums * gain + 2**14 >> 15), codes.shape))
    return np.concatenate(recoded, -1), lo, hi


# ---- windows


def product_max(a_min, a_max, b_min, b_max):
    """Give the upper end of the range of sums of products."""
    return F(2**31) * (((F(a_max) - F(a_min)) / F(255)) * ((F(b_max) - F(b_min)) / F(255)))


def matmul(a, b, za, zb):
    k, n = b.shape
    rows = [a.ravel().tolist()[i * k : (i + 1) * k] for i in range(a.size // k)]
    columns = b.T.tolist()
    sums = [wrap(sum((p - za) * (q - zb) for p, q in zip(r, c, strict=True)), 32) for r in rows for c in columns]
    return shaped(sums, (1, 1, len(rows), n), np.int32)


def places(size, window, stride, padding):
    """Give the taps of each window along one axis that lie on the image, as {tap: pixel}."""
    if padding == "VALID":
        count, before = (size - window) // stride + 1, 0
    else:
        count = -(-size // stride)
        total = max(0, (count - 1) * stride + window - size)
        before = (total + (padding == "SAME_CAFFE")) // 2
    starts = [i * stride - before for i in range(count)]
    return [{tap: start + tap for tap in range(window) if 0 <= start + tap < size} for start in starts]


def over_windows(image, window, stride, padding, reduce):
    """Reduce each window, given as [(tap down, tap across, pixel of all images)], to one value a channel."""
    down, across = (places(image.shape[i + 1], window[i], stride[i], padding) for i in range(2))
    wide = image.astype(object)
    rows = [
        [reduce([(i, j, wide[:, y, x]) for i, y in ys.items() for j, x in xs.items()]) for xs in across] for ys in down
    ]
    return np.moveaxis(np.array(rows, object), 2, 0)


def convolved(image, filters, zero, w_zero, stride, padding):
    def reduce(taps):
        sums = sum((pixels - zero) @ (filters[i, j].astype(object) - w_zero) for i, j, pixels in taps)
        return np.vectorize(lambda v: wrap(v, 32), otypes=[object])(sums)

    return over_windows(image, filters.shape[:2], stride, padding, reduce).astype(np.int32)


def max_pool(image, window, stride, padding):
    return over_windows(image, window, stride, padding, lambda taps: np.max([t[2] for t in taps], 0)).astype(np.uint8)


def avg_pool(image, window, stride, padding):
    def reduce(taps):
        sums, share = sum(pixels for *_, pixels in taps), min(32768 // len(taps), 32767)
        return np.vectorize(lambda v: sat8(wrap(v, 16) * share + 0x4000 >> 15), otypes=[object])(sums)

    return over_windows(image, window, stride, padding, reduce).astype(np.uint8)


def bias_add_32p32to32(x, x_max, bias, bias_max):
    """For symmetric ranges."""
    steps = [(F(end) - F(-end)) / F(2**32) for end in (x_max, bias_max)]
    moved = [sat32(int(np.rint(F(b) * (steps[1] / steps[0])))) for b in bias.tolist()]
    return shaped([wrap(p + m, 32) for row in x.tolist() for p, m in zip(row, moved, strict=True)], x.shape, np.int32)


# ---- to more bits


def requantize_16(x, gain):
    """Give int16 codes of a gain below 2**24, by the DSP's steps."""
    shift = min(-exponent(gain), 15)
    multiplier = rnd(F(float(gain) * 2.0 ** (31 + shift)))
    if shift >= 0:
        return [sat16((frac(v, multiplier) + (1 << shift >> 1)) >> shift) for v in x]
    top = 2 ** (27 + shift)
    return [sat16((frac(min(max(v, -top), top - 1) << (4 - shift), multiplier) + 8) >> 4) for v in x]


def quantize_int32(x, lo, hi):
    limit = max(-F(lo), F(hi))
    with np.errstate(**SILENT):
        return [rnd(v * (F(2**24) / (limit + limit))) for v in x], limit * F(256)

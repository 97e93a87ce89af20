"""Slow twins of the norms of `qops.nnlib`: Python integers and numpy float32, from the formulas."""

import numpy as np
from reference_nnlib import F, adjust_minmax_fixed, exponent, rnd, sat8, sat16, sat32, wrap
from reference_nnlib_activations import half_up, q15, segment

MARGIN = F(1.00001831)


def scaled(v, bits):
    return F(float(v) * 2.0**bits)


def q32(a, b):
    return sat32(((a * b >> 14) + 1) >> 1)


# ---- batch norm


def bias_in_units(bias, lo, hi, unit):
    """The biases in units of products; None if their step is too coarse."""
    wide = bias.dtype == np.int32
    step = (hi - lo) * F(2.0**-32) if wide else (hi - lo) / F(255)
    ratio = step / unit
    bits = exponent(ratio * MARGIN) - 15
    if bits > (1 if wide else 6):
        return None
    if wide:
        bits = max(bits, -46)
        found = [q32(int(b), sat16(rnd(scaled(ratio, -bits)))) for b in bias]
        return [half_up(v, -15 - bits) if bits <= -15 else wrap(v << (15 + bits), 32) for v in found]
    bits, zero = max(bits, -31), sat8(rnd(-lo / step))
    factor = sat16(rnd(scaled(ratio, -bits)))
    return [half_up(wrap((int(b) - zero) << max(bits, 0), 16) * factor, max(-bits, 0)) for b in bias]


def first_range(x, scale, bias, codes, lo, hi):
    if lo is not None and hi is not None:
        return lo, max(F(lo + F(1e-6)), hi)
    b_lo, b_hi = bias
    if codes.dtype == np.int32:
        step = (b_hi - b_lo) * F(2.0**-32)
        b_lo, b_hi = F(int(codes.min())) * step, F(int(codes.max())) * step
    low = F(0.2) * min(F(0), min(x[1] * scale[0], x[0] * scale[1]) + b_lo) if lo is None else lo
    high = max(F(0.2) * (max(x[1] * scale[1], x[0] * scale[0]) + b_hi), low + F(1e-4)) if hi is None else hi
    return low, high


def batch_norm(x, scale, bias, lo=None, hi=None):
    """The codes of rows and the range, of three triples; None if the original refuses."""
    (q, *x_ends), (k, *k_ends), (b, *b_ends) = ([data, F(start), F(end)] for data, start, end in (x, scale, bias))
    lo, hi = (end if end is None else F(cut(end, 0)) for end, cut in ((lo, min), (hi, max)))
    step, k_step = ((end[1] - end[0]) / F(255) for end in (x_ends, k_ends))
    unit, zero, k_zero = step * k_step * F(2**-7), sat8(rnd(-x_ends[0] / step)), sat8(rnd(-k_ends[0] / k_step))
    offsets = bias_in_units(b, *b_ends, unit)
    if offsets is None:
        return None
    products = [(int(v) - k_zero) * 128 for v in k]
    starts = [sat32(offset - product * zero) for product, offset in zip(products, offsets, strict=True)]
    fixed = (lo is not None) + 2 * (hi is not None)
    low, high = first_range(x_ends, k_ends, b_ends, b, lo, hi)
    extremes = [(min(column.min(), zero), max(column.max(), zero)) for column in q.T.astype(int)]
    while True:
        low, high = [*adjust_minmax_fixed(low, high, fixed).values()][1:]
        per_unit = F(255) / (high - low)
        bits = -exponent(per_unit * unit * MARGIN)
        if not 1 <= bits <= 29:
            return None
        bits = min(bits, 22)
        m, shift = sat16(rnd(scaled(per_unit * unit, 15 + bits))), rnd(-low / unit) if low else 0
        channels = [(q15(p, m), q32(wrap(s + shift, 32), m)) for p, s in zip(products, starts, strict=True)]
        seen = [wrap(o + int(e) * g, 32) for (g, o), ends in zip(channels, extremes, strict=True) for e in ends]
        seen += [q32(shift, m)] if q.shape[1] % 32 else []
        code, start = scaled((high - low) / F(255), -bits), scaled(-low * per_unit, bits) if low else F(0)
        least, most = ((F(end) - start) * code for end in (min(seen), max(seen)))
        more = max(F(0), F(0.25) * (most - least))
        below, above = min(seen) < -(1 << bits >> 1), max(seen) > (255 << bits) + (1 << bits >> 1)
        if not ((below and lo is None) or (above and hi is None)):
            break
        low = lo if lo is not None else min(F(0), least) - more if below else low
        high = hi if hi is not None else max(F(0), most) + more if above else high
    last = max(1, bits - 15)
    made = np.empty_like(q)
    for (i, c), v in np.ndenumerate(q):
        gain, offset = channels[c]
        made[i, c] = sat8(half_up(sat16(wrap(offset + int(v) * gain, 32) >> (bits - last)), last))
    return made, low, high


# ---- instance norm, in floats that are pairs (mantissa, exponent)

ROOT = [
    [23170, 22479, 21845, 21263, 20724, 20225, 19760, 19325, 18919, 18536, 18176, 17837, 17515, 17211, 16921, 16646],
    [-11570, -10565, -9698, -8944, -8282, -7698, -7180, -6717, -6302, -5927, -5589, -5282, -5001, -4745, -4510, -4293],
    [8052, 6950, 6048, 5302, 4679, 4153, 3707, 3325, 2996, 2711, 2462, 2244, 2052, 1883, 1732, 1598],
]


def normal(m, e):
    n = 15 - (m if m >= 0 else ~m).bit_length()
    return wrap(m << n, 16), wrap(e + n, 16)


def of_float(v):
    word = int(np.array(v, F).view(np.uint32))
    m = ((word & 0x7FFFFF) + 2**23) * 128
    return wrap(half_up(-m if word >> 31 else m, 16), 16), 126 - (word >> 23 & 255)


def of_integer(v, bits):
    """Of a number of so many bits with a sign, rounded down."""
    n = bits - 1 - (v if v >= 0 else ~v).bit_length()
    return wrap(v << n >> (bits - 16), 16), n - bits + 1


def to_float(v):
    return F(v[0] * 2.0 ** -(15 + v[1]))


def times(a, b):
    return normal(q15(a[0], b[0]), wrap(a[1] + b[1], 16))


def aligned(a, b):
    e = min(a[1], b[1])
    return a[0] >> min(a[1] - e, 15), b[0] >> min(b[1] - e, 15), e


def plus(a, b):
    x, y, e = aligned(a, b)
    return normal((x + y + 1) >> 1, e - 1)


def minus(a, b):
    x, y, e = aligned(a, b)
    return normal((x - y) >> 1, e - 1)


def above(a, b):
    x, y, _ = aligned(*(v if v[0] else (0, 15) for v in (a, b)))
    return x > y


def inverse_root(v):
    m, e = v if v[0] > 0 else (0x4000, 29)
    y = segment(ROOT, m >> 10 & 15, 2 * m & 2047)
    return q15(y, 0x5A83) if e & 1 else y, (-e >> 1) - 1


def statistics(codes, padding):
    """1 / sigma, mean / sigma, and the results of the lowest and the highest code, of one channel."""
    count, every = codes.size, np.append(codes.ravel().astype(int), [128] * padding)
    n, low, high = of_float(F(count)), int(every.min()), int(every.max())
    low = 0 if low == high else low
    total = minus(of_integer(int(every.sum()), 32), of_integer(128 * padding, 32))
    square = minus(of_integer(int((every**2).sum()), 64), of_integer(2**14 * padding, 32))
    epsilon, spread = F(count) * F(1e-5), minus(times(square, n), times(total, total))
    factor = (0, 0) if above(of_float(epsilon * epsilon), spread) else times(inverse_root(spread), n)
    mean = times(times(total, of_float(F(1) / F(count))), factor)
    return factor, mean, *(minus(times(of_integer(v, 32), factor), mean) for v in (low, high))


def extreme(found, highest):
    found = [v if v[0] else (0, 15) for v in found] + [(0, 15)] * (32 - len(found))
    while len(found) > 1:
        half = len(found) // 2
        both = zip(found[:half], found[half:], strict=True)
        found = [a if (above(a, b) if highest else above(b, a)) else b for a, b in both]
    return to_float(found[0])


def bidirectional(v, n):
    n = wrap(n, 5)
    return v >> n if n >= 0 else wrap(v << -n, 16)


def instance_norm(x):
    """The codes and the range."""
    count, height, width, depth = x.shape
    padding = (height + height % 2) * (width + -width % 4) - height * width
    found = [[statistics(x[n, :, :, c], padding) for c in range(depth)] for n in range(count)]
    groups = [image[c : c + 32] for image in found for c in range(0, depth, 32)]
    low = min(extreme([channel[2] for channel in group], False) for group in groups)
    high = max(extreme([channel[3] for channel in group], True) for group in groups)
    low, high, gain = (low, high, int(F(255) / (high - low))) if high > 0 else (F(0), F(0), 0)
    by, start, made = of_float(F(gain)), of_float(low * F(gain)), np.empty_like(x)
    for n in range(count):
        for c in range(depth):
            factor, mean = times(found[n][c][0], by), plus(times(found[n][c][1], by), start)
            whole = 0 if mean[1] > 1 else wrap(-bidirectional(mean[0], mean[1] + 14), 16)
            parts = [bidirectional(q15(factor[0], -128 * q), min(factor[1] + 6, 15)) for q in range(256)]
            made[n, :, :, c] = np.uint8([sat8((wrap(whole - part, 16) + 1) >> 1) for part in parts])[x[n, :, :, c]]
    return made, low, high

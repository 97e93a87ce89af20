"""Slow twins of activations of `qops.nnlib`: Python integers and numpy float32, from the formulas."""

import math

import numpy as np
from reference_nnlib import SILENT, F, adjust_minmax_for_zero, exponent, rnd, sat8, sat16, sat32, wrap

LOG2 = [
    [0, 2866, 5568, 8124, 10549, 12856, 15055, 17156, 19168, 21098, 22952, 24736, 26455, 28114, 29717, 31267],
    [23622, 22233, 20999, 19895, 18901, 18002, 17184, 16438, 15753, 15123, 14542, 14004, 13504, 13038, 12604, 12198],
    [-5561, -4942, -4422, -3980, -3601, -3274, -2989, -2740, -2521, -2327, -2155, -2001, -1863, -1739, -1626, -1525],
]
POWER = [
    [32767, 31379, 30048, 28774, 27554, 26386, 25268, 24196, 23170, 22188, 21247, 20347, 19484, 18658, 17867, 17109],
    [
        *(-22709, -21746, -20824, -19941, -19096, -18286, -17511, -16769),
        *(-16058, -15377, -14725, -14101, -13503, -12930, -12382, -11857),
    ],
    [7703, 7377, 7064, 6765, 6478, 6203, 5940, 5688, 5447, 5216, 4995, 4783, 4580, 4386, 4200, 4022],
]


def half_up(v, bits):
    """Divide by 2**bits, ties up; by 1 for 0 bits."""
    return (v + (1 << bits >> 1)) >> bits


def q15(a, b):
    return sat16((2 * a * b + 0x8000) >> 16)


def segment(table, index, x):
    slope = wrap(q15(table[2][index], x) + table[1][index], 16)
    return wrap(q15(slope, x) + table[0][index], 16)


def polynomial(x, rows, signs):
    """Quadratic in the quarter of 0..65535 that x lies in: constants of the rows, from the square on."""
    quarter = x >> 14
    y = rows[0][quarter]
    for row, sign in zip(rows[1:], signs, strict=True):
        y = sat16((y * x + sign * (row[quarter] << 15)) >> 16)
    return y


# ---- softmax

EXPONENTIAL = [[4300, 5119, 6087, 7230], [22652, 21816, 19857, 16404], [32769, 32876, 33371, 34675]]
RECIPROCAL = [[11794, 6555, 3945, 2530], [32086, 27318, 22353, 18222], [32769, 32232, 31054, 29548]]


def reciprocal(d):
    y = sat16(2 * polynomial(d << 2 & 0xFFFF, RECIPROCAL, (-1, 1)))
    rest = sat16(2 * sat16(q15(d, y) - 2**14))
    return sat16(y - q15(rest, y))


def power_table(multiplier, right_shift, guard):
    """2**-(distance) of each distance, wide and narrow."""
    made = []
    for distance in range(256):
        x = 256 * distance * multiplier >> right_shift
        mantissa = polynomial(~x & 0xFFFF, EXPONENTIAL, (1, 1))
        wide = mantissa << (16 - guard) >> min(x >> 16, 31)
        made.append((wide, sat16(half_up(wide, 16 - guard))))
    return made


def softmax(rows, lo, hi, beta):
    """Of rows of three codes or more; None if the original refuses the range."""
    gain = (F(hi) - F(lo)) * F(beta) * F(1.0 / (255.0 * 0.69314718055994))
    right_shift, guard = min(31, 7 - exponent(gain)), max(2, (rows.shape[1] - 1).bit_length())
    if right_shift < 0:
        return None
    powers = power_table(sat16(rnd(gain * F(2.0 ** (right_shift + 8)))), right_shift, guard)
    made = []
    for row in rows.tolist():
        found = [powers[max(row) - q] for q in row]
        total = wrap(sum(wide for wide, _ in found), 32)
        left = 31 - total.bit_length()
        factor = q15(reciprocal(total << left >> 16), 255 * 2**7)
        made.append([sat8(half_up(sat16(narrow * factor >> (guard + 3 - left) >> 12), 6)) for _, narrow in found])
    return np.uint8(made)


# ---- PRelu


def prelu(codes, lo, hi, alphas):
    """The codes, and the range; None if the factors need more bits than there are."""
    lo, hi, least, most = F(lo), F(hi), min(F(0), alphas.min()), max(F(0), alphas.max())
    _, low, high = adjust_minmax_for_zero(lo * most, max(hi, lo * least)).values()
    zero, out_zero = (sat8(rnd(F(-255) * a / (b - a))) for a, b in ((lo, hi), (low, high)))
    gain, largest = (hi - lo) / (high - low), max(most, -least)
    e, g, m = max(0, exponent(gain * max(F(1), largest))), exponent(gain), exponent(largest) if largest > 1 else 0
    if e > 7 or m > 7:
        return None
    positive, before = (sat16(rnd(gain * F(2.0 ** (15 - n)))) for n in (e, g))
    made = np.empty_like(codes)
    for place, q in np.ndenumerate(codes):
        slope = sat16(rnd(alphas[place[-1]] * F(2.0 ** (15 - m)))) * before
        factor = positive if q >= zero else sat16(half_up(slope, (15 + e - g - m) % 16))
        y = sat16(q15(128 * (int(q) - zero), factor) + (out_zero << (7 - e)))
        made[place] = sat8(half_up(y, 7 - e))
    return made, low, high


# ---- LRN


def squeezed(x, bias, alpha, beta):
    return x * F(float(bias + alpha * x * x) ** -float(beta))


def lrn_range(lo, hi, bias, alpha, beta):
    slope, largest = alpha * (F(2) * beta - F(1)), int(max(hi, -lo))
    peaks = beta > F(0.5) and F(largest**2) * slope > bias
    peak = F(math.sqrt(bias / slope)) if peaks else F(9e30)
    high = squeezed(min(hi, peak), bias, alpha, beta)
    if lo >= 0:
        return F(0), high
    return [*adjust_minmax_for_zero(squeezed(max(lo, -peak), bias, alpha, beta), high).values()][1:]


def log2(v):
    return F(math.log2(float(v)))


def logarithm(v):
    length = v.bit_length()
    x = v << (32 - length) >> 16 if v else 0
    return (length - 1) << 15 | segment(LOG2, x >> 11 & 15, (x & 2047) * 2) & 0xFFFF


def lrn(codes, lo, hi, window, bias, alpha, beta):
    """The codes of rows, and the range."""
    lo, hi, bias, alpha, beta = map(F, (lo, hi, bias, alpha, beta))
    with np.errstate(**SILENT):
        squares, step = bias / (alpha * ((hi - lo) / F(255)) * ((hi - lo) / F(255))), log2(hi - lo) - F(7.99435344)
        zero, radius = rnd(-lo * F(255) / (hi - lo)), (window - 1) // 2
        start = int(squares + F(0.5)) if squares < 2**32 else 2**32
    if start + max(-zero, 255 - zero) ** 2 * radius >= 2**32:
        scale = F(float(bias) ** -float(beta))
        return codes.copy(), lo * scale, hi * scale
    low, high = lrn_range(lo, hi, bias, alpha, beta)
    scale = F(255) / (high - low)
    shift = rnd((beta * (log2(alpha) + F(2) * step) - step - log2(scale)) * F(32768))
    factor, out_zero = rnd(beta * F(-(2**31))) >> 16, sat8(rnd(-low * scale))
    made = np.empty_like(codes)
    for (i, c), q in np.ndenumerate(codes):
        near = [int(v) - zero for v in codes[i, max(0, c - radius) : c + radius + 1]]
        total = (start + sum(d * d for d in near)) % 2**32
        x = wrap(shift - sat32(((logarithm(total) * factor >> 14) + 1) >> 1), 32)
        product, right = segment(POWER, x >> 11 & 15, x & 2047) * (int(q) - zero), wrap((x >> 15) + 12, 6)
        product = product >> right if right >= 0 else product << -right
        made[i, c] = sat8(wrap(q15(wrap(product, 16), 4096) + out_zero, 16))
    return made, low, high

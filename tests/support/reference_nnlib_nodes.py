"""Slow twins of nnlib's supernodes: all columns as integers, each pass over all elements, numpy float32."""

import math

import numpy as np
from reference_nnlib import F, adjust_minmax_fixed, level_zero, quantize_scalar

OCTAVES = (F(0.594603539), F(0.7071067691), F(0.8408964276), F(1))


def wrapped(x):
    return ((np.asarray(x, np.int64) + 2**31) & 0xFFFFFFFF) - 2**31


def places(padding, size, taps, stride):
    """How many windows there are, and the padding before the first."""
    if padding == "VALID":
        return (size - taps) // stride + 1, 0
    count = -(-size // stride)
    total = max(0, (count - 1) * stride + taps - size)
    return count, (total + (padding == "SAME_CAFFE")) // 2


def columns(x, w, zero, stride, padding, more=0, fill=None, depthwise=False):
    """Sums of ``x * w`` of the columns of the result and `more`; memory to its right holds `fill` where it is unset.

    It is unset up to a multiple of four columns, beyond what padding needs, but only if there is padding to the left,
    or more to the right than these four columns hold.
    """
    (count, height, width, _), (kh, kw) = x.shape, w.shape[:2]
    (rows, top), (across, left) = (places(padding, *axis) for axis in zip(x.shape[1:3], (kh, kw), stride, strict=True))
    needed = max(0, (across - 1) * stride[1] + kw - left - width)
    size = (rows - 1) * stride[0] + kh, (across + more - 1) * stride[1] + kw
    room = np.full((count, max(size[0], top + height), max(size[1], left + width + 4), x.shape[3]), zero, np.int64)
    if fill is not None and (left or needed > -width % 4):
        room[:, :, left + width + needed : left + width + max(needed, -width % 4)] = fill
    room[:, top : top + height, left : left + width] = x
    sums = 0
    for i in range(kh):
        for j in range(kw):
            part = room[:, i : i + (rows - 1) * stride[0] + 1 : stride[0], j :: stride[1]][:, :, : across + more]
            sums = sums + (part * w[i, j] if depthwise else part @ w[i, j])
    return sums, across


def signed(w, zero):
    """Signed bytes, channel by channel, and the factors of the channels."""
    made, factors = np.clip(w - zero, -128, 127), np.ones(w.shape[3], F)
    for c in range(w.shape[3] if zero not in (127, 128, 129) else 0):
        low, high, factor = w[..., c].min(), w[..., c].max(), 256
        if zero >= 130 and zero - 128 - low >= 2:
            factor = 32895 // (zero - 128 - low + 128)
        if zero <= 126 and high - zero - 128 >= 1:
            factor = 32639 // (high - zero - 128 + 128)
        if factor < 256:
            made[..., c] = ((factor * w[..., c] + 32768 + 128 - factor * zero) >> 8) - 128
            factors[c] = F(factor) / F(256)
    return made, factors


def octave(x):
    mantissa, power = math.frexp(F(x) * F(1.18920708))
    return F(math.copysign(next((q for q in OCTAVES if abs(mantissa) < q), 1), x) * 2.0**power)


class Twin:
    """A node: its range, and what it does with sums."""

    def __init__(self, given, start, most, fails, guesses=True, keeps=False):
        self.given, self.most, self.fails, self.guesses, self.keeps = given, most, fails, guesses, keeps
        self.fixed = (given[0] is not None) + 2 * (given[1] is not None)
        self.first = self.fixed < 3
        self.move(*(F(s if g is None else g) for g, s in zip(given, start, strict=True)))

    def move(self, lo, hi, adjusts=True):
        self.lo, self.hi = F(lo), F(hi)
        if self.lo < 0 and adjusts:
            found = adjust_minmax_fixed(self.lo, self.hi, self.fixed)
            self.lo, self.hi = F(found["min"]), F(found["max"])

    def numbers(self, product, scales):
        """The step of the output, the multipliers and the left shift of a pass."""
        steep = (F(1) if scales is None else max(F(1), scales.max())) * product
        step = (self.hi - self.lo) / F(255)
        gain = steep / step
        if self.first and self.guesses and gain > F(1.75):
            step, gain, (lo, hi) = steep / F(1.75), F(1.75), (self.lo, self.hi)
            if self.fixed == 0:
                self.lo, self.hi = F(-63) * step, F(192) * step
            elif self.fixed == 1:
                self.move(lo, lo + F(255) * step)
            else:
                self.move(hi - F(255) * step, hi)
            if self.fixed == 2 or lo < 0 < self.fixed:
                step = (self.hi - self.lo) / F(255)
                gain = steep / step
        self.first = False
        shift = math.frexp(gain)[1] if gain > 1 else 0
        each = gain if scales is None else product / step
        each = each * F(2.0 ** (31 - shift)) * (np.ones(1, F) if scales is None else scales)
        return step, np.minimum((each + F(0.5)).astype(np.int64), 2**31 - 1), shift

    def run(self, product, scales, words, results, seen):
        """Pass until the results fit. words(lo), results(words, numbers) and seen(words, numbers) make one pass."""
        for passes in range(1, self.most + 1):
            step, multipliers, shift = self.numbers(product, scales)
            added = words(self.lo)
            codes = np.clip(results(added, multipliers, shift), 0, 255).astype(np.uint8)
            lowest, highest = (extreme(seen(added, multipliers, shift)) for extreme in (least, most))
            if not self.retried(step, lowest, highest):
                return codes, float(self.lo), float(self.hi), passes
        if self.fails:
            raise ValueError("passes")
        return codes, float(self.lo), float(self.hi), passes

    def retried(self, step, lowest, highest):
        above, below = self.given[1] is None and highest > 255, self.given[0] is None and lowest < 0
        if not (above or below):
            return False
        lo, hi = self.lo, self.hi
        if above:
            hi = octave(max(step * (F(highest) + F(0.5)) + self.lo, F(1 / 16)))
        if below:
            lo = octave(min(step * (F(lowest) - F(0.5)) + self.lo, F(-1 / 256)))
        keeps = self.keeps and self.fixed
        if not keeps:
            lo, hi = (end if g is None else F(g) for end, g in zip((lo, hi), self.given, strict=True))
        self.move(lo, hi, not keeps)
        return True


def least(parts):
    return min(0, *(part.min() for part in parts))


def most(parts):
    return max(0, *(part.max() for part in parts))


def fraction(x, multipliers, shift):
    return (wrapped(wrapped(x) << shift) * multipliers + 2**30) >> 31


def operand(x, lo, hi):
    found = level_zero(lo, max(F(hi), F(lo) + F(1e-18)))
    return np.asarray(x, np.int64), int(found["zero"]), F(found["step"])


def biased(bias, product, inverse, sums, extra=0):
    """What gives the words of a range that begins at lo."""
    codes, lo, hi = bias
    wide = codes.dtype == np.int32
    zero = 0 if wide else max(0, quantize_scalar(0, lo, hi)["i"])
    step = (F(hi) - F(lo)) / F(2.0**32 if wide else 255)

    def words(lowest):
        value = (codes.astype(np.int64) - zero).astype(F) * (step / product) + -lowest / product
        value = value if inverse is None else value * inverse
        value = value if sums is None else value - wrapped(sums).astype(F)
        made = np.rint(value.astype(float)) + extra
        if (np.abs(made) >= 2**31).any():
            raise ValueError("words")
        return made.astype(np.int64)

    return words


def watched_on_v65(sums, width, channels):
    """The columns that each block of 32 channels watches: pairs of (block, column, block whose sums are read)."""
    blocks = -(-channels // 32)
    found, first = [], 6 * ((width - 1) // 6)
    for block in range(blocks):
        in_pair = block >= blocks % 2
        if -(-width // 4) * 4 in (12, 36):
            found += [(block, column, block) for column in range(width, first + 5)]
            if in_pair and (block - blocks % 2) % 2 and width - first < 6:
                found.append((block, first, block - 1))
        elif in_pair and width % 8 in (1, 2):
            found.append((block, width // 8 * 8 + 2, block))
    return found


def supernode(x, w, bias, stride, padding, given, scales, arch, fill=None, twin=None):
    """Codes, both ends and passes; `twin` is a node that has run."""
    (image, zero, step), (filters, w_zero, w_step) = operand(*x), operand(*w)
    channels, taps, product = filters.shape[3], filters.shape[0] * filters.shape[1], step * w_step
    packed, own = signed(filters, w_zero) if arch == "v65" else (filters - w_zero, np.ones(channels, F))
    length = taps * -(-filters.shape[2] // 32) * 32
    all_sums = packed.sum((0, 1, 2)) * zero
    extra = 0 if arch == "v65" else zero * w_zero * length
    factors = inverse = None
    if scales is not None or (own != 1).any():
        outer = np.ones(channels, F) if scales is None else scales
        factors, inverse = outer / own, own / outer
    sums, width = columns(image, packed, zero, stride, padding, 8, fill)
    seen_too = watched_on_v65(sums, width, channels) if arch == "v65" else []

    def seen(words, multipliers, shift):
        each = np.broadcast_to(multipliers, (channels,))
        yield fraction(sums[:, :, :width] + words, multipliers, shift)
        for block, column, other in seen_too:
            to = np.arange(32 * block, min(32 * block + 32, channels))
            of = to + 32 * (other - block)
            yield fraction(sums[:, :, column][..., of] + words[of], each[to], shift)

    def results(words, multipliers, shift):
        return fraction(sums[:, :, :width] + words, multipliers, shift)

    node = Twin(given, (0, 0.5), 3, False) if twin is None else twin
    return node.run(product, factors, biased(bias, product, inverse, all_sums + extra, extra), results, seen)


def input_supernode(x, w, bias, stride, padding, given):
    (image, zero, step), (filters, w_zero, w_step) = operand(*x), operand(*w)
    product, taps = step * w_step, filters.shape[0] * filters.shape[1]
    extra = zero * w_zero * taps * 4
    sums, width = columns(image, filters - w_zero, zero, stride, padding, 4)
    whole = sums[:, :, : -(-width // 4) * 4]
    forgets = stride[1] > 1 and (tuple(stride), filters.shape[1]) != ((2, 2), 3)

    def results(words, multipliers, shift):
        return fraction(sums[:, :, :width] + words, multipliers, shift)

    def seen(words, multipliers, shift):
        found = fraction(whole + words, multipliers, shift)
        third = np.arange(whole.shape[2]) % 4 == 2
        yield found[:, :, ~third]
        yield np.minimum(found[:, :, third], 0) if forgets and shift == 0 else found[:, :, third]

    words = biased(bias, product, None, (filters - w_zero).sum((0, 1, 2)) * zero + extra, extra)
    return Twin(given, (-1 / 128, 1 / 128), 3, True).run(product, None, words, results, seen)


def depthwise_supernode(x, w, bias, stride, padding, given, scales):
    """Of filters that are not 3 x 3, or have scales: those watch more than the results."""
    image, zero, step = operand(*x)
    filters = np.asarray(w[0][..., 0], np.int64) - quantize_scalar(0, *w[1:])["u8"]
    product = step * ((F(w[2]) - F(w[1])) / F(255))
    sums, width = columns(image, filters, zero, stride, padding, depthwise=True)
    taps, channels = filters.shape[1], filters.shape[2]
    turns = np.arange(channels) % 32 if scales is not None and (taps, stride[1]) in ((7, 1), (5, 2)) else slice(None)

    def results(words, multipliers, shift):
        return fraction(sums + words, multipliers[turns] if multipliers.size > 1 else multipliers, shift)

    def seen(words, multipliers, shift):
        yield results(words, multipliers, shift)
        if taps == 5 and stride[1] == 2 and width % 4 == 1:
            by = multipliers[turns] if multipliers.size > 1 else multipliers
            yield fraction(wrapped(sums[:, :, -1] + words) << shift, by, shift)

    inverse = None if scales is None else F(1) / scales
    words = biased(bias, product, inverse, filters.sum((0, 1)) * zero)
    return Twin(given, (-0.125, 0.125), 5, True).run(product, scales, words, results, seen)


def super_fc(x, w, bias, given):
    (rows, zero, step), (weights, w_zero, w_step) = operand(*x), operand(*w)
    product = step * w_step
    sums = (rows.reshape(-1, weights.shape[2]) - zero) @ (weights[0, 0] - w_zero)

    def words(lowest):
        value = bias[0].astype(F) * ((F(bias[2]) - F(bias[1])) / F(2.0**32) / product) + -lowest / product
        return np.clip(np.rint(value.astype(float)), -(2.0**31), 2.0**31 - 1).astype(np.int64)

    def results(added, multipliers, shift):
        return fraction(sums + added, multipliers, shift)

    node = Twin(given, (0, 0.5), 5, False, guesses=False, keeps=True)
    return node.run(product, None, words, results, lambda *a: [results(*a)])

"""The slow twins of matmul and conv2d: exact values, one fraction after the other; see `reference`."""

from fractions import Fraction

import numpy as np
from exact import outward, over_one_unit


def exact_values(t):
    """An object array of the exact values of uint8 or int8 codes, of one range or of one for each last index."""
    codes, lo, hi = t
    levels = (codes.astype(int) - np.iinfo(codes.dtype).min).astype(object)
    ends = [np.ravel(end).astype(float).tolist() for end in (lo, hi)]
    steps, zeros, bases = np.array([line(*map(Fraction, pair)) for pair in zip(*ends, strict=True)], object).T
    return (levels - zeros) * steps + bases


def line(low, high):
    """(step, zero, base): a code that is `level` above the lowest is (level - zero) * step + base, exactly.

    A code that is within 2**-15 of a step of 0 is 0, as float32 ends cannot say it better.
    """
    step = (high - low) / 255
    zero = round(-low / step) if step else 0
    is_zero = 0 <= zero <= 255 and abs(low + zero * step) <= step / 2**15
    return (step, zero, Fraction(0)) if is_zero and step else (step, 0, low)


def channels(t):
    """The ranges of the output channels, (min, max) each."""
    n = t[0].shape[-1]
    return list(zip(*(np.broadcast_to(np.ravel(end), n).astype(float).tolist() for end in t[1:]), strict=True))


def biases(a, b, bias):
    """The exact real bias of each channel: that of int32 counts the product of both steps."""
    if bias is None:
        return [Fraction(0)] * b[0].shape[-1]
    step = (Fraction(a[2]) - Fraction(a[1])) / 255
    steps = [step * (Fraction(hi) - Fraction(lo)) / 255 for lo, hi in channels(b)]
    is_count = bias.dtype == np.int32
    return [Fraction(x) * (s if is_count else 1) for x, s in zip(bias.tolist(), steps, strict=True)]


def highest(a, b, k, bias=0, clip=(None, None)):
    """The end of the output range for sums of k products of one range each, and a bias."""
    steps = [(hi - lo) / 255 for _, lo, hi in (a, b)]
    ends = [max(abs(lo), abs(hi)) for _, lo, hi in (a, b)]
    farthest = max(k * ends[0] * ends[1] + abs(float(bias)), clip[0] or 0, -(clip[1] or 0))
    return outward(0.0, max(2.0**31 * steps[0] * steps[1], farthest * (1 + 2**-20)))[1]


def tops(a, b, k, bias, clip):
    """The ends of the output ranges of int32 codes, one for each channel."""
    found = [highest(a, (None, *ends), k, x, clip) for ends, x in zip(channels(b), biases(a, b, bias), strict=True)]
    return found if np.ndim(b[1]) else [max(found)] * len(found)


def clipped(values, clip):
    """Values cut to the clip, whose ends may be None."""
    lo, hi = clip
    values = values if lo is None else [max(v, Fraction(lo)) for v in values]
    return values if hi is None else [min(v, Fraction(hi)) for v in values]


def whole(values):
    """An array of fractions as integers, and what to divide them by."""
    numbers, unit = over_one_unit(*values.ravel().tolist())
    return np.array(numbers, object).reshape(values.shape), unit


def matmul(a, b, k=None):
    """(exact sums of products, flat; max of the range, of sums as long as k says)."""
    (x, x_unit), (w, w_unit) = whole(exact_values(a)), whole(exact_values(b))
    rows = x.reshape(-1, w.shape[0]) if w.shape[0] else np.empty((int(np.prod(x.shape[:-1])), 0), object)
    products = (sum(x * y for x, y in zip(row, column, strict=True)) for row in rows for column in w.T)
    sums = [Fraction(total, x_unit * w_unit) for total in products]
    return sums, None if np.ndim(b[1]) else highest(a, b, w.shape[0] if k is None else k)


def conv2d(x, w, stride=(1, 1), dilation=(1, 1), pads=((0, 0), (0, 0)), groups=1):
    """(exact sums over windows, flat; max of the range); what is padded is 0."""
    padded = np.pad(exact_values(x), ((0, 0), *pads, (0, 0)), constant_values=Fraction(0))
    (image, x_unit), (filters, w_unit) = whole(padded), whole(exact_values(w))
    (kh, kw, c, o), (n, h, width, _) = filters.shape, image.shape
    down = range(0, h - (kh - 1) * dilation[0], stride[0])
    across = range(0, width - (kw - 1) * dilation[1], stride[1])
    sums = []
    for m, i, j, k in np.ndindex(n, len(down), len(across), o):
        rows = image[m, down[i] : down[i] + (kh - 1) * dilation[0] + 1 : dilation[0]]
        taps = rows[:, across[j] : across[j] + (kw - 1) * dilation[1] + 1 : dilation[1]]
        first = k // (o // groups) * c
        total = (taps[..., first : first + c] * filters[..., k]).sum()
        sums.append(Fraction(total, x_unit * w_unit))
    return sums, None if np.ndim(w[1]) else highest(x, w, kh * kw * c)

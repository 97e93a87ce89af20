"""The slow twins of matmul and conv2d: exact values, one fraction after the other; see `reference`."""

from fractions import Fraction

import numpy as np
from exact import outward


def exact_values(t):
    """An object array of the exact values of uint8 or int8 codes."""
    codes, lo, hi = t
    step, lowest = (Fraction(hi) - Fraction(lo)) / 255, np.iinfo(codes.dtype).min
    table = {q: Fraction(lo) + (q - lowest) * step for q in range(lowest, lowest + 256)}
    return np.array([table[q] for q in codes.ravel().tolist()], object).reshape(codes.shape)


def highest(a, b, k):
    """The end of the output range for sums of k products."""
    steps = [(hi - lo) / 255 for _, lo, hi in (a, b)]
    ends = [max(abs(lo), abs(hi)) for _, lo, hi in (a, b)]
    return outward(0.0, max(2.0**31 * steps[0] * steps[1], k * ends[0] * ends[1] * (1 + 2**-20)))[1]


def matmul(a, b, k=None):
    """(exact sums of products, flat; max of the range, of sums as long as k says)."""
    x, w = exact_values(a), exact_values(b)
    rows = x.reshape(-1, w.shape[0]) if w.shape[0] else np.empty((int(np.prod(x.shape[:-1])), 0), object)
    sums = [sum(x * y for x, y in zip(row, column, strict=True)) for row in rows for column in w.T]
    return sums, highest(a, b, w.shape[0] if k is None else k)


def conv2d(x, w, stride=(1, 1), dilation=(1, 1), pads=((0, 0), (0, 0))):
    """(exact sums over windows, flat; max of the range); what is padded is 0."""
    image, filters = exact_values(x), exact_values(w)
    image = np.pad(image, ((0, 0), *pads, (0, 0)), constant_values=Fraction(0))
    (kh, kw, c, o), (n, h, width, _) = filters.shape, image.shape
    down = range(0, h - (kh - 1) * dilation[0], stride[0])
    across = range(0, width - (kw - 1) * dilation[1], stride[1])
    sums = []
    for m, i, j, k in np.ndindex(n, len(down), len(across), o):
        rows = image[m, down[i] : down[i] + (kh - 1) * dilation[0] + 1 : dilation[0]]
        taps = rows[:, across[j] : across[j] + (kw - 1) * dilation[1] + 1 : dilation[1]]
        sums.append((taps * filters[..., k]).sum())
    return sums, highest(x, w, kh * kw * c)

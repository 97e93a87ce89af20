"""The slow twins of the pools; see `reference`. Windows are lists of Python integers."""

from fractions import Fraction
from itertools import product

import numpy as np


def same(size, kernel, stride):
    """The pixels before and after the image, along each axis, that make ceil(size / stride) places."""
    lacking = [max(0, (-(-n // s) - 1) * s + k - n) for n, k, s in zip(size, kernel, stride, strict=True)]
    return [(n // 2, n - n // 2) for n in lacking]


def pooled(codes, kernel, stride, pads, of_window):
    """What `of_window` makes of the codes of each window that are on the image."""
    _, height, width, _ = codes.shape
    (top, bottom), (left, right) = pads
    rows = range(-top, height + bottom - kernel[0] + 1, stride[0])
    columns = range(-left, width + right - kernel[1] + 1, stride[1])
    result = np.zeros((len(codes), len(rows), len(columns), codes.shape[3]), object)
    for n, i, j, c in product(*map(range, result.shape)):
        down = slice(max(0, rows[i]), rows[i] + kernel[0])
        across = slice(max(0, columns[j]), columns[j] + kernel[1])
        result[n, i, j, c] = of_window(codes[n, down, across, c].ravel().tolist())
    return result


def max_pool(codes, kernel, stride, pads):
    return pooled(codes, kernel, stride, pads, max)


def avg_pool(codes, kernel, stride, pads):
    """Exact means."""
    return pooled(codes, kernel, stride, pads, lambda window: Fraction(sum(window), len(window)))

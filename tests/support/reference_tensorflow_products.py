"""Slow twins of TensorFlow's products: Python integers, one window at a time."""

import numpy as np
import reference_tensorflow as twin

f32 = np.float32


def zero(lo, hi):
    return twin.float_to_quantized(0, f32(lo), f32(hi), np.uint8)


def top(a, b):
    """Upper end of the range of products of two ranges."""
    steps = [f32(f32(f32(hi) - f32(lo)) / f32(255)) for lo, hi in (a, b)]
    return f32(f32(steps[0] * steps[1]) * f32(2.0**31))


def matmul(a, a_range, b, b_range):
    left, right = a.astype(object) - zero(*a_range), b.astype(object) - zero(*b_range)
    return np.vectorize(lambda v: twin.wrap(v, 32), [np.int32])(left @ right)


def places(size, taps, step, padding):
    """How many windows, and where the first one begins."""
    if padding == "VALID":
        count = (size - taps + step) // step
        return count, -int(((count - 1) * step + taps - size + 1) / 2)
    count = -(-size // step)
    return count, -int(((count - 1) * step + taps - size) / 2)


def convolved(x, x_range, w, w_range, step, padding):
    """Padding is zero where the zero is below the codes, else its low 8 bits."""
    x_zero, w_zero = zero(*x_range), zero(*w_range)
    pad = (x_zero & 255) - x_zero if x_zero >= 0 else 0
    (rows, top_row), (columns, left) = (places(x.shape[i], w.shape[i - 1], step, padding) for i in (1, 2))
    image, filters = x.astype(object) - x_zero, w.astype(object) - w_zero
    wide = np.full((len(x), x.shape[1] + 40, x.shape[2] + 40, x.shape[3]), pad, object)
    wide[:, 20 : 20 + x.shape[1], 20 : 20 + x.shape[2]] = image
    out = np.empty((len(x), rows, columns, w.shape[3]), np.int32)
    for i in np.ndindex(rows, columns):
        first = [20 + start + step * place for start, place in zip((top_row, left), i, strict=True)]
        window = wide[:, first[0] : first[0] + w.shape[0], first[1] : first[1] + w.shape[1]]
        sums = np.tensordot(window, filters, 3)
        out[:, i[0], i[1]] = [[twin.wrap(v, 32) for v in row] for row in sums]
    return out

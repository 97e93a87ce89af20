"""Slow twins of TensorFlow's norms and of its resize, pixel by pixel."""

import math

import numpy as np
from reference_tensorflow import f32, float_to_quantized, half_away, quantized_to_float, saturate, wrap

LIMIT = f32(2.0**20)


# --- resize ----------------------------------------------------------------------------------------------------------


def place(i, size, wanted, corners, centers):
    """Lower and upper pixel, and the float32 fraction between them."""
    scale = f32(size - 1) / f32(wanted - 1) if corners and wanted > 1 else f32(size) / f32(wanted)
    at = f32(f32(f32(f32(i) + f32(0.5)) * scale) - f32(0.5)) if centers else f32(f32(i) * scale)
    upper = min(math.ceil(at), size - 1)
    return min(max(0, math.floor(at)), upper), upper, f32(at - f32(math.floor(at)))


def toward_zero(a, b):
    return abs(a) // b * (1 if a >= 0 else -1)


def between(corners, x_part, y_part, dtype):
    """A pixel of four, top left, top right, bottom left, bottom right."""
    if dtype == np.float32:
        top, bottom = (f32(a + f32(f32(b - a) * x_part)) for a, b in (corners[:2], corners[2:]))
        return f32(top + f32(f32(bottom - top) * y_part))
    bits = 7 if dtype == np.uint8 else 30
    one, w_x, w_y = 2**bits, int(f32(x_part * f32(2**bits))), int(f32(y_part * f32(2**bits)))
    read = [int(f32(q)) for q in corners]
    top, bottom = (a * one + (b - a) * w_x for a, b in (read[:2], read[2:]))
    return wrap(toward_zero(top + toward_zero(bottom - top, one) * w_y + one // 2, one), 32)


def resize(x, size, corners=False, centers=False):
    if x.shape[1:3] == tuple(size):
        return x
    made = np.empty((len(x), *size, x.shape[3]), x.dtype)
    for n, i, j, c in np.ndindex(made.shape):
        top, bottom, y_part = place(i, x.shape[1], size[0], corners, centers)
        left, right, x_part = place(j, x.shape[2], size[1], corners, centers)
        four = [x[n, row, column, c] for row in (top, bottom) for column in (left, right)]
        made[n, i, j, c] = between(four, x_part, y_part, x.dtype)
    return made


# --- norms -----------------------------------------------------------------------------------------------------------


def instance_norm(q, lo, hi, epsilon, separation, given=None):
    """Codes and range; the sums of squares are exact."""
    step = f32(f32(f32(hi) - f32(lo)) / f32(255))
    y = np.empty(q.shape, f32)
    for n in range(q.shape[0]):
        for c in range(q.shape[3]):
            codes = q[n, ..., c].astype(f32)
            mean = f32(f32(int(q[n, ..., c].astype(int).sum())) / f32(codes.size))
            near = (step * (codes - mean)).astype(f32)
            squares = [float(f32(v * v)) for v in near.ravel()]
            var = f32(math.fsum(squares) / codes.size)
            y[n, ..., c] = near * f32(1 / math.sqrt(float(f32(var + f32(epsilon)))))
    low, high = (f32(end) for end in (given or (y.min(), y.max())))
    if f32(high - low) < f32(separation):
        high = f32(low + f32(separation))
    scale = f32(f32(255) / f32(high - low))
    codes = half_away((y * scale).astype(f32)) - half_away(f32(low * scale))
    return np.clip(codes, 0, 255).astype(np.uint8), float(low), float(high)


def batch_norm(t, mean, variance, beta, gamma, epsilon, scaled):
    """Each a triple; the codes."""

    def value(tensor, code):
        return quantized_to_float(int(code), f32(tensor[1]), f32(tensor[2]), np.uint8)

    def code_of(x):
        return saturate(float_to_quantized(x, -LIMIT, LIMIT))

    codes = np.empty(t[0].shape, np.int64)
    for c in range(t[0].shape[3]):
        scale = f32(f32(1) / np.sqrt(f32(value(variance, variance[0][c]) + f32(epsilon))))
        scale = f32(scale * value(gamma, gamma[0][c])) if scaled else scale
        offset = f32(f32(-value(mean, mean[0][c]) * scale) + value(beta, beta[0][c]))
        for at in np.ndindex(t[0].shape[:3]):
            product = wrap(code_of(value(t, t[0][(*at, c)])) * code_of(scale), 32)
            codes[(*at, c)] = wrap(toward_zero(product, 2048) + code_of(offset), 32)
    return codes.astype(np.int32)

"""The slow twin of nnlib's bias add into int32, in float32 arithmetic step by step."""

import math
from fractions import Fraction

import numpy as np
from exact import F32


def zero_code(lo, hi):
    """Code of 0 in float32, half away, cut at 0 and at the highest float32 below 2**31: nnlib's quantize_uint."""
    with np.errstate(over="ignore"):
        scaled = float((F32(0) - lo) * (F32(255) / max(F32(1e-18), hi - lo)))
    return 0 if scaled < 0 else math.floor(Fraction(min(scaled, 2.0**31 - 128)) + Fraction(1, 2))


def quantized_bias_add_8p8to32(x, bias):
    """(codes, max) of two triples of codes of one shape."""
    (qx, x_min, x_max), (qb, b_min, b_max) = ((np.ravel(q), F32(lo), F32(hi)) for q, lo, hi in (x, bias))
    top = max(abs(x_min), x_max, abs(b_min), b_max) * F32(2**17)
    if top == 0:
        return np.zeros(qx.shape, np.int32), 0.0
    level = (top + top) / F32(2**32)
    zx, zb = min(255, zero_code(x_min, x_max)), zero_code(b_min, b_max)
    mx, mb = ((hi - lo) / F32(255) / level if level > 0 else F32(0) for lo, hi in ((x_min, x_max), (b_min, b_max)))
    first = (qx.astype(np.int64) - zx).astype(F32) * mx
    second = (qb.astype(np.int64) - zb).astype(F32) * mb
    return np.trunc((F32(0.5) + first) + second).astype(np.int32), float(top)

"""Slow twins of the ops of `qops.nnlib` on whole tensors: Python integers and numpy float32, from the formulas."""

import numpy as np
from reference_nnlib import (
    SILENT,
    F,
    adjust_minmax_for_zero,
    exponent,
    level_zero,
    quantize_scalar,
    rnd,
    roundf,
    sat8,
    sat16,
    wrap,
)


def pairs(a, b):
    """Give the pairs of two arrays of codes as Python integers, and their shape."""
    a, b = np.broadcast_arrays(a, b)
    return list(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True)), a.shape


def shaped(codes, shape, dtype=np.uint8):
    return np.array(codes, dtype).reshape(shape)


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
    every, shape = pairs(a, b)
    codes = [ka * (p - za) - kb * (q - zb) for p, q in every]
    return shaped(codes, shape, np.int32), F(2**31 / 0x7F80) * coarse


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
    return [sat8(sat16((q - za) * multiplier + 2048 >> 12) + zc) for q in codes]


def concat(parts, vector):
    lo, hi = min([F(0), *(F(p[1]) for p in parts)]), max(F(p[2]) for p in parts)
    recoded = []
    for codes, part_lo, part_hi in parts:
        with np.errstate(**SILENT):
            start = min(F(part_lo), F(0))
            step = (F(part_hi) - start) / F(255)
            offset = max(0, rnd((start - lo) / step))
            gain = min(rnd(F(255) / (hi - lo) * step * F(2**15)), 32767)
        sums = [wrap(q + offset, 16 if vector else 32) for q in codes.ravel().tolist()]
        recoded.append(shaped([sat8(x * gain + 2**14 >> 15) for x in sums], codes.shape))
    return np.concatenate(recoded, -1), lo, hi

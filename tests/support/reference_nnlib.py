"""Slow twins of `qops.nnlib`: Python integers and numpy float32, from the formulas."""

import math

import numpy as np

F = np.float32
SILENT = {"divide": "ignore", "invalid": "ignore", "over": "ignore", "under": "ignore"}


def clamp(v, lo, hi):
    """Of an integer, or of an array of int64."""
    if isinstance(v, np.ndarray):
        return np.clip(v, lo, hi)
    return lo if v < lo else hi if v > hi else v  # called a million times: a third of the time of max and min


def sat8(v):
    return clamp(v, 0, 255)


def sat16(v):
    return clamp(v, -(2**15), 2**15 - 1)


def sat32(v):
    return clamp(v, -(2**31), 2**31 - 1)


def wrap(v, bits):
    return (v + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def chop(v):
    """Convert as the DSP does: toward zero, saturating, NaN to -1."""
    v = float(v)
    if math.isnan(v):
        return -1
    return sat32(math.trunc(v)) if math.isfinite(v) else sat32(int(math.copysign(2**31, v)))


def rnd(v):
    """Half away from zero by adding 0.5 in float32."""
    return chop(F(v) + np.copysign(F(0.5), F(v)))


def roundf(v):
    """Half away from zero, exact."""
    v = float(v)
    return chop(math.copysign(math.floor(abs(v) + 0.5), v) if math.isfinite(v) else v)


def exponent(v):
    """Read the exponent field of a float32, as frexp's."""
    return int(np.array(v, F).view(np.uint32) >> 23 & 0xFF) - 126


def frac(u, v):
    """Multiply 32-bit fractions as the DSP does, in two floors and a rounding."""
    return sat32(((((u * (v & 0xFFFF)) >> 16) + u * (v >> 16) >> 14) + 1) >> 1)


# ---- ranges


def quantize_scalar(x, lo, hi):
    with np.errstate(**SILENT):
        i = roundf((F(x) - F(lo)) * (F(255) / max(F(1e-18), F(hi) - F(lo))))
    return {"u8": sat8(i), "u": max(0, i), "i": i}


def level_zero(lo, hi):
    with np.errstate(**SILENT):
        step = (F(hi) - F(lo)) / F(255)
        return {"zero": sat8(rnd(-F(lo) / step)), "step": step}


def near_integer(zf):
    return zf <= F(2.0**-14) or zf >= F(0.999938965)


def adjust_range(lo, hi):
    lo, hi = F(lo) if lo <= 0 else F(0), max(F(0), F(hi))
    span = max(F(1e-18), hi - lo)
    per_unit = F(255) / span
    if lo < 0:
        z = -lo * per_unit
        zi = np.floor(z)
        zf = z - zi
        if not near_integer(zf):
            if zi > 0 and (zi > 253 or (zf - F(1)) * lo >= zf * hi):
                span = F(-255) * lo / zi
                hi = lo + span
            else:
                lo = hi * (zi + F(1)) / (zi - F(254))
                span = hi - lo
            per_unit = F(255) / span
    return {"min": lo, "max": hi, "step": span / F(255), "recip_step": per_unit}


def adjust_minmax(lo, hi, narrowest, decide):
    lo, hi = F(lo), F(hi)
    width = hi - lo
    if not (width >= F(1e-6) if narrowest else width > 0):
        return {"code": -1, "min": lo, "max": hi}
    z = F(-255) * lo / width
    zi = np.floor(z)
    zf = z - zi
    if lo == 0 or near_integer(zf):
        return {"code": 0, "min": lo, "max": hi}
    code, at = decide(z, zi, zf, (zf - F(1)) * lo, zf * hi)
    if code == 3:
        move = (z - at) * width * F(1 / 255)
        return {"code": 3, "min": lo + move, "max": hi + move}
    if code == 2:
        return {"code": 2, "min": lo, "max": lo - F(255) * lo / at}
    return {"code": 1, "min": hi * at / (at - F(255)), "max": hi}


def move_cheaper(z, zi, zf, lo_cost, hi_cost):
    return (2, zi) if zi >= 1 and (zi >= 254 or lo_cost >= hi_cost) else (1, zi + F(1))


def adjust_minmax_for_zero(lo, hi):
    with np.errstate(**SILENT):
        return adjust_minmax(lo, hi, True, move_cheaper)


def adjust_minmax_fixed(lo, hi, fixed):
    def decide(z, zi, zf, lo_cost, hi_cost):
        nearest = zi + F(1) if zf >= F(0.5) else zi
        if fixed == 1:
            return (2, zi) if zi >= 1 and (z >= F(192.25) or lo_cost * F(8) > hi_cost) else (1, nearest)
        if fixed == 2:
            moves_hi = z >= F(63.75) and (zi >= 254 or lo_cost > hi_cost * F(8))
            return (2, nearest) if moves_hi else (1, zi + F(1))
        return (1, nearest) if z <= F(63.75) else (2, nearest) if z >= F(192.25) else (3, nearest)

    with np.errstate(**SILENT):
        return adjust_minmax(lo, hi, False, decide if fixed else move_cheaper)


# ---- multipliers


def rounding_divide_by_pot(x, n):
    return sat32(x + (2**n >> 1)) >> n if n <= 31 else x >> 31


def mul_by_quantized_multiplier(x, multiplier, shift):
    return rounding_divide_by_pot(frac(wrap(x << max(shift, 0), 32), multiplier), max(-shift, 0))


def multiplier_below_one(x):
    mantissa = int(np.array(x, F).view(np.uint32)) % 2**23 + 2**23  # of a subnormal number this makes a wrong one
    return (0, mantissa << 7, -exponent(x)) if 0 < x < 1 else (-1, 0, 0)


# ---- requantize


def requantize_s32(x, level, lo, hi, scalar=False):
    with np.errstate(**SILENT):
        per_unit = F(255) / (F(hi) - F(lo))
        gain, offset = F(level) * per_unit, F(0.5) - F(lo) * per_unit
        if gain >= 1:
            return [sat8(chop(F(v) * gain + offset)) for v in x]
        g = rnd(gain * F(2**31))
        if scalar:
            return [sat8(sat32(((v * g >> 30) + 1 >> 1) + chop(offset))) for v in x]
        if len(x) >= 128 and g >= 1024:
            start = rnd(F(lo) / F(level))
            return [sat8(sat16(frac(sat32(v - start), g))) for v in x]
    return [sat8(sat16(sat16(frac(v, g)) + sat16(chop(offset)))) for v in x]


def requantize_u8(x, gain, in_zero, out_zero):
    gain, in_zero, out_zero = F(gain), sat16(in_zero), sat16(out_zero)
    if abs(gain - F(1)) < F(2.0**-14):
        return [sat8(v + sat16(out_zero - in_zero)) for v in x]
    n = 15 - exponent(gain) if gain > 1 else 15
    g = sat16(rnd(F(float(gain) * 2**n)))
    half = 1 << n >> 1
    return [sat8(sat16(wrap(v - in_zero, 16) * g + half >> n) + out_zero) for v in x]


# ---- quantize


def mantissa_parameters(lo, hi):
    """Give the integers of the vector Quantize, and its range."""
    lo, hi = F(lo), max(F(lo) + F(1e-18), F(hi))
    if lo < 0:
        adjusted = adjust_minmax_for_zero(lo, hi)
        lo, hi = adjusted["min"], adjusted["max"]
    lo_bits, width_bits = (int(np.array(v, F).view(np.uint32)) for v in (lo, (hi - lo) * F(1.003921569)))
    common = (width_bits >> 23 & 0xFF) + 4
    shift = common - (lo_bits >> 23 & 0xFF)
    offset = (lo_bits & 0x7FFFFF | 0x800000) >> shift if 0 <= shift < 24 else 0
    width = (width_bits & 0x7FFFFF | 0x800000) >> 4
    return common, offset + (width >> 9), (2**32 - 1) // width, lo, hi


def quantize_mantissa(x, lo, hi):
    common, offset, scaling, lo, hi = mantissa_parameters(lo, hi)
    codes = []
    for v in x:
        bits = int(np.array(v, F).view(np.uint32))
        shift = wrap(min(common - (bits >> 23 & 0xFF), 31), 6)
        mantissa = bits & 0x7FFFFF | 0x800000
        mantissa = mantissa >> shift if shift >= 0 else mantissa << -shift
        signed = wrap(wrap(-mantissa if bits >> 31 else mantissa, 32) + offset, 32)
        codes.append(clamp(signed * scaling >> 16, 0, 0xFFFF) >> 8)
    return codes, lo, hi


def quantize_rounded(x, lo, hi):
    r = adjust_range(lo, hi)
    with np.errstate(**SILENT):
        return [sat8(rnd((F(v) - r["min"]) * r["recip_step"])) for v in x], r["min"], r["max"]


def dequantize(x, lo, hi):
    """Exact product, cut to 24 bits, half away from zero."""
    with np.errstate(**SILENT):
        step = max(F(1e-18), F(hi) - F(lo)) / F(255)
        zero = sat8(rnd(-F(lo) / step))
    m, e = math.frexp(step)
    values = []
    for q in x:
        product = abs(q - zero) * int(m * 2**24)
        drop = max(product.bit_length() - 24, 0)
        rounded = (product + (1 << drop >> 1)) >> drop << drop
        values.append(math.copysign(math.ldexp(rounded, e - 24), q - zero if q != zero else 1))
    return values

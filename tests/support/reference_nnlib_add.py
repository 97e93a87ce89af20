"""Slow twins of the adds of `qops.nnlib`: Python integers and numpy float32, from the formulas."""

import numpy as np
from reference_nnlib import SILENT, F, adjust_minmax_fixed, chop, exponent, level_zero, rnd, sat8, sat16, wrap


def add_8p8to32(a, a_min, a_max, b, b_min, b_max):
    za, sa = level_zero(a_min, a_max).values()
    zb, sb = level_zero(b_min, b_max).values()
    top = F(0x7F80)
    ka = 0x7F80 if sa > sb else rnd(sa * top / max(F(1e-10), sb))
    kb = rnd(sb * top / max(F(1e-10), sa)) if sa > sb else 0x7F80
    return [ka * (p - za) + kb * (q - zb) for p, q in zip(a, b, strict=True)], F(2**31 / 0x7F80) * max(sa, sb)


def spec_pass(a, a_min, a_max, b, b_min, b_max, lo, hi):
    """One pass of the old kernel, a the coarse operand: codes, found range."""
    width_a, width_b = a_max - a_min, b_max - b_min
    alpha = width_a / width_b
    if alpha >= 256:
        return list(a), a_min, a_max
    ialpha = wrap(chop(F(128) * alpha), 16)
    ikappa = wrap(chop(F(128) * alpha + (F(255) * a_min + F(255) * b_min) / width_b), 16)
    low, high = lo * F(255) / width_b, hi * F(255) / width_b
    step = high - low
    recip = wrap(chop(min(F(255 * 32768) / step, F(32767))), 16)
    offset = wrap(chop(F(255) * low / step - F(0.5)), 16)
    xs = [wrap((((p - 128) * ialpha + 64) >> 7) + wrap(q + ikappa, 16), 16) for p, q in zip(a, b, strict=True)]
    codes = [sat8(wrap((x * recip + 0x4000 >> 15) - offset, 16)) for x in xs]
    return codes, F(min(xs)) * width_b / F(255), F(max(xs)) * width_b / F(255)


class Spec:
    """The old add as a node that remembers its range."""

    def __init__(self, lo=None, hi=None):
        self.lo_fixed, self.hi_fixed = lo is not None, hi is not None
        self.lo, self.hi = F(0 if lo is None else lo), F(0.5 if hi is None else hi)
        if self.lo_fixed and self.hi_fixed:
            adjusted = adjust_minmax_fixed(self.lo, self.hi, 3)
            self.lo, self.hi = adjusted["min"], adjusted["max"]

    def __call__(self, a, a_min, a_max, b, b_min, b_max):
        a_min, a_max, b_min, b_max = map(F, (a_min, a_max, b_min, b_max))
        if not (a_max - a_min) / F(255) >= (b_max - b_min) / F(255):
            a, a_min, a_max, b, b_min, b_max = b, b_min, b_max, a, a_min, a_max
        width = a_max - a_min
        with np.errstate(**SILENT):
            for passes in range(1, 65):
                codes, low, high = spec_pass(a, a_min, a_max, b, b_min, b_max, self.lo, self.hi)
                if not self.hi_fixed and high > self.hi:
                    self.hi = high * F(1.2)
                elif not self.lo_fixed and low < self.lo:
                    self.lo = low * F(1.2)
                elif not self.hi_fixed and self.hi - self.lo < width:
                    self.hi = width + self.lo
                else:
                    return {"out": codes, "out_min": self.lo, "out_max": self.hi, "passes": passes}
        raise ValueError("diverges")


class Flat(Spec):
    """Today's add as a node that remembers its range."""

    sign = 1

    def __init__(self, lo=None, hi=None):
        super().__init__(lo, hi)
        self.given, self.fixed = (lo, hi), self.lo_fixed + 2 * self.hi_fixed
        self.ran, self.looks = False, not self.hi_fixed

    def __call__(self, a, a_min, a_max, b, b_min, b_max):
        a_min, a_max, b_min, b_max = map(F, (a_min, a_max, b_min, b_max))
        steps = [level_zero(a_min, a_max), level_zero(b_min, b_max)]
        with np.errstate(**SILENT):
            if self.fixed != 3:
                low, high = (b_min, b_max) if self.sign == 1 else (-b_max, -b_min)
                self.choose(a_min + low, a_max + high)
            codes, zero, unit, xs = self.run(a, b, steps, self.fixed == 3)
            passes = 1
            if self.looks and self.better(zero, unit, xs):
                codes, passes = self.run(a, b, steps, False)[0], 2
        return {"out": codes, "out_min": self.lo, "out_max": self.hi, "passes": passes}

    def choose(self, lowest, highest):
        highest = max(highest, lowest + F(0.001))
        if not self.ran:
            low, high = F(0.125) * lowest, F(0.125) * highest
            self.lo = min(F(0), self.hi - (high - low)) if self.hi_fixed else self.lo if self.lo_fixed else low
            self.hi = max(F(0), self.lo + (high - low)) if self.lo_fixed else self.hi if self.hi_fixed else high
            self.ran = True
        else:
            full, now = highest - lowest, self.hi - self.lo
            d = full - F(32) * now
            if not d > 0:
                return
            r = d / (F(32) * (full - now))
            self.lo = F(self.given[0]) if self.lo_fixed else self.lo + min(F(0), (lowest - self.lo) * r)
            self.hi = F(self.given[1]) if self.hi_fixed else self.hi + max(F(0), (highest - self.hi) * r)
        self.adjust()

    def adjust(self):
        adjusted = adjust_minmax_fixed(self.lo, self.hi, self.fixed)
        self.lo, self.hi = adjusted["min"], adjusted["max"]

    def run(self, a, b, steps, given):
        scale = F(255) / (self.hi - self.lo)
        fa, fb = (scale * s["step"] for s in steps)
        e = exponent((fa + fb if self.sign == 1 else max(fa, fb)) * F(16384 / 16380))
        if e > 6 and (not given or e > 12):
            raise ValueError("scaling failed")
        n = min(6 - e, 7)
        pre = 1 - n if given and n <= 0 else 0
        ka, kb = (rnd(f * (F(2.0**n) * F(256))) for f in (fa, self.sign * fb))
        zero = (steps[0]["zero"] * ka + steps[1]["zero"] * kb) >> (8 - pre)
        offset = wrap(rnd(-self.lo * scale * F(2.0 if pre else 2.0**n)) - zero, 32)
        xs = [(p * ka + q * kb) >> (8 - pre) for p, q in zip(a, b, strict=True)]
        final, offset = (1, offset) if pre else (n, sat16(offset))
        codes = [sat8(sat16(x + offset) + (1 << final >> 1) >> final) for x in xs]
        return codes, zero, F(1) / (scale * F(2.0**n)), xs

    def better(self, zero, unit, xs):
        low, high = (F(v - zero) * unit for v in ((min([zero, *xs]), max([zero, *xs])) if xs else (32767, -32768)))
        width = high - low
        width = width + max(F(0.15) * width, F(1e-4))
        lower, higher = not self.lo_fixed and low < self.lo, not self.hi_fixed and high > self.hi
        if not (lower or higher):
            return False
        self.lo = min(F(0), high - width) if lower else F(self.given[0]) if self.lo_fixed else self.lo
        self.hi = max(F(0), low + width) if higher else F(self.given[1]) if self.hi_fixed else self.hi
        if self.lo < 0:
            self.adjust()
        return True


class D32(Flat):
    """The add of the blocked layout: given ends hold 0, and any free end may move."""

    def __init__(self, lo=None, hi=None):
        super().__init__(None if lo is None else min(0, lo), None if hi is None else max(0, hi))
        self.looks = self.fixed != 3


class D32Sub(D32):
    """The subtraction of the blocked layout."""

    sign = -1

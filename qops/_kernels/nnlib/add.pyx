"""nnlib's QuantizedAdd_8p8to8: the speculative one, all there was before 2019, and today's flat one.

Both remember their output range.
"""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int16_t, int64_t, uint8_t
from libc.string cimport memset

from qops._kernels.core.rounding cimport (
    plus_half_dsp_s32, saturate_s16, saturate_u8, truncate_dsp_s32, wrap_s16, wrap_s32,
)
from qops._kernels.core.tiers cimport tier
from qops._kernels.nnlib.ranges cimport Ends, Level, Moved, adjust_minmax, exponent, level_zero, power2
from qops._kernels.core.walk cimport STREAM, blocks

cnp.import_array()

cdef extern from "nnlib/add.h":
    ctypedef struct add_spec:
        short ialpha  # 128 * alpha, alpha = range of the coarse operand / range of the fine one
        short ikappa  # what x is at code 128 of the coarse operand and code 0 of the fine one, in fine steps
        short recip, offset  # 32768 fine steps in output steps; output min in output steps
    ctypedef struct add_flat:
        int ka, kb  # steps of a and b in 2**-(8 + right_shift) output steps, below 2**14
        int zero  # what x is for 0 + 0
        int offset  # from x to 2**right_shift output steps
        int first_shift, right_shift
        float unit  # real size of 1 in x
        int feasible
    Py_ssize_t add_spec__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_spec,
                              int16_t*, int16_t*, bint) nogil
    Py_ssize_t add_flat__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_flat,
                              int*, int*, bint) nogil

cdef enum:
    COPIED = 256  # alpha from which the fine operand is ignored
    MOST_PASSES = 64  # then the retry rules of the speculative add never settle


cdef float width(Ends r) noexcept nogil:
    return r.max - r.min


cdef add_spec prepare_spec(Ends a, Ends b, Ends c) noexcept nogil:
    """For a coarse range a, a fine range b and an output range c; every result is cut to 16 bits, not saturated."""
    cdef add_spec p
    cdef float fine = width(b), alpha = width(a) / fine
    cdef float kappa = <float>128 * alpha + (<float>255 * a.min + <float>255 * b.min) / fine
    cdef float lmin = (c.min * <float>255) / fine, lmax = (c.max * <float>255) / fine
    cdef float step = lmax - lmin, recip = <float>8355840 / step
    p.ialpha = wrap_s16(truncate_dsp_s32(<float>128 * alpha))
    p.ikappa = wrap_s16(truncate_dsp_s32(kappa))
    p.recip = wrap_s16(truncate_dsp_s32(<float>32767 if recip >= <float>32767 else recip))
    p.offset = wrap_s16(truncate_dsp_s32((<float>255 * lmin) / step - <float>0.5))
    return p


def add_spec_integers(float a_min, float a_max, float b_min, float b_max, float c_min, float c_max):
    """The integers of the speculative loop for a coarse a, a fine b and an output range, as a dict."""
    return prepare_spec(Ends(a_min, a_max), Ends(b_min, b_max), Ends(c_min, c_max))


cdef inline int16_t spec_sum(int qa, int qb, add_spec p) noexcept nogil:
    """((qa - 128) * ialpha + 64 >> 7) + qb + ikappa, in fine steps, modulo 2**16."""
    return wrap_s16((((qa - 128) * p.ialpha + 64) >> 7) + qb + p.ikappa)


cdef void add_u8u8_u8_spec(const uint8_t* a, const uint8_t* b, uint8_t* c, Py_ssize_t n, add_spec p,
                           int16_t* lowest, int16_t* highest) noexcept nogil:
    """c = sat_u8(wrap_s16(sat_s16(x * recip + 0x4000 >> 15) - offset)), x as spec_sum, whose extremes are watched."""
    cdef Py_ssize_t i = 0
    cdef int16_t x
    if p.recip != -32768:  # the one product that saturates
        i = add_spec__simd(tier(), a, b, c, n, p, lowest, highest, n >= STREAM)
    for i in range(i, n):
        x = spec_sum(a[i], b[i], p)
        lowest[0] = min(lowest[0], x)
        highest[0] = max(highest[0], x)
        c[i] = saturate_u8(wrap_s16(saturate_s16((x * p.recip + 0x4000) >> 15) - p.offset))


cdef add_flat prepare_flat(Level a, Level b, Ends c, bint given) noexcept nogil:
    """For an output range c; `given`: both its ends are, then a coarser first shift is allowed."""
    cdef add_flat p
    cdef float scale = <float>255 / width(c), out_zero = -c.min * scale
    cdef float fa = scale * a.step, fb = scale * b.step, unit
    cdef int e = exponent((fa + fb) * <float>(16384.0 / 16380.0))
    cdef int shift = min(6 - e, 7), pre = 1 - shift if given and shift <= 0 else 0
    memset(&p, 0, sizeof(p))
    p.feasible = e <= 6 or (given and e <= 12)
    if not p.feasible:
        return p
    unit = power2(shift)
    p.ka = plus_half_dsp_s32(fa * (unit * <float>256))
    p.kb = plus_half_dsp_s32(fb * (unit * <float>256))
    p.first_shift = 8 - pre
    p.zero = (a.zero * p.ka + b.zero * p.kb) >> p.first_shift
    p.offset = wrap_s32(<int64_t>plus_half_dsp_s32(out_zero * (<float>2 if pre else unit)) - p.zero)
    p.right_shift = 1 if pre else shift
    if not pre:
        p.offset = saturate_s16(p.offset)
    p.unit = <float>1 / (scale * unit)
    return p


def add_flat_integers(float a_min, float a_max, float b_min, float b_max, float c_min, float c_max, bint given):
    """What the flat loop uses for these ranges, as a dict; feasible is 0 where the original refuses."""
    return prepare_flat(level_zero(Ends(a_min, a_max)), level_zero(Ends(b_min, b_max)), Ends(c_min, c_max), given)


cdef void add_u8u8_u8_flat(const uint8_t* a, const uint8_t* b, uint8_t* c, Py_ssize_t n, add_flat p,
                           int* lowest, int* highest) noexcept nogil:
    """c = sat_u8(sat_s16(x + offset) >> right_shift, half up), x = (a * ka + b * kb) >> first_shift, watched."""
    cdef Py_ssize_t i = add_flat__simd(tier(), a, b, c, n, p, lowest, highest, n >= STREAM)
    cdef int x, half = 1 << p.right_shift >> 1
    for i in range(i, n):
        x = (a[i] * p.ka + b[i] * p.kb) >> p.first_shift
        lowest[0] = min(lowest[0], x)
        highest[0] = max(highest[0], x)
        c[i] = saturate_u8((saturate_s16(<int64_t>x + p.offset) + half) >> p.right_shift)


cdef class Node:
    """An add of the graph: its output range, which it remembers from call to call."""
    cdef Ends given, range
    cdef int fixed  # bit 0: min is given, bit 1: max is
    cdef bint ran

    def __init__(self, lo, hi, bint straddle):
        """Ends that are not None are given; `straddle`: cut to hold 0."""
        self.fixed = (lo is not None) + 2 * (hi is not None)
        self.given = Ends(0 if lo is None else lo, 0.5 if hi is None else hi)
        if straddle:
            self.given = Ends(min(self.given.min, <float>0), max(self.given.max, <float>0))
        self.range = self.given
        if self.fixed == 3:
            self.adjust()

    @property
    def ends(self):
        """The output range."""
        return self.range.min, self.range.max

    cdef void adjust(self) noexcept:
        cdef Moved r = adjust_minmax(self.range, self.fixed, 0)
        self.range = Ends(r.min, r.max)

    cdef bint settle(self, Ends found, float coarse) noexcept:
        """The retry rules of the speculative add, of which the first that holds is followed; False if none does."""
        if not self.fixed & 2 and found.max > self.range.max:
            self.range.max = found.max * <float>1.2
        elif not self.fixed & 1 and found.min < self.range.min:
            self.range.min = found.min * <float>1.2
        elif not self.fixed & 2 and width(self.range) < coarse:
            self.range.max = coarse + self.range.min
        else:
            return False
        return True

    def spec(self, cnp.ndarray x, float a_min, float a_max, cnp.ndarray y, float b_min, float b_max,
             padding, cnp.ndarray out):
        """The speculative add; returns how many passes the original needs, 0 if it never settles.

        No pass changes the sums, so one with the first range and one with the last are enough.
        """
        cdef Ends a = Ends(a_min, a_max), b = Ends(b_min, b_max), before = self.range, found
        cdef int passes = 1
        if not width(a) / <float>255 >= width(b) / <float>255:
            x, y, a, b = y, x, b, a
            padding = padding and padding[::-1]
        found = run_spec((x, y, out), a, b, self.range, padding)
        while self.settle(found, width(a)):
            passes += 1
            if passes > MOST_PASSES:
                self.range = before
                return 0
        if not (isfinite(self.range.min) and isfinite(self.range.max)):
            self.range = before
            return 0
        if passes > 1:
            run_spec((x, y, out), a, b, self.range, padding)
        return passes

    cdef void choose(self, float lowest, float highest) noexcept:
        """The range to start with: an eighth of all that can come, later at least a 32nd of it; never narrower."""
        cdef float full, now, excess, share, move
        highest = max(highest, lowest + <float>0.001)
        if not self.ran:
            full = <float>0.125 * highest - <float>0.125 * lowest
            if self.fixed == 1:
                self.range = Ends(self.given.min, max(<float>0, self.given.min + full))
            elif self.fixed == 2:
                self.range = Ends(min(<float>0, self.given.max - full), self.given.max)
            else:
                self.range = Ends(<float>0.125 * lowest, <float>0.125 * highest)
            self.ran = True
            self.adjust()
            return
        full, now = highest - lowest, width(self.range)
        excess = full - <float>32 * now
        if not excess > 0:
            return
        share = excess / (<float>32 * (full - now))
        move = (lowest - self.range.min) * share
        self.range.min = self.given.min if self.fixed & 1 else self.range.min + move if move < 0 else self.range.min
        move = (highest - self.range.max) * share
        self.range.max = self.given.max if self.fixed & 2 else self.range.max + move if move > 0 else self.range.max
        self.adjust()

    cdef bint widen(self, add_flat p, int lowest, int highest) noexcept:
        """Moves the free ends that the sums lowest..highest are beyond, and 15 % further; False if there are none."""
        cdef float low = <float>(lowest - p.zero) * p.unit, high = <float>(highest - p.zero) * p.unit
        cdef float span = high - low
        cdef bint lower = not self.fixed & 1 and low < self.range.min
        cdef bint higher = not self.fixed & 2 and high > self.range.max
        span += max(<float>0.15 * span, <float>1e-4)
        if not (lower or higher):
            return False
        if lower:
            self.range.min = min(<float>0, high - span)
        elif self.fixed & 1:
            self.range.min = self.given.min
        if higher:
            self.range.max = max(<float>0, low + span)
        elif self.fixed & 2:
            self.range.max = self.given.max
        if self.range.min < 0:
            self.adjust()
        return True

    def flat(self, cnp.ndarray x, float a_min, float a_max, cnp.ndarray y, float b_min, float b_max,
             bint looks, cnp.ndarray out):
        """Today's add; returns how many passes it made, 0 if the output range is infeasible.

        `looks`: whether the extremes of the sums may widen the range.
        """
        cdef Ends before = self.range
        cdef bint had_run = self.ran
        cdef Level a = level_zero(Ends(a_min, a_max)), b = level_zero(Ends(b_min, b_max))
        cdef int lowest = 32767, highest = -32768, passes = 1
        cdef add_flat p
        if self.fixed != 3:
            self.choose(a_min + b_min, a_max + b_max)
        p = prepare_flat(a, b, self.range, self.fixed == 3)
        if p.feasible:
            run_flat((x, y, out), p, &lowest, &highest)
            if looks and self.widen(p, lowest, highest):
                p = prepare_flat(a, b, self.range, False)
                passes = 2
                if p.feasible:
                    run_flat((x, y, out), p, &lowest, &highest)
        if not (p.feasible and isfinite(self.range.min) and isfinite(self.range.max)):
            self.range, self.ran = before, had_run
            return 0
        return passes


cdef Ends run_spec(tuple arrays, Ends a, Ends b, Ends c, padding):
    """One pass of the speculative add; returns the range found."""
    cdef add_spec p = prepare_spec(a, b, c)
    cdef int16_t lowest = 32767, highest = -32768, x
    cdef float fine = width(b)
    cdef cnp.ndarray u, v, w
    if width(a) / fine >= COPIED:
        arrays[2][...] = arrays[0]
        return a
    for u, v, w in blocks(arrays):
        with nogil:
            add_u8u8_u8_spec(<uint8_t*>cnp.PyArray_DATA(u), <uint8_t*>cnp.PyArray_DATA(v),
                             <uint8_t*>cnp.PyArray_DATA(w), cnp.PyArray_SIZE(w), p, &lowest, &highest)
    if padding:
        x = spec_sum(padding[0], padding[1], p)
        lowest, highest = min(lowest, x), max(highest, x)
    return Ends((<float>lowest * fine) / <float>255, (<float>highest * fine) / <float>255)


cdef int run_flat(tuple arrays, add_flat p, int* lowest, int* highest) except -1:
    """One pass of today's add; lowest..highest are widened by the sums, and by that of two zeros."""
    cdef cnp.ndarray u, v, w
    for u, v, w in blocks(arrays):
        if cnp.PyArray_SIZE(w):
            lowest[0], highest[0] = min(lowest[0], p.zero), max(highest[0], p.zero)
        with nogil:
            add_u8u8_u8_flat(<uint8_t*>cnp.PyArray_DATA(u), <uint8_t*>cnp.PyArray_DATA(v),
                             <uint8_t*>cnp.PyArray_DATA(w), cnp.PyArray_SIZE(w), p, lowest, highest)
    return 0

"""One pass of nnlib's QuantizedAdd_8p8to8, by its speculative kernel (the only one before 2019) and its flat kernel."""

cimport numpy as cnp
from libc.stdint cimport INT16_MAX, INT16_MIN, int16_t, int64_t, uint8_t
from libc.string cimport memset

from qops._kernels.stage.rounding cimport (
    plus_half_dsp_s32, saturate_s16, saturate_u8, truncate_dsp_s32, wrap_s16, wrap_s32,
)
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport FloatEnds, Level, exponent, level_zero, power2, steps

cnp.import_array()

cdef extern from "nnlib/add.h":
    ctypedef struct add_spec:
        # ialpha and ikappa count fine steps, recip and offset count output steps.
        short ialpha  # 128 coarse steps
        short ikappa  # the real sum of coarse code 128 and fine code 0
        short recip, offset  # 32768 fine steps; the lower end of the output
        bint copies  # alpha is so large that the result is a copy of the coarse codes
    ctypedef struct add_flat:
        int ka, kb  # steps of a and b in 2**-(8 + right_shift) output steps, below 2**14; to subtract, kb < 0
        int zero  # the x of real 0 + real 0
        int offset  # x + offset counts 2**-right_shift output steps from code 0
        int first_shift, right_shift
        float unit  # real size of one unit of x
        bint feasible
    Py_ssize_t add_spec__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_spec,
                              int16_t*, int16_t*) nogil
    Py_ssize_t add_flat__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_flat,
                              int*, int*) nogil

cdef enum:
    COPIED = 256  # from this alpha on, the fine operand is ignored


cdef struct SpecPass:
    add_spec p
    int16_t lowest, highest  # of the sums


cdef struct FlatPass:
    add_flat p
    int lowest, highest


cdef float width(FloatEnds r) noexcept nogil:
    return r.max - r.min


cdef add_spec prepare_spec(FloatEnds a, FloatEnds b, FloatEnds c) noexcept nogil:
    """The integers for a coarse range a, a fine range b and an output range c. Each wraps to 16 bits."""
    cdef add_spec p
    cdef float fine = width(b), alpha = width(a) / fine
    cdef float kappa = <float>128 * alpha + (steps() * a.min + steps() * b.min) / fine
    cdef float lmin = (c.min * steps()) / fine, lmax = (c.max * steps()) / fine
    cdef float step = lmax - lmin, recip = steps() * <float>32768 / step
    p.ialpha = wrap_s16(truncate_dsp_s32(<float>128 * alpha))
    p.ikappa = wrap_s16(truncate_dsp_s32(kappa))
    p.recip = wrap_s16(truncate_dsp_s32(<float>32767 if recip >= <float>32767 else recip))
    p.offset = wrap_s16(truncate_dsp_s32((steps() * lmin) / step - <float>0.5))
    p.copies = alpha >= COPIED
    return p


def add_spec_integers(tuple a, tuple b, tuple c):
    """The integers of the speculative loop, as a dict: for a coarse range a, a fine range b and an output range c."""
    return prepare_spec(FloatEnds(a[0], a[1]), FloatEnds(b[0], b[1]), FloatEnds(c[0], c[1]))


cdef inline int16_t spec_sum(int qa, int qb, add_spec p) noexcept nogil:
    """((qa - 128) * ialpha + 64 >> 7) + qb + ikappa, in fine steps, modulo 2**16."""
    return wrap_s16((((qa - 128) * p.ialpha + 64) >> 7) + qb + p.ikappa)


cdef void add_u8u8_u8_spec(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8(wrap_s16(sat_s16(x * recip + 0x4000 >> 15) - offset)), x = spec_sum; keeps the extremes of x."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef SpecPass* s = <SpecPass*>using
    cdef add_spec p = s.p
    cdef Py_ssize_t i = 0
    cdef int16_t x, lowest, highest
    if p.recip != -32768:  # -32768 * -32768 is the one product that saturates
        i = add_spec__simd(tier(), a, b, c, n, p, &s.lowest, &s.highest)
    lowest, highest = s.lowest, s.highest
    for i in range(i, n):
        x = spec_sum(a[i], b[i], p)
        lowest, highest = min(lowest, x), max(highest, x)
        c[i] = saturate_u8(wrap_s16(saturate_s16((x * p.recip + 0x4000) >> 15) - p.offset))
    s.lowest, s.highest = lowest, highest


def spec_pass(tuple a, tuple b, tuple c_range, padding, cnp.ndarray out):
    """Write the codes of coarse a + fine b to `out`; return the range of the sums, that of `padding` included."""
    cdef FloatEnds coarse = FloatEnds(a[1], a[2]), fine = FloatEnds(b[1], b[2])
    cdef SpecPass s = SpecPass(prepare_spec(coarse, fine, FloatEnds(c_range[0], c_range[1])), INT16_MAX, INT16_MIN)
    cdef int16_t x
    if s.p.copies:
        out[...] = a[0]
        return coarse.min, coarse.max
    walk(add_u8u8_u8_spec, &s, a[0], b[0], out)
    if padding is not None:
        x = spec_sum(padding[0], padding[1], s.p)
        s.lowest, s.highest = min(s.lowest, x), max(s.highest, x)
    return (<float>s.lowest * width(fine)) / steps(), (<float>s.highest * width(fine)) / steps()


cdef add_flat prepare_flat(Level a, Level b, FloatEnds c, bint given, bint subtract) noexcept nogil:
    """The integers for an output range c. If both its ends are `given`, the first shift may be coarser."""
    cdef add_flat p
    cdef float scale = steps() / width(c), out_zero = -c.min * scale
    cdef float fa = scale * a.step, fb = scale * b.step, unit
    cdef int e = exponent((max(fa, fb) if subtract else fa + fb) * <float>(16384.0 / 16380.0))
    cdef int shift = min(6 - e, 7), pre = 1 - shift if given and shift <= 0 else 0
    memset(&p, 0, sizeof(p))
    p.feasible = e <= 6 or (given and e <= 12)
    if not p.feasible:
        return p
    unit = power2(shift)
    p.ka = plus_half_dsp_s32(fa * (unit * <float>256))
    p.kb = plus_half_dsp_s32((-fb if subtract else fb) * (unit * <float>256))
    p.first_shift = 8 - pre
    p.zero = (a.zero * p.ka + b.zero * p.kb) >> p.first_shift
    p.offset = wrap_s32(<int64_t>plus_half_dsp_s32(out_zero * (<float>2 if pre else unit)) - p.zero)
    p.right_shift = 1 if pre else shift
    if not pre:
        p.offset = saturate_s16(p.offset)
    p.unit = <float>1 / (scale * unit)
    return p


cdef add_flat prepare_flat_of(tuple a, tuple b, tuple c, bint given, bint subtract):
    return prepare_flat(level_zero(FloatEnds(a[0], a[1])), level_zero(FloatEnds(b[0], b[1])), FloatEnds(c[0], c[1]),
                        given, subtract)


def add_flat_integers(tuple a, tuple b, tuple c, bint given, bint subtract=False):
    """The numbers of the flat loop for the ranges a, b and c, as a dict. If nnlib refuses them, feasible is False."""
    return prepare_flat_of(a, b, c, given, subtract)


cdef void add_u8u8_u8_flat(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8(sat_s16(x + offset) >> right_shift, half up), x = (a * ka + b * kb) >> first_shift.

    It keeps the extremes of x.
    """
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef FlatPass* s = <FlatPass*>using
    cdef add_flat p = s.p
    cdef Py_ssize_t i = add_flat__simd(tier(), a, b, c, n, p, &s.lowest, &s.highest)
    cdef int x, half = 1 << p.right_shift >> 1, lowest = s.lowest, highest = s.highest
    for i in range(i, n):
        x = (a[i] * p.ka + b[i] * p.kb) >> p.first_shift
        lowest, highest = min(lowest, x), max(highest, x)
        c[i] = saturate_u8((saturate_s16(<int64_t>x + p.offset) + half) >> p.right_shift)
    s.lowest, s.highest = lowest, highest


def flat_pass(tuple a, tuple b, tuple c_range, bint given, bint subtract, cnp.ndarray out):
    """Write the codes of a + b or a - b to `out`; return the range of the results and 0, None if nnlib refuses."""
    cdef FlatPass s
    s.p = prepare_flat_of(a[1:], b[1:], c_range, given, subtract)
    if not s.p.feasible:
        return None
    s.lowest, s.highest = INT16_MAX, INT16_MIN
    if cnp.PyArray_SIZE(out):
        s.lowest = s.highest = s.p.zero
    walk(add_u8u8_u8_flat, &s, a[0], b[0], out)
    return <float>(s.lowest - s.p.zero) * s.p.unit, <float>(s.highest - s.p.zero) * s.p.unit

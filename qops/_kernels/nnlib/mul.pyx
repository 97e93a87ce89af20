"""nnlib's QuantizedMul_8x8to32, and its QuantizedMul_8x8to8 if both operands have more than one element."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.stage.rounding cimport plus_half_dsp_s32, saturate_u8
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport (
    FloatEnds, Level, Moved, adjust_minmax, exponent, level_of, level_zero, power2, steps,
)
from qops._kernels.stage.mul cimport multiply

cnp.import_array()

cdef extern from "nnlib/mul.h":
    ctypedef struct mul_zeros:
        int a, b
    ctypedef struct mul_params:
        mul_zeros zeros
        int multiplier, offset, right_shift  # from a product to a code
        float min, max
    Py_ssize_t mul_range__simd(int, const uint8_t*, const uint8_t*, Py_ssize_t, mul_zeros, int32_t*, int32_t*) nogil
    Py_ssize_t mul_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, mul_params) nogil


cdef struct MulPass:
    mul_zeros zeros
    int32_t lowest, highest


cdef inline int product(int a, int b, mul_zeros z) noexcept nogil:
    """The product of two codes less their zeros."""
    return (a - z.a) * (b - z.b)


def mul_8x8to32(tuple a, tuple b, cnp.ndarray out):
    """Write the codes of a * b in the range (-max, max) to `out`; return max. An infinite max writes nothing."""
    cdef Level x = level_zero(FloatEnds(a[1], a[2])), y = level_zero(FloatEnds(b[1], b[2]))
    cdef float highest = x.step * y.step * <float>16777216.0
    if isfinite(highest):
        multiply(a[0], x.zero, b[0], y.zero, 7, out)
    return highest


cdef void watch_products(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Widen lowest..highest to hold every product."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef MulPass* found = <MulPass*>using
    cdef Py_ssize_t i = mul_range__simd(tier(), a, b, n, found.zeros, &found.lowest, &found.highest)
    cdef int32_t p, lowest = found.lowest, highest = found.highest
    for i in range(i, n):
        p = product(a[i], b[i], found.zeros)
        lowest, highest = min(lowest, p), max(highest, p)
    found.lowest, found.highest = lowest, highest


cdef mul_params prepare_u8(Level a, Level b, int lowest, int highest) noexcept nogil:
    """The parameters for products in lowest..highest, which includes 0."""
    cdef mul_params r
    cdef float unit = a.step * b.step, scale
    cdef Moved m
    cdef Level c
    r.zeros = mul_zeros(a.zero, b.zero)
    if lowest == highest:
        highest += 4
    m = adjust_minmax(FloatEnds(<float>lowest * unit, <float>highest * unit), 0, <float>1e-6)
    c = level_of(m.min, m.max - m.min)
    if unit * <float>0.0625 < c.step:
        scale = unit / c.step
        r.min, r.max = m.min, m.max
    else:  # the scale is limited to 16 codes per unit, so the range is widened
        scale, c.step = 16, unit * <float>0.0625
        r.min, r.max = <float>-c.zero * c.step, <float>(steps() - c.zero) * c.step
    r.right_shift = min(14 - exponent(scale), 23)
    r.multiplier = plus_half_dsp_s32(scale * power2(r.right_shift))
    r.offset = (2 * c.zero + 1) << (r.right_shift - 1)
    return r


def mul_8x8to8_integers(tuple a, tuple b, int lowest, int highest):
    """The numbers of the loop, as a dict: for products in lowest..highest of codes in the ranges a and b."""
    return prepare_u8(level_zero(FloatEnds(a[0], a[1])), level_zero(FloatEnds(b[0], b[1])), lowest, highest)


cdef void mul_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = the low 16 bits of (product * multiplier + offset) >> right_shift, cut to 255."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef mul_params r = (<mul_params*>using)[0]
    cdef Py_ssize_t i
    for i in range(mul_u8__simd(tier(), a, b, c, n, r), n):
        c[i] = saturate_u8((product(a[i], b[i], r.zeros) * r.multiplier + r.offset >> r.right_shift) & 0xFFFF)


def mul_8x8to8(tuple a, tuple b, cnp.ndarray out):
    """Write the codes of a * b to `out`; return their range, that of the products and 0. None if float32 overflows."""
    cdef Level x = level_zero(FloatEnds(a[1], a[2])), y = level_zero(FloatEnds(b[1], b[2]))
    cdef MulPass found = MulPass(mul_zeros(x.zero, y.zero), 0, 0)
    cdef mul_params r
    walk(watch_products, &found, a[0], b[0], None, False)
    r = prepare_u8(x, y, found.lowest, found.highest)
    if not (isfinite(r.min) and isfinite(r.max)):
        return None
    walk(mul_u8u8_u8, &r, a[0], b[0], out)
    return r.min, r.max

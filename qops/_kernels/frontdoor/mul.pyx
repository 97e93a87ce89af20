"""QuantizedMul into 32 and into 8 bits: the exact product of the real values, rounded once."""

cimport numpy as cnp
from libc.math cimport fabs, isfinite, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.stage.range cimport above
from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.frontdoor.passes cimport (
    Span, code_flips, flips_of, in_passes, into_32, outward, result_typenum, span_found, step,
)

cnp.import_array()

cdef extern from "frontdoor/mul.h":
    ctypedef struct mul_terms:
        int64_t k, ka, kb, kab  # the four terms of a product, in 2**-20 or 2**-23 output steps
    Py_ssize_t mul_u8u8_s32__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, mul_terms,
                                  code_flips) nogil
    Py_ssize_t mul_u8u8_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, mul_terms, code_flips,
                                 int32_t*, int32_t*) nogil

cdef enum:
    FRACTION_8 = 20  # the loop into 8 bits counts in 2**-20 output steps
    FRACTION_32 = 23
    SLACK = 1 << 16  # in 2**-20 output steps; the error of a product is little more than 2**15

cdef double HEAD_ROOM = 2.0**11  # output max / product of the largest absolute ends


cdef mul_terms prepare(Ends a, Ends b, double lowest, double out_step, int fraction) noexcept nogil:
    """The terms in units of out_step / 2**fraction. Code 0 stands for `lowest`; k includes 1/2 for the rounding."""
    cdef double unit = out_step / (1 << fraction), a_step = step(a), b_step = step(b)
    cdef mul_terms p = mul_terms(1 << (fraction - 1), 0, 0, 0)
    if unit > 0:
        p.k += <int64_t>rint((a.min * b.min - lowest) / unit)
        p.ka = <int64_t>rint(a_step * b.min / unit)
        p.kb = <int64_t>rint(a.min * b_step / unit)
        p.kab = <int64_t>rint(a_step * b_step / unit)
    return p


cdef inline int64_t product(int a, int b, mul_terms p) noexcept nogil:
    return p.k + b * p.kb + a * (p.ka + b * p.kab)


cdef double top_of(Ends a, Ends b) noexcept nogil:
    """The max of the int32 range, rounded up to float32."""
    return above(max(fabs(a.min), fabs(a.max)) * max(fabs(b.min), fabs(b.max)) * HEAD_ROOM)


cdef struct MulLoop32:  # what the loop into int32 reads
    mul_terms p
    code_flips flips


cdef double prepare_32(Ends a, Ends b, code_flips flips, void* numbers) noexcept nogil:
    """Set the MulLoop32 for these ranges; see `Prepare32`."""
    cdef MulLoop32* r = <MulLoop32*>numbers
    cdef double top = top_of(a, b)
    r.flips = flips
    if isfinite(top):
        r.p = prepare(a, b, 0, top * 2 / code_type_of(True, 4).steps, FRACTION_32)
    return top


def mul_8x8to32_integers(tuple a, tuple b):
    """The integers k, ka, kb and kab of the loop for the ranges a and b, as a dict."""
    cdef MulLoop32 r
    prepare_32(Ends(a[0], a[1]), Ends(b[0], b[1]), code_flips(0, 0, 0), &r)
    return r.p


cdef void mul_u8u8_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = (k + a * ka + b * kb + a * b * kab) >> 23. No |c| is above 2**20."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef mul_terms p = (<MulLoop32*>using).p
    cdef code_flips f = (<MulLoop32*>using).flips
    cdef Py_ssize_t i
    for i in range(mul_u8u8_s32__simd(tier(), a, b, c, n, p, f), n):
        c[i] = <int32_t>(product(a[i] ^ f.a, b[i] ^ f.b, p) >> FRACTION_32)


def mul_8x8to32(tuple a, tuple b, cnp.ndarray out):
    """Write the int32 codes of a * b to `out`, unchecked; a and b are (codes, min, max)."""
    cdef MulLoop32 products
    cdef code_flips flips
    flips_of(a[0], b[0], cnp.NPY_INT32, True, &flips)
    prepare_32(Ends(a[1], a[2]), Ends(b[1], b[2]), flips, &products)
    walk(mul_u8u8_s32, &products, a[0], b[0], out)


def mul_32(type cls, a, b, bint also_int8, out):
    """Multiply into int32, see `into_32`."""
    cdef MulLoop32 products
    return into_32(cls, a, b, also_int8, out, prepare_32, mul_u8u8_s32, &products)


cdef Ends full_range(Ends a, Ends b) except *:
    """The range of all products of two ranges, exact in float64, then rounded outward to float32."""
    cdef double p = a.min * b.min, q = a.min * b.max, r = a.max * b.min, s = a.max * b.max
    return outward(min(min(p, q), min(r, s)), max(max(p, q), max(r, s)))


cdef struct Watched:
    mul_terms p
    code_flips flips
    bint in_32_bits
    int64_t lowest, highest


cdef void mul_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((k + a * ka + b * kb + a * b * kab) >> 20); keeps the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Watched* s = <Watched*>using
    cdef mul_terms p = s.p
    cdef code_flips f = s.flips
    cdef int32_t least = INT32_MAX, most = INT32_MIN
    cdef int64_t x, low = s.lowest, high = s.highest
    cdef Py_ssize_t i = 0
    if s.in_32_bits:
        i = mul_u8u8_u8__simd(tier(), a, b, c, n, p, f, &least, &most)
        if i > 0:
            low, high = min(low, <int64_t>least), max(high, <int64_t>most)
    for i in range(i, n):
        x = product(a[i] ^ f.a, b[i] ^ f.b, p)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> FRACTION_8) ^ f.c
    s.lowest, s.highest = low, high


cdef Span product_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out,
                       code_flips flips) except *:
    cdef Ends full = full_range(a, b)
    cdef double widest = 2040 * step(c)  # int32 holds 2**31 / 2**20 = 2048 output steps
    cdef Watched w
    w.p, w.flips, w.lowest, w.highest = prepare(a, b, c.min, step(c), FRACTION_8), flips, INT64_MAX, INT64_MIN
    w.in_32_bits = full.max - c.min < widest and c.min - full.min < widest
    walk(mul_u8u8_u8, &w, x, y, out)
    return span_found(<double>w.lowest, <double>w.highest, 1 << FRACTION_8, SLACK, c)


def mul_8x8to8(tuple a, tuple b, tuple c, cnp.ndarray out):
    """Write the codes of a * b in the range c to `out`, unchecked; return the Span as a dict.

    a and b are (codes, min, max).
    """
    cdef code_flips flips
    flips_of(a[0], b[0], cnp.PyArray_TYPE(out), True, &flips)
    return product_pass(a[0], Ends(a[1], a[2]), b[0], Ends(b[1], b[2]), Ends(c[0], c[1]), out, flips)


def mul(type cls, type info, a, b, dtype, guess, range, out, return_info, bint seed=False):
    """Multiply into int32, or into 8 bits by `in_passes`."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    if typenum == cnp.NPY_INT32:
        return mul_32(cls, a, b, True, out)
    return in_passes(cls, info, full_range, product_pass, a, b, typenum, guess, range, out, return_info, seed)

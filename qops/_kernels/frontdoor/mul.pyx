"""QuantizedMul into 32 and into 8 bits: the exact product of the real values, rounded once."""

cimport numpy as cnp
from libc.math cimport fabs, isfinite, rint
from libc.stdint cimport INT32_MAX, INT32_MIN, int32_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.arrays.walk cimport Loop
from qops._kernels.frontdoor.passes cimport (
    Extremes, Into8, BinaryOperands, Target, ZERO_ANYWHERE, ZERO_ON_A_CODE, code_flips, into_8, into_32, operands,
    result_typenum, step, target_of,
)
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.range cimport above, below
from qops._kernels.stage.rounding cimport saturate_u8

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


cdef object multiply_into_32(type cls, BinaryOperands o):
    cdef MulLoop32 products
    return into_32(cls, o, prepare_32, mul_u8u8_s32, &products)


cdef Ends possible_products(Ends a, Ends b) noexcept nogil:
    """The range of all products of two ranges, exact in float64."""
    cdef double p = a.min * b.min, q = a.min * b.max, r = a.max * b.min, s = a.max * b.max
    return Ends(min(min(p, q), min(r, s)), max(max(p, q), max(r, s)))


cdef struct ProductNumbers:
    Extremes extremes
    mul_terms p
    code_flips flips
    bint in_32_bits


cdef void mul_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((k + a * ka + b * kb + a * b * kab) >> 20); keeps the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef ProductNumbers* s = <ProductNumbers*>using
    cdef mul_terms p = s.p
    cdef code_flips f = s.flips
    cdef int32_t least = INT32_MAX, most = INT32_MIN
    cdef int64_t x, low = s.extremes.lowest, high = s.extremes.highest
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
    s.extremes.lowest, s.extremes.highest = low, high


cdef Loop prepare_products(Ends a, Ends b, Ends c, code_flips flips, void* numbers) noexcept nogil:
    """The loop for products in the range c; see `PreparePass`."""
    cdef ProductNumbers* n = <ProductNumbers*>numbers
    cdef Ends possible = possible_products(a, b)
    cdef double widest = 2040 * step(c)  # int32 holds 2**31 / 2**20 = 2048 output steps
    n.extremes.parts, n.extremes.slack = 1 << FRACTION_8, SLACK
    n.p, n.flips = prepare(a, b, c.min, step(c), FRACTION_8), flips
    n.in_32_bits = above(possible.max) - c.min < widest and c.min - below(possible.min) < widest
    return mul_u8u8_u8


cdef object multiply_into_8(type cls, type info, BinaryOperands o, Target target, return_info):
    """Multiply by `in_two_passes`, see `into_8`."""
    cdef ProductNumbers numbers
    cdef Into8 op
    op.possible, op.prepare, op.numbers = possible_products, prepare_products, &numbers
    return into_8(cls, info, o, op, target, return_info)


def mul_8x8to8(type cls, type info, a, b, guess, range, out, return_info):
    """Multiply uint8 codes into uint8 codes, whose range is drawn in to the products."""
    cdef Target target = target_of(guess, range, ZERO_ANYWHERE)
    return multiply_into_8(cls, info, operands(a, b, out, cnp.NPY_UINT8), target, return_info)


def mul_8x8to32(type cls, a, b, out):
    """Multiply uint8 codes into int32 codes."""
    return multiply_into_32(cls, operands(a, b, out, cnp.NPY_INT32))


def mul(type cls, type info, a, b, dtype, guess, range, out, return_info):
    """Multiply uint8 or int8 codes into int32 codes, or into codes of 8 bits with 0 on a code."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    cdef Target target = target_of(guess, range, ZERO_ON_A_CODE)
    cdef BinaryOperands o = operands(a, b, out, typenum, cnp.NPY_INT8)
    if typenum == cnp.NPY_INT32:
        return multiply_into_32(cls, o)
    return multiply_into_8(cls, info, o, target, return_info)

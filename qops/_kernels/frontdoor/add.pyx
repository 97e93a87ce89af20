"""QuantizedAdd and QuantizedSub.

Into 8 bits a - b is the sum of a and -b, flipped codes of b in the negated range. Into int32 a result is rounded once.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, nextafter, rint
from libc.stdint cimport INT16_MAX, INT16_MIN, INT64_MAX, INT64_MIN, int16_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.arrays.walk cimport walk
from qops._kernels.frontdoor.passes cimport (
    OnePass, Span, code_flips, flips_of, in_passes, into_32, outward, result_typenum, span_found, step,
)
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.stage.weighted_sum cimport WeightedSum, weighted_sum

cnp.import_array()

cdef extern from "frontdoor/add.h":
    ctypedef struct add_u8:
        unsigned short ka, kb  # steps of a and of b, in 1/8192 output steps
        short offset  # in 1/32 output steps
    Py_ssize_t add_u8u8_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_u8, code_flips,
                                 int16_t*, int16_t*) nogil

cdef enum:
    SLACK = 3  # in 1/32 output steps; the error of a sum in 16 bits is at most 2.5/32
    FLIP = 0xFF  # code ^ FLIP stands for the negative value in the negated range
    PARTS = 1 << 16  # the 64-bit loop counts in 1/PARTS output steps
    FRACTION_32 = 15  # the loop into int32 counts in 2**-15 output steps

cdef double HEAD_ROOM = 2.0**17  # max of the int32 range / largest absolute end of the ranges
cdef double WIDEST = 2.0**110  # from such an end on, float32 does not hold the width of the int32 range


cdef bint fits_16_bits(Ends a, Ends b, Ends c) noexcept nogil:
    """Whether int16 holds every sum. The unit is 1/32 output step, so the output range is 8160 wide."""
    cdef double first = (a.min + b.min - c.min) / step(c) * 32
    cdef double last = (a.max + b.max - c.min) / step(c) * 32
    return first > -32700 and last < 32700 and step(a) < 7.99 * step(c) and step(b) < 7.99 * step(c)


cdef add_u8 prepare(Ends a, Ends b, Ends c) noexcept nogil:
    cdef add_u8 p
    p.ka = <unsigned short>rint(8192 * step(a) / step(c))
    p.kb = <unsigned short>rint(8192 * step(b) / step(c))
    # + 16: the shift by 5 rounds half up. + 1: the two floored products are 1/2 too low each, on average.
    p.offset = <short>(<int>rint((a.min + b.min - c.min) / step(c) * 32) + 17)
    return p


def add_8p8to8_integers(tuple a, tuple b, tuple c):
    """The ka, kb and offset of the 16-bit loop for the ranges a, b and c, as a dict; ValueError if int16 overflows."""
    cdef Ends p = Ends(a[0], a[1]), s = Ends(b[0], b[1]), r = Ends(c[0], c[1])
    if not (r.max > r.min and fits_16_bits(p, s, r)):
        raise ValueError(f"output range {c}: too narrow for 16 bits")
    return prepare(p, s, r)


cdef struct Narrow:
    add_u8 p
    code_flips flips
    int16_t lowest, highest


cdef void add_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5); keeps the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Narrow* s = <Narrow*>using
    cdef add_u8 p = s.p
    cdef code_flips f = s.flips
    cdef Py_ssize_t i = add_u8u8_u8__simd(tier(), a, b, c, n, p, f, &s.lowest, &s.highest)
    cdef int16_t x, low = s.lowest, high = s.highest
    for i in range(i, n):
        x = <int16_t>((((a[i] ^ f.a) << 8) * <unsigned int>p.ka >> 16)
                      + (((b[i] ^ f.b) << 8) * <unsigned int>p.kb >> 16) + p.offset)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 5) ^ f.c
    s.lowest, s.highest = low, high


cdef struct Wide:
    int64_t ta[256]
    int64_t tb[256]
    uint8_t flip  # of c; the tables contain the flips of a and b
    int64_t lowest, highest


cdef void add_u8u8_u8_wide(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((ta[a] + tb[b]) >> 16). Tables of 1/65536 output steps, for ranges whose sums overflow int16."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Wide* s = <Wide*>using
    cdef Py_ssize_t i
    cdef int64_t x
    for i in range(n):
        x = s.ta[a[i]] + s.tb[b[i]]
        s.lowest = min(s.lowest, x)
        s.highest = max(s.highest, x)
        c[i] = saturate_u8(x >> 16) ^ s.flip


cdef Span add_narrow(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out, code_flips flips):
    cdef Narrow n
    n.p, n.flips, n.lowest, n.highest = prepare(a, b, c), flips, INT16_MAX, INT16_MIN
    walk(add_u8u8_u8, &n, x, y, out)
    return span_found(n.lowest, n.highest, 32, SLACK, c)


cdef Span add_wide(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out, code_flips flips):
    cdef Wide w
    cdef double unit = step(c) / PARTS
    cdef int q
    w.flip, w.lowest, w.highest = flips.c, INT64_MAX, INT64_MIN
    for q in range(256):
        w.ta[q ^ flips.a] = <int64_t>rint(q * (step(a) / unit))
        w.tb[q ^ flips.b] = <int64_t>rint(q * (step(b) / unit) + (a.min + b.min - c.min) / unit) + PARTS // 2
    walk(add_u8u8_u8_wide, &w, x, y, out)
    return span_found(<double>w.lowest, <double>w.highest, PARTS, 2, c)


cdef Ends full_range(Ends a, Ends b) except *:
    """The range of all sums of two ranges, rounded outward to float32. It is 0 wide only if the sum is exact."""
    cdef double lo = a.min + b.min, hi = a.max + b.max
    if lo == hi and not (lo - a.min == b.min and lo - b.min == a.min and hi - a.max == b.max and hi - b.max == a.max):
        lo, hi = nextafter(lo, -INFINITY), nextafter(hi, INFINITY)  # float64 rounded the smaller term away
    return outward(lo, hi)


cdef Span sum_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out,
                   code_flips flips) except *:
    return add_narrow(x, a, y, b, c, out, flips) if fits_16_bits(a, b, c) else add_wide(x, a, y, b, c, out, flips)


cdef Ends negated(Ends r) noexcept nogil:
    """The range of the negated values, with 0 instead of -0."""
    return Ends(0 - r.max, 0 - r.min)


cdef Ends full_difference(Ends a, Ends b) except *:
    return full_range(a, negated(b))


cdef Span difference_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out,
                          code_flips flips) except *:
    flips.b ^= FLIP
    return sum_pass(x, a, y, negated(b), c, out, flips)


cdef double farthest(Ends a, Ends b) noexcept nogil:
    """The largest absolute value in two ranges."""
    return max(fabs(a.min), fabs(a.max), fabs(b.min), fabs(b.max))


cdef double sum_32(Ends a, Ends b, code_flips flips, void* numbers) noexcept nogil:
    """Set the WeightedSum of a + b, in 2**-15 output steps; see `Prepare32`. k includes 1/2 for the rounding."""
    cdef WeightedSum* p = <WeightedSum*>numbers
    cdef double top = farthest(a, b) * HEAD_ROOM, unit = 2 * top / code_type_of(True, 4).steps / (1 << FRACTION_32)
    p[0] = WeightedSum(0, 0, 1 << (FRACTION_32 - 1), FRACTION_32, flips.a, flips.b)
    if farthest(a, b) >= WIDEST:
        return INFINITY
    if unit > 0:
        p.ka = <int>rint(step(a) / unit)
        p.kb = <int>rint(step(b) / unit)
        p.k += <int>rint((a.min + b.min) / unit)
    return top


cdef double difference_32(Ends a, Ends b, code_flips flips, void* numbers) noexcept nogil:
    """The same of a - b; kb is negative."""
    return sum_32(a, Ends(-b.min, -b.max), flips, numbers)


def add_8p8to32_integers(tuple a, tuple b):
    """The integers ka, kb and k of the loop into int32 for the ranges a and b, as a dict."""
    cdef WeightedSum p
    sum_32(Ends(a[0], a[1]), Ends(b[0], b[1]), code_flips(0, 0, 0), &p)
    return {"ka": p.ka, "kb": p.kb, "k": p.k}


def add_8p8to8(tuple a, tuple b, tuple c, cnp.ndarray out, bint subtract=False):
    """Write the codes of a + b or a - b in the range c to `out`, unchecked; return the Span as a dict.

    a and b are (codes, min, max).
    """
    cdef OnePass one = difference_pass if subtract else sum_pass
    cdef code_flips flips
    flips_of(a[0], b[0], cnp.PyArray_TYPE(out), True, &flips)
    return one(a[0], Ends(a[1], a[2]), b[0], Ends(b[1], b[2]), Ends(c[0], c[1]), out, flips)


def add_8p8to32(tuple a, tuple b, cnp.ndarray out):
    """Write the int32 codes of a + b to `out`, unchecked; a and b are (codes, min, max)."""
    cdef WeightedSum p
    cdef code_flips flips
    flips_of(a[0], b[0], cnp.NPY_INT32, True, &flips)
    sum_32(Ends(a[1], a[2]), Ends(b[1], b[2]), flips, &p)
    walk(weighted_sum, &p, a[0], b[0], out)


def add_32(type cls, a, b, bint also_int8, out):
    """Add into int32, see `into_32`."""
    cdef WeightedSum p
    return into_32(cls, a, b, also_int8, out, sum_32, weighted_sum, &p)


def sub_32(type cls, a, b, bint also_int8, out):
    """Subtract into int32, see `into_32`."""
    cdef WeightedSum p
    return into_32(cls, a, b, also_int8, out, difference_32, weighted_sum, &p)


def add(type cls, type info, a, b, dtype, guess, range, out, return_info, bint seed=False):
    """Add into int32, or into 8 bits by `in_passes`."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    if typenum == cnp.NPY_INT32:
        return add_32(cls, a, b, True, out)
    return in_passes(cls, info, full_range, sum_pass, a, b, typenum, guess, range, out, return_info, seed)


def sub(type cls, type info, a, b, dtype, guess, range, out, return_info, bint seed=False):
    """Subtract into int32, or into 8 bits by `in_passes`."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    if typenum == cnp.NPY_INT32:
        return sub_32(cls, a, b, True, out)
    return in_passes(cls, info, full_difference, difference_pass, a, b, typenum, guess, range, out, return_info, seed)

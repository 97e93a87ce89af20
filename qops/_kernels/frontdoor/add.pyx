"""QuantizedAdd and QuantizedSub into 8 bits: of a - b the codes of b are read as those of its range turned around."""

cimport numpy as cnp
from libc.math cimport INFINITY, nextafter, rint
from libc.stdint cimport INT16_MAX, INT16_MIN, INT64_MAX, INT64_MIN, int16_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport STREAM, walk
from qops._kernels.frontdoor.passes cimport OnePass, Span, in_passes, outward, span_found, step

cnp.import_array()

cdef extern from "frontdoor/add.h":
    ctypedef struct add_u8:
        unsigned short ka, kb  # step of a, of b, in 1/8192 output steps
        short offset  # in 1/32 output steps
    Py_ssize_t add_u8u8_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_u8, bint,
                                 int16_t*, int16_t*, bint) nogil

cdef enum:
    SLACK = 3  # the sum of the 8-bit loop is within 2.5/32 output steps of the truth
    TURNED = 0xFF  # a code xor this has the same value in the range that is turned around
    PARTS = 1 << 16  # of an output step, in 64 bits


cdef bint fits_16_bits(Ends a, Ends b, Ends c) noexcept nogil:
    """Whether no sum can leave int16, whatever the codes: the values run from `offset` on, 8160 an output range."""
    cdef double first = (a.min + b.min - c.min) / step(c) * 32
    cdef double last = (a.max + b.max - c.min) / step(c) * 32
    return first > -32700 and last < 32700 and step(a) < 7.99 * step(c) and step(b) < 7.99 * step(c)


cdef add_u8 prepare(Ends a, Ends b, Ends c) noexcept nogil:
    cdef add_u8 p
    p.ka = <unsigned short>rint(8192 * step(a) / step(c))
    p.kb = <unsigned short>rint(8192 * step(b) / step(c))
    # 16 rounds the shift by 5 half up; 1 makes up for what the two floored products lose on average
    p.offset = <short>(<int>rint((a.min + b.min - c.min) / step(c) * 32) + 17)
    return p


def add_8p8to8_integers(tuple a, tuple b, tuple c):
    """ka, kb and offset of the 16-bit loop for the ranges a, b and c, a dict; ValueError if 16 bits do not do."""
    cdef Ends p = Ends(a[0], a[1]), s = Ends(b[0], b[1]), r = Ends(c[0], c[1])
    if not (r.max > r.min and fits_16_bits(p, s, r)):
        raise ValueError(f"output range {c}: too narrow for 16 bits")
    return prepare(p, s, r)


cdef struct Narrow:
    add_u8 p
    int turn  # TURNED or 0, for the codes of b
    int16_t lowest, highest


cdef void add_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5), watching the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Narrow* s = <Narrow*>using
    cdef add_u8 p = s.p
    cdef Py_ssize_t i = add_u8u8_u8__simd(tier(), a, b, c, n, p, s.turn != 0, &s.lowest, &s.highest, n >= STREAM)
    cdef int16_t x, low = s.lowest, high = s.highest
    cdef int turn = s.turn
    for i in range(i, n):
        x = <int16_t>(((a[i] << 8) * <unsigned int>p.ka >> 16) + (((b[i] ^ turn) << 8) * <unsigned int>p.kb >> 16)
                      + p.offset)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 5)
    s.lowest, s.highest = low, high


cdef struct Wide:
    int64_t ta[256]
    int64_t tb[256]
    int64_t lowest, highest


cdef void add_u8u8_u8_wide(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((ta[a] + tb[b]) >> 16), terms in 1/65536 output steps: for ranges that 16 bits cannot hold."""
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
        c[i] = saturate_u8(x >> 16)


cdef Span add_narrow(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out, int turn):
    cdef Narrow n = Narrow(prepare(a, b, c), turn, INT16_MAX, INT16_MIN)
    walk(add_u8u8_u8, &n, x, y, out)
    return span_found(n.lowest, n.highest, 32, SLACK, c)


cdef Span add_wide(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out, int turn):
    cdef Wide w
    cdef double unit = step(c) / PARTS
    cdef int q
    w.lowest, w.highest = INT64_MAX, INT64_MIN
    for q in range(256):
        w.ta[q] = <int64_t>rint(q * (step(a) / unit))
        w.tb[q ^ turn] = <int64_t>rint(q * (step(b) / unit) + (a.min + b.min - c.min) / unit) + PARTS // 2
    walk(add_u8u8_u8_wide, &w, x, y, out)
    return span_found(<double>w.lowest, <double>w.highest, PARTS, 2, c)


cdef Ends full_range(Ends a, Ends b) except *:
    """All that the sum of two ranges can span, rounded outward to float32; zero wide only where that is exact."""
    cdef double lo = a.min + b.min, hi = a.max + b.max
    if lo == hi and not (lo - a.min == b.min and lo - b.min == a.min and hi - a.max == b.max and hi - b.max == a.max):
        lo, hi = nextafter(lo, -INFINITY), nextafter(hi, INFINITY)  # float64 has lost the smaller one
    return outward(lo, hi)


cdef Span one_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out, int turn):
    """out = the codes of x + y in the range c, which is not 0 wide."""
    return add_narrow(x, a, y, b, c, out, turn) if fits_16_bits(a, b, c) else add_wide(x, a, y, b, c, out, turn)


cdef Span sum_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out) except *:
    return one_pass(x, a, y, b, c, out, 0)


cdef Ends turned(Ends r) noexcept nogil:
    """The range of the negative values; of 0, not -0."""
    return Ends(0 - r.max, 0 - r.min)


cdef Ends full_difference(Ends a, Ends b) except *:
    return full_range(a, turned(b))


cdef Span difference_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out) except *:
    return one_pass(x, a, y, turned(b), c, out, TURNED)


def add_8p8to8(tuple a, tuple b, tuple c, cnp.ndarray out, bint subtract=False):
    """out = the codes of a + b or a - b, (codes, min, max), in the range c, unchecked; the Span found, a dict."""
    cdef OnePass one = difference_pass if subtract else sum_pass
    return one(a[0], Ends(a[1], a[2]), b[0], Ends(b[1], b[2]), Ends(c[0], c[1]), out)


def quantized_add_8p8to8(type cls, a, b, guess, range, out, return_info):
    """The sum: `in_passes`."""
    return in_passes(cls, full_range, sum_pass, a, b, guess, range, out, return_info)


def quantized_sub_8p8to8(type cls, a, b, guess, range, out, return_info):
    """The difference: `in_passes`."""
    return in_passes(cls, full_difference, difference_pass, a, b, guess, range, out, return_info)

"""QuantizedAdd: the integers of the loops, made from float ranges, and the loops."""

cimport numpy as cnp
from libc.math cimport fabsf, fmaxf, rint, roundf
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t

from qops._kernels.core.checks cimport Ends
from qops._kernels.core.range cimport above, below
from qops._kernels.core.rounding cimport saturate_u8
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "frontdoor/add.h":
    ctypedef struct add_u8:
        unsigned short ka, kb  # step of a, of b, in 1/8192 output steps
        short offset  # in 1/32 output steps
    Py_ssize_t add_u8u8_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_u8,
                                 int16_t*, int16_t*, bint) nogil

cdef extern from "frontdoor/add_8p8to32.h":
    ctypedef struct add_s32:
        int za, zb  # codes of 0
        float ma, mb  # steps of a, of b, in output steps
        float max
    Py_ssize_t add_u8u8_s32__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, add_s32, bint) nogil

cdef enum:
    SLACK = 3  # the sum of the 8-bit loop is within 2.5/32 output steps of the truth


cdef double step(Ends r) noexcept nogil:
    return (r.max - r.min) / 255


cdef bint fits_16_bits(Ends a, Ends b, Ends c) noexcept nogil:
    """Whether no sum can leave int16, whatever the codes: the values run from `offset` on, 8160 an output range."""
    cdef double first = (a.min + b.min - c.min) / step(c) * 32
    cdef double last = (a.max + b.max - c.min) / step(c) * 32
    return first > -32700 and last < 32700 and step(a) < 7.99 * step(c) and step(b) < 7.99 * step(c)


cdef add_u8 prepare_u8(Ends a, Ends b, Ends c) noexcept nogil:
    cdef add_u8 p
    p.ka = <unsigned short>rint(8192 * step(a) / step(c))
    p.kb = <unsigned short>rint(8192 * step(b) / step(c))
    # 16 rounds the shift by 5 half up; 1 makes up for what the two truncated products lose on average
    p.offset = <short>(<int>rint((a.min + b.min - c.min) / step(c) * 32) + 17)
    return p


def add_8p8to8_integers(double a_min, double a_max, double b_min, double b_max, double c_min, double c_max):
    """The integers ka, kb and offset of the 16-bit loop for these ranges, a dict; ValueError if 16 bits do not do."""
    cdef Ends a = Ends(a_min, a_max), b = Ends(b_min, b_max), c = Ends(c_min, c_max)
    if not (c_max > c_min and fits_16_bits(a, b, c)):
        raise ValueError(f"output range ({c_min}, {c_max}): too narrow for 16 bits")
    return prepare_u8(a, b, c)


cdef void add_u8u8_u8(const uint8_t* a, const uint8_t* b, uint8_t* c, Py_ssize_t n, add_u8 p,
                      int16_t* lowest, int16_t* highest) noexcept nogil:
    """c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5), watching the extremes before saturation."""
    cdef Py_ssize_t i = add_u8u8_u8__simd(tier(), a, b, c, n, p, lowest, highest, n >= STREAM)
    cdef int16_t x, low = lowest[0], high = highest[0]
    for i in range(i, n):
        x = <int16_t>(((a[i] << 8) * <unsigned int>p.ka >> 16) + ((b[i] << 8) * <unsigned int>p.kb >> 16) + p.offset)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 5)
    lowest[0], highest[0] = low, high


cdef struct Narrow:
    add_u8 p
    int16_t lowest, highest


cdef void add_u8u8_u8_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Narrow* s = <Narrow*>using
    add_u8u8_u8(<uint8_t*>data[0], <uint8_t*>data[1], <uint8_t*>data[2], n, s.p, &s.lowest, &s.highest)


cdef void add_u8u8_u8_wide(const uint8_t* a, const uint8_t* b, uint8_t* c, Py_ssize_t n,
                           const int64_t* ta, const int64_t* tb, int64_t* lowest, int64_t* highest) noexcept nogil:
    """c = sat_u8((ta[a] + tb[b]) >> 16): every term in 1/65536 output steps, for ranges that 16 bits cannot hold."""
    cdef Py_ssize_t i
    cdef int64_t x
    for i in range(n):
        x = ta[a[i]] + tb[b[i]]
        lowest[0] = min(lowest[0], x)
        highest[0] = max(highest[0], x)
        c[i] = saturate_u8(x >> 16)


cdef struct Wide:
    int64_t ta[256]
    int64_t tb[256]
    int64_t lowest, highest


cdef void add_u8u8_u8_wide_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Wide* s = <Wide*>using
    add_u8u8_u8_wide(<uint8_t*>data[0], <uint8_t*>data[1], <uint8_t*>data[2], n, s.ta, s.tb, &s.lowest, &s.highest)


cdef class Span:
    """What one pass over the data found: whether all codes fitted, and a range that holds every sum."""


cdef Span found(double lowest, double highest, double unit, double slack, Ends c):
    """The Span of sums that lie `lowest` to `highest` units above c.min, known within `slack` units."""
    cdef Span s = Span()
    s.min, s.max = below(c.min + (lowest - slack) * unit), above(c.min + (highest + slack) * unit)
    return s


cdef Span add_narrow(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out):
    cdef Narrow n = Narrow(prepare_u8(a, b, c), 32767, -32768)
    cdef Span s
    walk(add_u8u8_u8_loop, &n, x, y, out)
    s = found(n.lowest - 16, n.highest - 16, step(c) / 32, SLACK, c)
    s.fits = n.lowest >= 0 and n.highest < 256 * 32
    return s


cdef Span add_wide(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out):
    cdef Wide w
    cdef double unit = step(c) / 65536
    cdef Span s
    cdef int q
    w.lowest, w.highest = 1LL << 62, -(1LL << 62)
    for q in range(256):
        w.ta[q] = <int64_t>rint(q * (step(a) / unit))
        w.tb[q] = <int64_t>rint(q * (step(b) / unit) + (a.min + b.min - c.min) / unit) + 32768
    walk(add_u8u8_u8_wide_loop, &w, x, y, out)
    s = found(<double>w.lowest - 32768, <double>w.highest - 32768, unit, 2, c)
    s.fits = w.lowest >= 0 and w.highest < 256 * 65536
    return s


cpdef Span add_8p8to8(cnp.ndarray x, double a_min, double a_max, cnp.ndarray y, double b_min, double b_max,
                      double c_min, double c_max, cnp.ndarray out):
    """One pass: out = the codes of x + y in the range (c_min, c_max), c_min < c_max; returns the Span it found."""
    cdef Ends a = Ends(a_min, a_max), b = Ends(b_min, b_max), c = Ends(c_min, c_max)
    if fits_16_bits(a, b, c):
        return add_narrow(x, a, y, b, c, out)
    return add_wide(x, a, y, b, c, out)


cdef int quantize_uint(float lo, float hi) noexcept nogil:
    """Code of 0 in the range (lo, hi), cut at 0 only, as nnlib's quantize_uint."""
    cdef float code = roundf((<float>0 - lo) * (<float>255 / fmaxf(<float>1e-18, hi - lo)))
    return <int>max(<float>0, min(code, <float>2147483520))  # the largest float32 below 2**31


cdef add_s32 prepare_s32(float a_min, float a_max, float b_min, float b_max) noexcept nogil:
    cdef add_s32 p
    cdef float level
    p.max = fmaxf(fmaxf(fabsf(a_min), a_max), fmaxf(fabsf(b_min), b_max)) * <float>131072
    level = (p.max - -p.max) / <float>4294967296.0
    p.za = min(255, quantize_uint(a_min, a_max))
    p.zb = quantize_uint(b_min, b_max)
    p.ma = ((a_max - a_min) / <float>255) / level if level > 0 else <float>0
    p.mb = ((b_max - b_min) / <float>255) / level if level > 0 else <float>0
    return p


def add_8p8to32_integers(float a_min, float a_max, float b_min, float b_max):
    """What the 8p8to32 loop uses for these ranges, as a dict: za, zb, ma, mb and the output's max."""
    return prepare_s32(a_min, a_max, b_min, b_max)


cdef void add_u8u8_s32(const uint8_t* a, const uint8_t* b, int32_t* c, Py_ssize_t n, add_s32 p) noexcept nogil:
    """c = trunc(0.5 + (a - za) * ma + (b - zb) * mb), in float32, one rounding an operation."""
    cdef Py_ssize_t i = add_u8u8_s32__simd(tier(), a, b, c, n, p, 4 * n >= STREAM)
    cdef float x, y
    for i in range(i, n):
        x = <float>(a[i] - p.za) * p.ma
        y = <float>(b[i] - p.zb) * p.mb
        c[i] = <int32_t>((<float>0.5 + x) + y)


cdef void add_u8u8_s32_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    add_u8u8_s32(<uint8_t*>data[0], <uint8_t*>data[1], <int32_t*>data[2], n, (<add_s32*>using)[0])


cpdef double add_8p8to32(cnp.ndarray x, float a_min, float a_max, cnp.ndarray y, float b_min, float b_max,
                         cnp.ndarray out) except? -1:
    """out = the codes of x + y in the range (-max, max); returns max."""
    cdef add_s32 p = prepare_s32(a_min, a_max, b_min, b_max)
    walk(add_u8u8_s32_loop, &p, x, y, out)
    return p.max

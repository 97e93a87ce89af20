"""QuantizedAdd into 8 bits: guess a range, watch the sums, write at most once more."""

cimport numpy as cnp
from libc.math cimport INFINITY, isfinite, nextafter, rint
from libc.stdint cimport int16_t, int64_t, uint8_t

from qops._kernels.core.checks cimport Ends, operands_of, output, real, span_of
from qops._kernels.core.codes cimport tensor
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

cdef enum:
    SLACK = 3  # the sum of the 8-bit loop is within 2.5/32 output steps of the truth

cdef double TIGHT = 15 / 16.  # a range found is worth a second pass when it is narrower than this share of the first
cdef double NARROWEST = 2.0**-32  # of all that the sums may span: what is narrower than this cannot be measured


cdef double step(Ends r) noexcept nogil:
    return (r.max - r.min) / 255


# ---------------------------------------------------------------- one pass, in 16 bits or in 64


cdef bint fits_16_bits(Ends a, Ends b, Ends c) noexcept nogil:
    """Whether no sum can leave int16, whatever the codes: the values run from `offset` on, 8160 an output range."""
    cdef double first = (a.min + b.min - c.min) / step(c) * 32
    cdef double last = (a.max + b.max - c.min) / step(c) * 32
    return first > -32700 and last < 32700 and step(a) < 7.99 * step(c) and step(b) < 7.99 * step(c)


cdef add_u8 prepare(Ends a, Ends b, Ends c) noexcept nogil:
    cdef add_u8 p
    p.ka = <unsigned short>rint(8192 * step(a) / step(c))
    p.kb = <unsigned short>rint(8192 * step(b) / step(c))
    # 16 rounds the shift by 5 half up; 1 makes up for what the two truncated products lose on average
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
    int16_t lowest, highest


cdef void add_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5), watching the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Narrow* s = <Narrow*>using
    cdef add_u8 p = s.p
    cdef Py_ssize_t i = add_u8u8_u8__simd(tier(), a, b, c, n, p, &s.lowest, &s.highest, n >= STREAM)
    cdef int16_t x, low = s.lowest, high = s.highest
    for i in range(i, n):
        x = <int16_t>(((a[i] << 8) * <unsigned int>p.ka >> 16) + ((b[i] << 8) * <unsigned int>p.kb >> 16) + p.offset)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 5)
    s.lowest, s.highest = low, high


cdef struct Wide:
    int64_t ta[256]
    int64_t tb[256]
    int64_t lowest, highest


cdef void add_u8u8_u8_wide(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((ta[a] + tb[b]) >> 16): every term in 1/65536 output steps, for ranges that 16 bits cannot hold."""
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


cdef struct Span:  # what one pass over the data found: whether all codes fitted, and a range that holds every sum
    bint fits
    double min, max


cdef Span span_found(double lowest, double highest, int parts, int slack, Ends c) noexcept nogil:
    """The Span of sums that, with the half that rounds, lie `lowest` to `highest` parts of a step above c.min, known
    within `slack` parts."""
    cdef double part = step(c) / parts
    cdef bint fits = lowest >= 0 and highest < 256 * <double>parts
    lowest, highest = lowest - parts // 2 - slack, highest - parts // 2 + slack
    return Span(fits, below(c.min + lowest * part), above(c.min + highest * part))


cdef Span add_narrow(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out):
    cdef Narrow n = Narrow(prepare(a, b, c), 32767, -32768)
    walk(add_u8u8_u8, &n, x, y, out)
    return span_found(n.lowest, n.highest, 32, SLACK, c)


cdef Span add_wide(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out):
    cdef Wide w
    cdef double unit = step(c) / 65536
    cdef int q
    w.lowest, w.highest = 1LL << 62, -(1LL << 62)
    for q in range(256):
        w.ta[q] = <int64_t>rint(q * (step(a) / unit))
        w.tb[q] = <int64_t>rint(q * (step(b) / unit) + (a.min + b.min - c.min) / unit) + 32768
    walk(add_u8u8_u8_wide, &w, x, y, out)
    return span_found(<double>w.lowest, <double>w.highest, 65536, 2, c)


# ---------------------------------------------------------------- the output range, and the op


cdef Ends full_range(Ends a, Ends b) except *:
    """All that the sum of two ranges can span, rounded outward to float32; zero wide only where that is exact."""
    cdef double lo = a.min + b.min, hi = a.max + b.max
    if lo == hi and not (lo - a.min == b.min and lo - b.min == a.min and hi - a.max == b.max and hi - b.max == a.max):
        lo, hi = nextafter(lo, -INFINITY), nextafter(hi, INFINITY)  # float64 has lost the smaller one
    if not isfinite(<double>above(hi) - below(lo)):
        raise ValueError(f"a, b: the sum of the ranges, ({lo}, {hi}), is beyond float32")
    return Ends(below(lo), above(hi))


cdef struct Wish:  # what the caller says of the output range
    Ends ends
    bint has_min, has_max, kept


cdef Wish wished(guess, kept) except *:
    """The ends of `guess` or of `kept`, checked; no end of a range to keep is left to the data."""
    cdef Wish w = Wish(Ends(0, 0), False, False, kept is not None)
    cdef str name = "range" if w.kept else "guess"
    given = kept if w.kept else guess
    if given is None:
        return w
    if w.kept and guess is not None:
        raise ValueError(f"range: {kept!r:.80} is given, and guess as well: {guess!r:.80}")
    try:
        lo, hi = given
    except (TypeError, ValueError):
        raise TypeError(f"{name}: expected (min, max), got {given!r:.80}") from None
    w.has_min, w.has_max = w.kept or lo is not None, w.kept or hi is not None
    if w.has_min and w.has_max:
        span_of(lo, hi, name, &w.ends)
    elif w.has_min:
        w.ends.min = real(lo, "guess min")
    elif w.has_max:
        w.ends.max = real(hi, "guess max")
    return w


cdef Ends first_range(Wish* w, Ends full) except *:
    """The range to write with: what is wished for, the rest from `full`; a guess that cannot be measured is none."""
    cdef Ends ends = Ends(w.ends.min if w.has_min else full.min, w.ends.max if w.has_max else full.max)
    if ends.max - ends.min > (max(ends.max, full.max) - min(ends.min, full.min)) * NARROWEST:
        return ends
    if not w.kept:
        w.has_min = w.has_max = False
        return full
    if ends.min < ends.max:
        raise ValueError(f"range: ({ends.min}, {ends.max}) is too narrow for sums of ({full.min}, {full.max})")
    return ends


cdef Ends second_range(Ends found, Wish w, Ends full) noexcept nogil:
    """The range to write with again: a guessed end stays where it holds; never too narrow to be measured."""
    cdef double lo = w.ends.min if w.has_min and w.ends.min <= found.min else found.min
    cdef double hi = w.ends.max if w.has_max and w.ends.max >= found.max else found.max
    cdef double least = 2 * NARROWEST * (full.max - full.min)
    return Ends(lo, hi) if hi - lo >= least else Ends(below(lo), above(lo + least))


cdef Span one_pass(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out):
    """out = the codes of x + y in the range c, which is not 0 wide."""
    return add_narrow(x, a, y, b, c, out) if fits_16_bits(a, b, c) else add_wide(x, a, y, b, c, out)


def add_8p8to8(tuple a, tuple b, tuple c, cnp.ndarray out):
    """out = the codes of a + b, operands (codes, min, max), in the range c, unchecked; the Span found, a dict."""
    return one_pass(a[0], Ends(a[1], a[2]), b[0], Ends(b[1], b[2]), Ends(c[0], c[1]), out)


def quantized_add_8p8to8(a, b, guess, kept, out, bint info):
    """The sum's codes in the range `kept`, or in the guessed one where that serves; and (passes, lowest, highest)."""
    cdef Wish wish = wished(guess, kept)
    cdef Ends p, s, ends, better, full, seen
    cdef Span found
    cdef cnp.ndarray x, y, codes
    cdef int passes = 1
    x, y = operands_of(a, b, "a", "b", cnp.NPY_UINT8, &p, &s)
    seen = full = full_range(p, s)
    ends = first_range(&wish, full)
    codes = output(out, cnp.NPY_UINT8, x, y)
    if ends.min == ends.max or cnp.PyArray_SIZE(codes) == 0:  # one value, which code 0 stands for; or nothing
        (<object>codes).fill(0)
    else:
        found = one_pass(x, p, y, s, ends, codes)
        seen = Ends(max(found.min, full.min), min(found.max, full.max))
        better = second_range(seen, wish, full)
        if not wish.kept and (not found.fits or better.max - better.min <= TIGHT * (ends.max - ends.min)):
            ends, passes = better, 2
            one_pass(x, p, y, s, ends, codes)
    result = tensor(codes, ends.min, ends.max)
    return (result, passes, seen.min, seen.max) if info else result

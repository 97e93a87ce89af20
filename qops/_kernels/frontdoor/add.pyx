"""QuantizedAdd and QuantizedSub.

Into 8 bits, `in_two_passes` of passes.pyx finds the output range, and a pass is one of the two loops below. a - b is
the sum of a and -b, flipped codes of b in the negated range. Into int32 a result is rounded once.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, nextafter, rint
from libc.stdint cimport INT16_MAX, INT16_MIN, int16_t, int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.arrays.walk cimport Loop
from qops._kernels.frontdoor.passes cimport (
    Extremes, Into8, BinaryOperands, Prepare32, Target, ZERO_ANYWHERE, ZERO_ON_A_CODE, code_flips, into_8, into_32,
    operands, result_typenum, step, target_of,
)
from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.stage.weighted_sum cimport WeightedSum, weighted_sum
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef extern from "frontdoor/add.h":
    ctypedef struct add_u8:
        unsigned short ka, kb  # steps of a and of b, in 1/8192 output steps
        short offset  # in 1/32 output steps
    Py_ssize_t add_u8u8_u8__simd(int, const uint8_t*, const uint8_t*, uint8_t*, Py_ssize_t, add_u8, code_flips,
                                 int16_t*, int16_t*) nogil

cdef enum:
    PARTS_16 = 32  # the 16-bit loop counts in 1/32 output steps
    SLACK_16 = 3  # in 1/32 output steps; the error of a sum in 16 bits is at most 2.5/32
    PARTS_64 = 1 << 16  # the 64-bit loop counts in 1/65536 output steps
    SLACK_64 = 2
    FLIP = 0xFF  # code ^ FLIP stands for the negative value in the negated range
    FRACTION_32 = 15  # the loop into int32 counts in 2**-15 output steps

cdef double HEAD_ROOM = 2.0**17  # max of the int32 range / largest absolute end of the ranges
cdef double WIDEST = 2.0**110  # from such an end on, float32 does not hold the width of the int32 range


cdef bint fits_16_bits(Ends a, Ends b, Ends c) noexcept nogil:
    """Whether int16 holds every sum. The unit is 1/32 output step, so the output range is 8160 wide."""
    cdef double first = (a.min + b.min - c.min) / step(c) * 32
    cdef double last = (a.max + b.max - c.min) / step(c) * 32
    return first > -32700 and last < 32700 and step(a) < 7.99 * step(c) and step(b) < 7.99 * step(c)


cdef add_u8 narrow_integers(Ends a, Ends b, Ends c) noexcept nogil:
    cdef add_u8 p
    p.ka = <unsigned short>rint(8192 * step(a) / step(c))
    p.kb = <unsigned short>rint(8192 * step(b) / step(c))
    # + 16: the shift by 5 rounds half up. + 1: the two floored products are 1/2 too low each, on average.
    p.offset = <short>(<int>rint((a.min + b.min - c.min) / step(c) * 32) + 17)
    return p


def add_8p8to8_integers(tuple a, tuple b, tuple range):
    """The ka, kb and offset of the 16-bit loop into a range, for the ranges a and b; ValueError if int16 overflows."""
    cdef Ends p = Ends(a[0], a[1]), s = Ends(b[0], b[1]), r = Ends(range[0], range[1])
    if not (r.max > r.min and fits_16_bits(p, s, r)):
        raise bad_value("range", f"{range} is too narrow for 16 bits")
    return narrow_integers(p, s, r)


cdef struct Narrow:
    Extremes extremes
    add_u8 p
    code_flips flips


cdef void add_u8u8_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((mulhi(a << 8, ka) + mulhi(b << 8, kb) + offset) >> 5); keeps the extremes before saturation."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Narrow* s = <Narrow*>using
    cdef add_u8 p = s.p
    cdef code_flips f = s.flips
    cdef int16_t x, low = INT16_MAX, high = INT16_MIN
    cdef Py_ssize_t i = add_u8u8_u8__simd(tier(), a, b, c, n, p, f, &low, &high)
    for i in range(i, n):
        x = <int16_t>((((a[i] ^ f.a) << 8) * <unsigned int>p.ka >> 16)
                      + (((b[i] ^ f.b) << 8) * <unsigned int>p.kb >> 16) + p.offset)
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 5) ^ f.c
    s.extremes.lowest = min(s.extremes.lowest, <int64_t>low)
    s.extremes.highest = max(s.extremes.highest, <int64_t>high)


cdef struct Wide:
    Extremes extremes
    int64_t ta[256]
    int64_t tb[256]
    uint8_t flip  # of c; the tables contain the flips of a and b


cdef void add_u8u8_u8_wide(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u8((ta[a] + tb[b]) >> 16). Tables of 1/65536 output steps, for ranges whose sums overflow int16."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef uint8_t* c = <uint8_t*>data[2]
    cdef Wide* s = <Wide*>using
    cdef int64_t x, low = s.extremes.lowest, high = s.extremes.highest
    cdef Py_ssize_t i
    for i in range(n):
        x = s.ta[a[i]] + s.tb[b[i]]
        low = min(low, x)
        high = max(high, x)
        c[i] = saturate_u8(x >> 16) ^ s.flip
    s.extremes.lowest, s.extremes.highest = low, high


cdef union SumNumbers:
    Narrow narrow
    Wide wide


cdef Loop prepare_sums(Ends a, Ends b, Ends c, code_flips flips, void* numbers) noexcept nogil:
    """The loop for sums in the range c; see `PreparePass`."""
    cdef SumNumbers* n = <SumNumbers*>numbers
    if fits_16_bits(a, b, c):
        n.narrow.extremes.parts, n.narrow.extremes.slack = PARTS_16, SLACK_16
        n.narrow.p, n.narrow.flips = narrow_integers(a, b, c), flips
        return add_u8u8_u8
    n.wide.extremes.parts, n.wide.extremes.slack = PARTS_64, SLACK_64
    wide_tables(a, b, c, flips, &n.wide)
    return add_u8u8_u8_wide


cdef void wide_tables(Ends a, Ends b, Ends c, code_flips flips, Wide* w) noexcept nogil:
    cdef double unit = step(c) / PARTS_64
    cdef int q
    w.flip = flips.c
    for q in range(256):
        w.ta[q ^ flips.a] = <int64_t>rint(q * (step(a) / unit))
        w.tb[q ^ flips.b] = <int64_t>rint(q * (step(b) / unit) + (a.min + b.min - c.min) / unit) + PARTS_64 // 2


cdef Ends possible_sums(Ends a, Ends b) noexcept nogil:
    """The range of all sums of two ranges. It is 0 wide only if the sum is exact."""
    cdef double lo = a.min + b.min, hi = a.max + b.max
    if lo == hi and not (lo - a.min == b.min and lo - b.min == a.min and hi - a.max == b.max and hi - b.max == a.max):
        lo, hi = nextafter(lo, -INFINITY), nextafter(hi, INFINITY)  # float64 rounded the smaller term away
    return Ends(lo, hi)


cdef object add_into_8(type cls, type info, BinaryOperands o, Target target, return_info):
    """Add by `in_two_passes`, see `into_8`."""
    cdef SumNumbers numbers
    cdef Into8 op
    op.possible, op.prepare, op.numbers = possible_sums, prepare_sums, &numbers
    return into_8(cls, info, o, op, target, return_info)


cdef BinaryOperands with_b_negated(BinaryOperands o):
    """The operands of a + (-b), whose range has 0 instead of -0."""
    o.b = Ends(0 - o.b.max, 0 - o.b.min)
    o.flips.b ^= FLIP
    return o


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
    """Prepare a - b as `sum_32` prepares a + b; kb is negative."""
    return sum_32(a, Ends(-b.min, -b.max), flips, numbers)


def add_8p8to32_integers(tuple a, tuple b):
    """The integers ka, kb and k of the loop into int32 for the ranges a and b, as a dict."""
    cdef WeightedSum p
    sum_32(Ends(a[0], a[1]), Ends(b[0], b[1]), code_flips(0, 0, 0), &p)
    return {"ka": p.ka, "kb": p.kb, "k": p.k}


cdef object add_into_32(type cls, BinaryOperands o, Prepare32 prepare):
    """Add or subtract by `into_32`, as `prepare` says: by `sum_32` or `difference_32`."""
    cdef WeightedSum p
    return into_32(cls, o, prepare, weighted_sum, &p)


def add_8p8to8(type cls, type info, a, b, guess, range, out, return_info):
    """Add uint8 codes into uint8 codes, whose range is drawn in to the sums."""
    cdef Target target = target_of(guess, range, ZERO_ANYWHERE)
    return add_into_8(cls, info, operands(a, b, out, cnp.NPY_UINT8), target, return_info)


def sub_8p8to8(type cls, type info, a, b, guess, range, out, return_info):
    """Subtract uint8 codes into uint8 codes, whose range is drawn in to the differences."""
    cdef Target target = target_of(guess, range, ZERO_ANYWHERE)
    return add_into_8(cls, info, with_b_negated(operands(a, b, out, cnp.NPY_UINT8)), target, return_info)


def add_8p8to32(type cls, a, b, out):
    """Add uint8 codes into int32 codes."""
    return add_into_32(cls, operands(a, b, out, cnp.NPY_INT32), sum_32)


def sub_8p8to32(type cls, a, b, out):
    """Subtract uint8 codes into int32 codes."""
    return add_into_32(cls, operands(a, b, out, cnp.NPY_INT32), difference_32)


def add(type cls, type info, a, b, dtype, guess, range, out, return_info):
    """Add uint8 or int8 codes into int32 codes, or into codes of 8 bits with 0 on a code."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    cdef Target target = target_of(guess, range, ZERO_ON_A_CODE)
    cdef BinaryOperands o = operands(a, b, out, typenum, cnp.NPY_INT8)
    if typenum == cnp.NPY_INT32:
        return add_into_32(cls, o, sum_32)
    return add_into_8(cls, info, o, target, return_info)


def sub(type cls, type info, a, b, dtype, guess, range, out, return_info):
    """Subtract uint8 or int8 codes into int32 codes, or into codes of 8 bits with 0 on a code."""
    cdef int typenum = result_typenum(dtype, guess, range, return_info)
    cdef Target target = target_of(guess, range, ZERO_ON_A_CODE)
    cdef BinaryOperands o = operands(a, b, out, typenum, cnp.NPY_INT8)
    if typenum == cnp.NPY_INT32:
        return add_into_32(cls, o, difference_32)
    return add_into_8(cls, info, with_b_negated(o), target, return_info)

"""The loops of the integer stage, int32 to uint8, int8 or int32, and `multiply_shift`, which is the stage alone."""

cimport numpy as cnp
from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from qops._kernels.core.rounding cimport FLOOR, HALF_AWAY, HALF_UP, TRUNCATE, Rounding, clamp_s64
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "core/integer_stage.h":
    bint leaves_x(IntegerRow) nogil
    bint does_nothing(Shift) nogil
    Py_ssize_t stage_s32__simd(int, const int32_t*, int32_t*, Py_ssize_t, IntegerRow, bint) nogil
    Py_ssize_t stage_8__simd(int, const int32_t*, void*, Py_ssize_t, IntegerRow, bint) nogil

ctypedef fused code:
    uint8_t
    int8_t
    int32_t

ROUNDINGS = ("floor", "truncate", "half_up", "half_away", "half_even", "gemmlowp", "hvx")


cdef Shift shift_by(int right_shift, Rounding rounding) noexcept nogil:
    """What makes the floor of a shift round by the rule."""
    cdef int64_t one = <int64_t>1 << right_shift, half = one >> 1
    if rounding == FLOOR or right_shift == 0:
        return Shift(0, 0, 0, right_shift)
    if rounding == TRUNCATE:
        return Shift(0, one - 1, 0, right_shift)
    if rounding == HALF_UP:
        return Shift(half, 0, 0, right_shift)
    if rounding == HALF_AWAY:
        return Shift(half, -1, 0, right_shift)
    return Shift(half - 1, 0, 1, right_shift)  # HALF_EVEN


cdef IntegerRow integer_row(int64_t multiplier, Shift first, int lowest_code, int highest_code) noexcept nogil:
    """x * multiplier, shifted once and clamped; all else is left out."""
    cdef IntegerRow p
    p.lowest, p.highest, p.centre, p.left_shift, p.through_f32 = INT32_MIN, INT32_MAX, 0, 0, False
    p.multiplier = multiplier
    p.first = first
    p.second = Shift(0, 0, 0, 0)
    p.least, p.most = INT64_MIN, INT64_MAX
    p.zero_point, p.lowest_code, p.highest_code = 0, lowest_code, highest_code
    return p


cdef inline int64_t coded(int64_t x, const IntegerRow* p, bint all_steps) noexcept nogil:
    cdef int64_t high
    if all_steps:
        x = <int32_t>(<uint32_t>(clamp_s64(x, p.lowest, p.highest) - p.centre) << p.left_shift)
        x = <int64_t><float>x if p.through_f32 else x
    high = with_term(<int64_t>(<uint64_t>x * <uint64_t>p.multiplier), p.first) >> p.first.right_shift
    if all_steps:
        high = clamp_s64(with_term(high, p.second), p.least, p.most) >> p.second.right_shift
    return clamp_s64(high + p.zero_point, p.lowest_code, p.highest_code)


cdef int64_t integer_code(int32_t x, const IntegerRow* p) noexcept nogil:
    """The code of one accumulator."""
    return coded(x, p, True)


cdef void integer_codes(const int32_t* x, code* c, Py_ssize_t n, IntegerRow p) noexcept nogil:
    cdef Py_ssize_t i
    if code is int32_t:
        i = stage_s32__simd(tier(), x, c, n, p, 4 * n >= STREAM)
    else:
        i = stage_8__simd(tier(), x, c, n, p, n >= STREAM)
    if leaves_x(p) and not p.left_shift and does_nothing(p.second) and p.least == INT64_MIN and p.most == INT64_MAX:
        for i in range(i, n):
            c[i] = <code>coded(x[i], &p, False)
    else:
        for i in range(i, n):
            c[i] = <code>coded(x[i], &p, True)


cdef void to_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    integer_codes(<int32_t*>data[0], <uint8_t*>data[1], n, (<IntegerRow*>using)[0])


cdef void to_s8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    integer_codes(<int32_t*>data[0], <int8_t*>data[1], n, (<IntegerRow*>using)[0])


cdef void to_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    integer_codes(<int32_t*>data[0], <int32_t*>data[1], n, (<IntegerRow*>using)[0])


cdef object integer_stage(const IntegerRow* p, cnp.ndarray x, cnp.ndarray out):
    """out (uint8, int8 or int32) = the codes of int32 accumulators."""
    cdef int typenum = cnp.PyArray_TYPE(out)
    walk(to_u8 if typenum == cnp.NPY_UINT8 else to_s8 if typenum == cnp.NPY_INT8 else to_s32, <void*>p, x, out)


cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, rounding, cnp.ndarray out):
    """out = x * multiplier / 2**right_shift on int32, rounded by the rule; |multiplier| < 2**31, shift 0..62."""
    cdef int rule = ROUNDINGS.index(rounding)
    cdef IntegerRow p
    if rounding == "gemmlowp":
        p = integer_row(multiplier, shift_by(31, HALF_UP), INT32_MIN, INT32_MAX)
        p.left_shift = max(0, 31 - right_shift)
        p.second = shift_by(max(0, right_shift - 31), HALF_AWAY)
    elif rounding == "hvx":
        p = integer_row(multiplier, shift_by(15, HALF_UP), -32768, 32767)
    else:
        p = integer_row(multiplier, shift_by(right_shift, <Rounding>rule), INT32_MIN, INT32_MAX)
    integer_stage(&p, x, out)

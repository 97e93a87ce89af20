"""From an accumulator to a code in integers: a system picks its parameters; the formula and its loops are common.

    near = (clamp(x, lowest, highest) - centre) << left_shift       in 32 bits, which wrap; through_f32: made a float32
    high = (near * multiplier + first.term) >> first.right_shift    in 64 bits, which wrap
    sum  = clamp(high + second.term, least, most)
    code = clamp((sum >> second.right_shift) + zero_point, lowest_code, highest_code)

In some systems 32 bits wrap: the product, before and after its term is added (product_wraps); high (high_wraps);
the code before it is clamped (code_wraps).
"""

from libc.stdint cimport INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, int32_t, int64_t

from qops._kernels.stage.batch cimport Batch
from qops._kernels.stage.rounding cimport FLOOR, HALF_AWAY, HALF_UP, TRUNCATE, Rounding

cdef extern from "stage/integer_params.h":
    ctypedef struct Shift "integer_shift":
        int64_t add, if_negative, if_odd  # the term: always; if x < 0; if the shifted x is odd
        int32_t right_shift
    ctypedef struct IntegerParams "integer_params":
        int32_t lowest, highest, centre, left_shift, through_f32
        int64_t multiplier
        Shift first, second
        int64_t least, most
        int32_t zero_point, lowest_code, highest_code
        int32_t product_wraps, high_wraps, code_wraps
    ctypedef struct LaneParams "params_of_lanes":
        pass
    ctypedef struct IntegerLanes "integer_lanes":  # parameters of channels, laid out for vectors
        LaneParams params
        Py_ssize_t period  # after which they repeat
        bint are_of_use  # whether SIMD loops can do all channels
        int flags  # what the loop does for all of them
    enum:
        BYTES_OF_LANES  # of each entry of the parameters that are laid out for vectors

cdef inline Shift shift_by(int right_shift, Rounding rounding) noexcept nogil:
    """Give a shift and the term that is added first, so that the floor of the shift rounds by the rule."""
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


cdef inline IntegerParams integer_params(int64_t multiplier, Shift first, int lowest_code,
                                         int highest_code) noexcept nogil:
    """Give the parameters of x * multiplier, shifted once and clamped, without any other step."""
    cdef IntegerParams p
    p.lowest, p.highest, p.centre, p.left_shift, p.through_f32 = INT32_MIN, INT32_MAX, 0, 0, False
    p.multiplier = multiplier
    p.first = first
    p.second = Shift(0, 0, 0, 0)
    p.least, p.most = INT64_MIN, INT64_MAX
    p.zero_point, p.lowest_code, p.highest_code = 0, lowest_code, highest_code
    p.product_wraps = p.high_wraps = p.code_wraps = False
    return p


# make the first codes of a batch and return how many: all int32 codes; of others what SIMD loops can do
cdef Py_ssize_t integer_codes(const IntegerParams* p, const Batch* b) noexcept nogil
cdef Py_ssize_t integer_each(const IntegerParams* params, Py_ssize_t count, const IntegerLanes* lanes,
                             const Batch* b) noexcept nogil
cdef void integer_lanes(IntegerLanes* lanes, void* memory, const IntegerParams* params, Py_ssize_t count,
                        Py_ssize_t period, Py_ssize_t entries) noexcept nogil

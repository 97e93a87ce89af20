cimport numpy as cnp
from libc.stdint cimport int64_t, uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.arrays.walk cimport Loop


cdef extern from "frontdoor/passes.h":
    ctypedef struct code_flips:
        uint8_t a, b, c  # the codes of a, b and the result are xored with these: 0x80 for int8 codes


cdef class BinaryOperands:
    cdef cnp.ndarray x, y, codes  # the codes of a, of b and of the result
    cdef Ends a, b
    cdef code_flips flips


cdef enum ZeroPoint:  # where 0 is to be in a range that the op finds
    ZERO_ANYWHERE, ZERO_ON_A_CODE


cdef struct Target:  # the caller's `range`, which is kept, or `guess`
    Ends ends
    bint has_min, has_max, kept
    ZeroPoint zero


cdef struct Extremes:  # of the results of one pass, before they saturate
    int64_t lowest, highest  # in output steps / parts above the lowest code; half a step for the rounding is in them
    int parts, slack  # the extremes are off by at most `slack`


cdef struct Written:
    Ends range  # of the codes
    Ends seen  # of the results, which the first pass has seen
    int passes


ctypedef Ends (*PossibleResults)(Ends a, Ends b) noexcept nogil  # the range of all results of two ranges
# Sets the numbers of a loop that writes codes in the range c, which is not 0 wide, and its `parts` and `slack`.
ctypedef Loop (*PreparePass)(Ends a, Ends b, Ends c, code_flips flips, void* numbers) noexcept nogil
# Sets the numbers of a loop into int32 codes in the range (-max, max), and gives max; infinity if it is beyond float32.
ctypedef double (*Prepare32)(Ends a, Ends b, code_flips flips, void* numbers) noexcept nogil


cdef struct Into8:  # a binary op into 8 bits
    PossibleResults possible
    PreparePass prepare
    void* numbers  # memory for the numbers of the loop, which begin with the Extremes that the loop keeps


cdef inline double width(Ends r) noexcept nogil:
    return r.max - r.min

cdef inline double step(Ends r) noexcept nogil:
    """The step of uint8 codes in the range r."""
    return width(r) / code_type_of(False, 1).steps

cdef BinaryOperands operands(a, b, out, int typenum, int or_typenum=*)
cdef Target target_of(guess, kept, ZeroPoint zero) except *
cdef int result_typenum(dtype, guess, kept, return_info) except -1
cdef object into_8(type cls, type info, BinaryOperands o, Into8 op, Target target, return_info)
cdef object into_32(type cls, BinaryOperands o, Prepare32 prepare, Loop loop, void* numbers)

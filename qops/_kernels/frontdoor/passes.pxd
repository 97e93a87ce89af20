cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.arrays.walk cimport Loop


cdef extern from "frontdoor/passes.h":
    ctypedef struct code_flips:
        uint8_t a, b, c  # the codes of a, b and the result are xored with these: 0x80 for int8 codes


cdef struct Span:  # the result of one pass: whether no code saturated, and a range that holds every result
    bint fits
    double min, max


ctypedef Ends (*FullRange)(Ends a, Ends b) except *  # the range of all results
# Writes the codes of the results of x and y to `out`. Their ranges are a and b; c is the range of `out`, not 0 wide.
ctypedef Span (*OnePass)(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out,
                         code_flips flips) except *

# Sets the numbers of a loop into int32 codes in the range (-max, max), and gives max; infinity if it is beyond float32.
ctypedef double (*Prepare32)(Ends a, Ends b, code_flips flips, void* numbers) noexcept nogil

cdef inline double step(Ends r) noexcept nogil:
    """The step of uint8 codes in the range r."""
    return (r.max - r.min) / code_type_of(False, 1).steps

cdef Ends outward(double lo, double hi) except *
cdef Span span_found(double lowest, double highest, int parts, int slack, Ends c) noexcept nogil
cdef int flips_of(cnp.ndarray x, cnp.ndarray y, int typenum, bint also_int8, code_flips* flips) except -1
cdef int result_typenum(dtype, guess, kept, return_info) except -1
cdef object into_32(type cls, a, b, bint also_int8, out, Prepare32 prepare, Loop loop, void* numbers)
cdef object in_passes(type cls, type info, FullRange full_range, OnePass one_pass, a, b, int typenum, guess, kept,
                      out, return_info, bint seed)

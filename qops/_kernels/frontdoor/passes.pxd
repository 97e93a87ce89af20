cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of


cdef struct Span:  # the result of one pass: whether no code saturated, and a range that holds every result
    bint fits
    double min, max


ctypedef Ends (*FullRange)(Ends a, Ends b) except *  # the range of all results
# Writes the codes of the results of x and y to `out`. Their ranges are a and b; c is the range of `out`, not 0 wide.
ctypedef Span (*OnePass)(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out) except *

cdef inline double step(Ends r) noexcept nogil:
    """The step of uint8 codes in the range r."""
    return (r.max - r.min) / code_type_of(False, 1).steps

cdef Ends outward(double lo, double hi) except *
cdef Span span_found(double lowest, double highest, int parts, int slack, Ends c) noexcept nogil
cdef object in_passes(type cls, FullRange full_range, OnePass one_pass, a, b, guess, kept, out, return_info)

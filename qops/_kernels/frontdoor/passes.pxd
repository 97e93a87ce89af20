cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport code_type_of


cdef struct Span:  # what one pass over the data found: whether all codes fitted, and a range that holds every result
    bint fits
    double min, max


ctypedef Ends (*FullRange)(Ends a, Ends b) except *  # all that the results of two ranges can span
# It writes to `out` the codes of what comes of x and y, whose ranges are a and b; c, the range of `out`, is not 0 wide.
ctypedef Span (*OnePass)(cnp.ndarray x, Ends a, cnp.ndarray y, Ends b, Ends c, cnp.ndarray out) except *

cdef inline double step(Ends r) noexcept nogil:
    """Of uint8 codes of this range."""
    return (r.max - r.min) / code_type_of(False, 1).steps

cdef Ends outward(double lo, double hi) except *
cdef Span span_found(double lowest, double highest, int parts, int slack, Ends c) noexcept nogil
cdef object in_passes(type cls, FullRange full_range, OnePass one_pass, a, b, guess, kept, out, return_info)

"""The loops of the double stage: int32 to codes."""

from libc.stdint cimport int32_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport clamp_f64, rounded_f64

cdef extern from "stage/double_stage.h":
    Py_ssize_t double_codes__simd(int, const int32_t*, int32_t*, Py_ssize_t, DoubleParams, ChannelScales) nogil


cdef inline int32_t coded(int32_t x, double scale, DoubleParams p) noexcept nogil:
    """The formula of the stage, for one element."""
    return <int32_t>clamp_f64(rounded_f64(x * scale + p.plus, p.rounding) + p.shift, p.lowest, p.highest)


cdef void double_codes(DoubleParams p, ChannelScales s, const int32_t* x, int32_t* c, Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of int32 accumulators."""
    cdef Py_ssize_t i = double_codes__simd(tier(), x, c, n, p, s)
    cdef Py_ssize_t at = 0 if i == n else (s.at + i) % s.period
    cdef double scale = p.scale
    for i in range(i, n):
        if s.each != NULL:
            scale = (<const double*>s.each)[at]
            at = at + 1 if at + 1 < s.period else 0
        c[i] = coded(x[i], scale, p)

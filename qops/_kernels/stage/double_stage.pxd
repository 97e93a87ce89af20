"""From an accumulator to a code in double: clamp(round(x * scale + plus) + shift, lowest, highest), whole ends."""

from libc.stdint cimport int32_t

from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/double_stage.h":
    ctypedef struct DoubleParams "double_params":
        double scale, plus, shift, lowest, highest
        Rounding rounding

cdef void double_codes(DoubleParams p, const int32_t* x, int32_t* c, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t double_codes_8(DoubleParams p, const int32_t* x, void* c, bint is_signed, Py_ssize_t n) noexcept nogil
cdef void double_each(DoubleParams p, const double* scales, Py_ssize_t period, const int32_t* x, int32_t* c,
                      Py_ssize_t first, Py_ssize_t n) noexcept nogil

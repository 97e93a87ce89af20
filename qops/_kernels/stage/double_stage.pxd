"""From an accumulator to a code in double: clamp(round(x * scale + plus) + shift, lowest, highest), whole ends."""

from libc.stdint cimport int32_t

from qops._kernels.stage.float_stage cimport ChannelScales
from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/double_stage.h" nogil:
    ctypedef struct DoubleParams "double_params":
        double scale, plus, shift, lowest, highest
        Rounding rounding
    # the first codes of 8 bits, all or none; it returns how many
    Py_ssize_t double_codes_8__simd(int tier, const int32_t* x, void* c, bint is_signed, Py_ssize_t n, DoubleParams)

cdef void double_codes(DoubleParams p, ChannelScales s, const int32_t* x, int32_t* c, Py_ssize_t n) noexcept nogil

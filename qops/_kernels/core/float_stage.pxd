"""From a real value, or an accumulator, to a code in float32, one rounding an operation: a row, and common loops.

    near = clamp(x, lowest_x, highest_x)
    code = clamp(round((near - minus) * scale + plus) + shift, lowest, highest)
"""

cimport numpy as cnp

from qops._kernels.core.maker cimport Turns
from qops._kernels.core.rounding cimport Rounding

cdef extern from "core/float_stage.h":
    ctypedef struct FloatRow "float_row":
        float lowest_x, highest_x, minus, scale, plus, shift, lowest, highest
        Rounding rounding

cdef FloatRow float_row(float scale, Rounding rounding, float lowest, float highest) noexcept nogil
cdef void float_codes_of(const float* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil
cdef object float_stage(const FloatRow* p, cnp.ndarray x, cnp.ndarray out)
cdef object float_channels(const FloatRow* p, const float* scales, Turns t, cnp.ndarray x, cnp.ndarray out)

"""From a real value, or an accumulator, to a code in float32, one rounding an operation: a row, and common loops.

    near = clamp(x, lowest_x, highest_x)
    code = clamp(round((near - minus) * scale + plus) + shift, lowest, highest)

FUSED rounds product and sum once; OVER divides by the scale. A row that is `wide` adds the shift and clamps in double,
so that all codes of int32 are exact.
"""

cimport numpy as cnp

from qops._kernels.stage.maker cimport Maker, Scales
from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/float_stage.h":
    ctypedef enum Form "float_form":
        TIMES "FLOAT_TIMES"
        FUSED "FLOAT_FUSED"
        OVER "FLOAT_OVER"
    ctypedef struct FloatRow "float_row":
        float lowest_x, highest_x, minus, scale, plus
        double shift, lowest, highest
        Rounding rounding
        Form form
        bint wide

cdef FloatRow float_row(float scale, Rounding rounding, double lowest, double highest) noexcept nogil
cdef void float_codes_of(const float* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil
cdef Maker float_maker(bint is_real, const FloatRow* p) noexcept nogil
cdef Maker float_turns(bint is_real, const Scales* scales) noexcept nogil
cdef object float_stage(const FloatRow* p, cnp.ndarray x, cnp.ndarray out)
cdef bint float_stage_unless_nan(const FloatRow* p, cnp.ndarray x, cnp.ndarray out, cnp.ndarray kept=*) except -1
cdef object float_channels(const FloatRow* p, const Scales* scales, cnp.ndarray x, cnp.ndarray out)

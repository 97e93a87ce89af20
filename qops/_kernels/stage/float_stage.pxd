"""From a real value, or an accumulator, to a code in float32, one rounding an operation: parameters, and common loops.

    near = clamp(x, lowest_x, highest_x)
    code = clamp(round((near - minus) * before * scale * after + plus) + shift, lowest, highest)

FUSED rounds product and sum once; OVER divides by the scale; both without `before` and `after`. With `wide`, a stage
adds the shift and clamps in double, so that all codes of int32 are exact.

`beyond` says what a rounded value that int32 does not hold becomes. SATURATES: the end of its sign. LOWEST: -2**31,
whatever its sign. LOWEST_WRAPS: the same, and the sum with the shift wraps. CUT_WRAPS: values are cut to 2**31 - 128
first, the largest float32 that int32 holds.
"""

from libc.stdint cimport int32_t

from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/float_stage.h":
    ctypedef enum Form "float_form":
        TIMES "FLOAT_TIMES"
        FUSED "FLOAT_FUSED"
        OVER "FLOAT_OVER"
    ctypedef enum Beyond "float_beyond":
        SATURATES "BEYOND_SATURATES"
        LOWEST "BEYOND_LOWEST"
        LOWEST_WRAPS "BEYOND_LOWEST_WRAPS"
        CUT_WRAPS "BEYOND_CUT_WRAPS"
    ctypedef struct FloatParams "float_params":
        float lowest_x, highest_x, minus, before, scale, after, plus
        double shift, lowest, highest
        Rounding rounding
        Form form
        Beyond beyond
        bint wide

cdef FloatParams float_params(float scale, Rounding rounding, double lowest, double highest) noexcept nogil
cdef void float_codes(FloatParams p, const void* x, bint is_int, int32_t* c, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t float_codes_8(FloatParams p, const void* x, bint is_int, void* c, bint is_signed,
                              Py_ssize_t n) noexcept nogil
cdef Py_ssize_t float_codes_16(FloatParams p, const void* x, bint is_int, void* c, bint is_signed,
                               Py_ssize_t n) noexcept nogil
cdef void float_each(FloatParams p, const float* scales, Py_ssize_t period, const void* x, bint is_int, int32_t* c,
                     Py_ssize_t first, Py_ssize_t n) noexcept nogil
cdef Py_ssize_t float_each_8(FloatParams p, const float* scales, Py_ssize_t period, const void* x, bint is_int, void* c,
                             bint is_signed, Py_ssize_t first, Py_ssize_t n) noexcept nogil

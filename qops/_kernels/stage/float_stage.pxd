"""From a real value, or an accumulator, to a code in float32 or in double, one rounding an operation.

In double, of accumulators: clamp(round(x * scale + plus) + shift, lowest, highest). In float32:

    near = clamp(x, lowest_x, highest_x)
    code = clamp(round((near - minus) * before * scale * after + plus) + shift, lowest, highest)

FUSED rounds product and sum once; OVER divides by the scale; both without `before` and `after`. With `wide`, a stage
adds the shift and clamps in double, so that all codes of int32 are exact.

`beyond` is what a rounded value beyond int32 becomes. SATURATES: the end on its side. LOWEST: -2**31, on either side.
LOWEST_WRAPS: also -2**31, and the sum with the shift wraps. CUT_WRAPS: values are cut to 2**31 - 128
first, the largest float32 that int32 holds.
"""

from qops._kernels.stage.batch cimport Batch
from qops._kernels.stage.rounding cimport Rounding

cdef extern from "stage/code_clamp.h":
    ctypedef struct ChannelScales "channel_scales":
        const void* each  # the scales, float or double, repeated as `period_of` says; NULL: that of the parameters
        Py_ssize_t period, at  # after which they begin again; the number of the first element's scale

cdef extern from "stage/float_stage.h" nogil:
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

cdef extern from "stage/double_stage.h" nogil:
    ctypedef struct DoubleParams "double_params":
        double scale, plus, shift, lowest, highest
        Rounding rounding

cdef FloatParams float_params(float scale, Rounding rounding, double lowest, double highest) noexcept nogil
# make the first codes of a batch and return how many: all int32 codes; of others what SIMD loops can do
cdef Py_ssize_t float_codes(const FloatParams* p, ChannelScales s, const Batch* b) noexcept nogil
cdef Py_ssize_t double_codes(const DoubleParams* p, ChannelScales s, const Batch* b) noexcept nogil

"""The loops of the float stage: float32 or int32 to codes."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.rounding cimport (
    clamp_f32, clamp_f64, clamp_s64, fma_f32, rounded_f32, truncate_x86_s32, wrap_s32,
)

cdef extern from "stage/float_stage.h":
    Py_ssize_t float_codes__simd(int, const void*, bint, int32_t*, Py_ssize_t, FloatParams, ChannelScales) nogil

ctypedef fused value:
    float
    int32_t


cdef FloatParams float_params(float scale, Rounding rounding, double lowest, double highest) noexcept nogil:
    """The parameters of clamp(round(x * scale)), without any other step."""
    return FloatParams(-INFINITY, INFINITY, 0, 1, scale, 1, 0, 0, lowest, highest, rounding, TIMES, SATURATES, False)


cdef inline int32_t beyond(float near, FloatParams p) noexcept nogil:
    """Finish a code in a stage that does not saturate values beyond int32."""
    cdef float cut = near if p.beyond != CUT_WRAPS or near < <float>2147483520.0 else <float>2147483520.0
    cdef int64_t code = <int64_t>truncate_x86_s32(cut) + <int64_t>p.shift
    if p.beyond != LOWEST:
        code = wrap_s32(code)
    return <int32_t>clamp_s64(code, <int64_t>p.lowest, <int64_t>p.highest)


cdef inline int32_t coded(value x, float scale, FloatParams p) noexcept nogil:
    """The formula of the stage, for one element."""
    cdef float near = clamp_f32(<float>x, p.lowest_x, p.highest_x) - p.minus
    if p.form == FUSED:
        near = fma_f32(near, scale, p.plus)
    else:
        near = (near / scale if p.form == OVER else near * p.before * scale * p.after) + p.plus
    near = rounded_f32(near, p.rounding)
    if p.beyond != SATURATES:
        return beyond(near, p)
    if p.wide:
        return <int32_t>clamp_f64(near + p.shift, p.lowest, p.highest)
    return truncate_x86_s32(clamp_f32(near + <float>p.shift, <float>p.lowest, <float>p.highest))


cdef void float_codes(FloatParams p, ChannelScales s, const void* x, bint is_int, int32_t* c,
                      Py_ssize_t n) noexcept nogil:
    """c = the int32 codes of int32 accumulators, if `is_int`, or of float32 values."""
    cdef Py_ssize_t i = float_codes__simd(tier(), x, is_int, c, n, p, s)
    cdef Py_ssize_t at = 0 if i == n else (s.at + i) % s.period
    cdef float scale = p.scale
    for i in range(i, n):
        if s.each != NULL:
            scale = (<const float*>s.each)[at]
            at = at + 1 if at + 1 < s.period else 0
        c[i] = coded((<const int32_t*>x)[i], scale, p) if is_int else coded((<const float*>x)[i], scale, p)

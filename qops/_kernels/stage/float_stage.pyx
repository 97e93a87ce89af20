"""The loops of stages that multiply by a real scale, in float32 or in double."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.batch cimport FROM_F32, FROM_S64, Batch
from qops._kernels.stage.rounding cimport (
    clamp_f32, clamp_f64, clamp_s64, fma_f32, rounded_f32, rounded_f64, truncate_x86_s32, wrap_s32,
)

cdef extern from "stage/float_stage.h" nogil:
    Py_ssize_t float_codes__simd(int, const FloatParams*, ChannelScales, const Batch*)

cdef extern from "stage/double_stage.h" nogil:
    Py_ssize_t double_codes__simd(int, const DoubleParams*, ChannelScales, const Batch*)

ctypedef fused value:
    float
    int32_t
    int64_t

ctypedef fused params:
    FloatParams
    DoubleParams


cdef FloatParams float_params(float scale, Rounding rounding, double lowest, double highest) noexcept nogil:
    """The parameters of clamp(round(x * scale)), without any other step."""
    return FloatParams(-INFINITY, INFINITY, 0, 1, scale, 1, 0, 0, lowest, highest, rounding, TIMES, SATURATES, False)


cdef inline int32_t beyond(float near, const FloatParams* p) noexcept nogil:
    """Finish a code in a stage that does not saturate values beyond int32."""
    cdef float cut = near if p.beyond != CUT_WRAPS or near < <float>2147483520.0 else <float>2147483520.0
    cdef int64_t code = <int64_t>truncate_x86_s32(cut) + <int64_t>p.shift
    if p.beyond != LOWEST:
        code = wrap_s32(code)
    return <int32_t>clamp_s64(code, <int64_t>p.lowest, <int64_t>p.highest)


cdef inline int32_t float_code(value x, float scale, const FloatParams* p) noexcept nogil:
    """The formula in float32, for one element."""
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


cdef inline int32_t double_code(value x, double scale, const DoubleParams* p) noexcept nogil:
    """The formula in double, for one element."""
    return <int32_t>clamp_f64(rounded_f64(x * scale + p.plus, p.rounding) + p.shift, p.lowest, p.highest)


cdef inline void codes_from(const value* x, int32_t* c, Py_ssize_t i, Py_ssize_t n, const params* p,
                            ChannelScales s) noexcept nogil:
    """Make the codes of elements i to n - 1 by the formula of the type of the parameters."""
    cdef Py_ssize_t at = (s.at + i) % s.period
    cdef params own = p[0]  # the compiler knows that no code is stored there
    cdef double scale = own.scale
    for i in range(i, n):
        if s.each != NULL:
            scale = (<const float*>s.each)[at] if params is FloatParams else (<const double*>s.each)[at]
            at = at + 1 if at + 1 < s.period else 0
        if params is FloatParams:
            c[i] = float_code(x[i], <float>scale, &own)
        else:
            c[i] = double_code(x[i], scale, &own)


cdef Py_ssize_t float_codes(const FloatParams* p, ChannelScales s, const Batch* b) noexcept nogil:
    """Make the first codes of a batch in float32, see float_stage.pxd."""
    cdef Py_ssize_t i = float_codes__simd(tier(), p, s, b)
    cdef int32_t* c = <int32_t*>b.c
    if b.size < 4 or i == b.n:
        return i
    if b.source == FROM_F32:
        codes_from(<const float*>b.x, c, i, b.n, p, s)
    elif b.source == FROM_S64:
        codes_from(<const int64_t*>b.x, c, i, b.n, p, s)
    else:
        codes_from(<const int32_t*>b.x, c, i, b.n, p, s)
    return b.n


cdef Py_ssize_t double_codes(const DoubleParams* p, ChannelScales s, const Batch* b) noexcept nogil:
    """Make the first codes of a batch in double. An int64 beyond 53 bits is rounded to double first."""
    cdef Py_ssize_t i = double_codes__simd(tier(), p, s, b)
    cdef int32_t* c = <int32_t*>b.c
    if b.size < 4 or i == b.n:
        return i
    if b.source == FROM_S64:
        codes_from(<const int64_t*>b.x, c, i, b.n, p, s)
    else:
        codes_from(<const int32_t*>b.x, c, i, b.n, p, s)
    return b.n

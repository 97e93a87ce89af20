"""The loops of the float stage: float32 or int32 to codes."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from qops._kernels.stage.maker cimport Maker, Scales, channel, code_size, make, make_each, run, run_scales
from qops._kernels.stage.range cimport has_nan
from qops._kernels.stage.rounding cimport clamp_f32, clamp_f64, fma_f32, rounded_f32, truncate_x86_s32
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "stage/float_stage.h":
    Py_ssize_t float_codes__simd(int, const void*, bint, int32_t*, Py_ssize_t, FloatRow, bint) nogil
    Py_ssize_t float_each__simd(int, const void*, bint, int32_t*, Py_ssize_t, FloatRow, const float*, Py_ssize_t,
                                Py_ssize_t) nogil
    Py_ssize_t float_codes_8__simd(int, const void*, bint, void*, bint, Py_ssize_t, FloatRow, bint) nogil
    Py_ssize_t float_each_8__simd(int, const void*, bint, void*, bint is_signed, Py_ssize_t, FloatRow, const float*,
                                  Py_ssize_t) nogil
    Py_ssize_t float_codes_16__simd(int, const void*, bint, void*, bint, Py_ssize_t, FloatRow, bint) nogil

cdef enum:
    NEAR = 4096  # values between the two loops: 16 KB, which with their codes the nearest cache holds

ctypedef fused value:
    float
    int32_t


cdef FloatRow float_row(float scale, Rounding rounding, double lowest, double highest) noexcept nogil:
    """The row of clamp(round(x * scale)), without any other step."""
    return FloatRow(-INFINITY, INFINITY, 0, scale, 0, 0, lowest, highest, rounding, TIMES, False)


cdef inline int32_t coded(value x, float scale, FloatRow p) noexcept nogil:
    """The steps of the stage."""
    cdef float near = clamp_f32(<float>x, p.lowest_x, p.highest_x) - p.minus
    if p.form == FUSED:
        near = fma_f32(near, scale, p.plus)
    else:
        near = (near / scale if p.form == OVER else near * scale) + p.plus
    near = rounded_f32(near, p.rounding)
    if p.wide:
        return <int32_t>clamp_f64(near + p.shift, p.lowest, p.highest)
    return truncate_x86_s32(clamp_f32(near + <float>p.shift, <float>p.lowest, <float>p.highest))


cdef inline void codes_of(const value* x, int32_t* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    cdef Py_ssize_t i = float_codes__simd(tier(), x, value is int32_t, c, n, p, 4 * n >= STREAM)
    for i in range(i, n):
        c[i] = coded(x[i], p.scale, p)


cdef void codes_f32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    codes_of(<float*>x, c, n, (<FloatRow*>row)[0])


cdef void codes_s32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    codes_of(<int32_t*>x, c, n, (<FloatRow*>row)[0])


cdef Py_ssize_t bytes_f32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_8__simd(tier(), x, False, c, is_signed, n, (<FloatRow*>row)[0], n >= STREAM)


cdef Py_ssize_t bytes_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_8__simd(tier(), x, True, c, is_signed, n, (<FloatRow*>row)[0], n >= STREAM)


cdef Py_ssize_t pairs_f32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_16__simd(tier(), x, False, c, is_signed, n, (<FloatRow*>row)[0], 2 * n >= STREAM)


cdef Py_ssize_t pairs_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_16__simd(tier(), x, True, c, is_signed, n, (<FloatRow*>row)[0], 2 * n >= STREAM)


cdef void float_codes_of(const float* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    """The uint8, int8 or int32 codes of some values."""
    cdef Maker m = float_maker(True, &p)
    make(&m, x, c, 4 if typenum == cnp.NPY_INT32 else 1, typenum == cnp.NPY_INT8, n)


cdef Maker float_maker(bint is_real, const FloatRow* p) noexcept nogil:
    if is_real:
        return Maker(codes_f32, bytes_f32, pairs_f32, p, 4)
    return Maker(codes_s32, bytes_s32, pairs_s32, p, 4)


cdef object float_stage(const FloatRow* p, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of float32 values or int32 accumulators."""
    cdef Maker m = float_maker(cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32, p)
    run(&m, x, out)


cdef struct UnlessNan:
    const Maker* maker
    int size
    bint is_signed, has_nan
    char* kept  # where to put what the output held; NULL: it is not kept
    Py_ssize_t done  # codes that are written


cdef void unless_nan(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Block by block: the loop that looks for NaN leaves a block in the cache for the one that makes codes."""
    cdef UnlessNan* u = <UnlessNan*>using
    cdef const float* x = <float*>data[0]
    cdef Py_ssize_t i, count
    for i from 0 <= i < n by NEAR:
        count = min(n - i, <Py_ssize_t>NEAR)
        u.has_nan = u.has_nan or has_nan(x + i, count)
        if u.has_nan:
            return
        if u.kept is not NULL:
            memcpy(u.kept + i * u.size, data[1] + i * u.size, count * u.size)
            u.done += count
        make(u.maker, x + i, data[1] + i * u.size, u.size, u.is_signed, count)


cdef bint float_stage_unless_nan(const FloatRow* p, cnp.ndarray x, cnp.ndarray out, cnp.ndarray kept=None) except -1:
    """Whether float32 values have no NaN: then out = their codes, else it is partly written.

    With room for what is `kept`, as large as `out`, which lies as x does, it is as it was.
    """
    cdef Maker m = float_maker(True, p)
    cdef char* room = NULL if kept is None else cnp.PyArray_BYTES(kept)
    cdef UnlessNan u = UnlessNan(&m, code_size(out), cnp.PyArray_ISSIGNED(out), False, room, 0)
    walk(unless_nan, &u, x, out)
    if u.has_nan and u.done:
        memcpy(cnp.PyArray_BYTES(out), room, u.done * u.size)
    return not u.has_nan


cdef void pick(void* row, const void* numbers, Py_ssize_t c) noexcept nogil:
    (<FloatRow*>row).scale = (<float*>(<Scales*>numbers).of_channels)[c]


cdef inline void each_of(const value* x, int32_t* c, Py_ssize_t n, const Scales* s, Py_ssize_t first) noexcept nogil:
    cdef FloatRow p = (<FloatRow*>s.row)[0]
    cdef const float* scales = <float*>s.of_channels
    cdef Py_ssize_t i = float_each__simd(tier(), x, value is int32_t, c, n, p, <float*>s.of_elements, s.turns.period,
                                         first)
    for i in range(i, n):
        c[i] = coded(x[i], scales[channel(s.turns, first + i)], p)


cdef void each_f32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    each_of(<float*>x, c, n, <Scales*>rows, first)


cdef void each_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    each_of(<int32_t*>x, c, n, <Scales*>rows, first)


cdef void turns_f32(const void* x, int32_t* c, Py_ssize_t n, const void* scales) noexcept nogil:
    each_f32(x, c, n, scales, 0)


cdef void turns_s32(const void* x, int32_t* c, Py_ssize_t n, const void* scales) noexcept nogil:
    each_s32(x, c, n, scales, 0)


cdef inline Py_ssize_t turn_bytes(const value* x, void* c, bint is_signed, Py_ssize_t n,
                                  const Scales* s) noexcept nogil:
    cdef Py_ssize_t done = float_each_8__simd(tier(), x, value is int32_t, c, is_signed, n, (<FloatRow*>s.row)[0],
                                              <float*>s.of_elements, s.turns.period)
    make_each(each_s32 if value is int32_t else each_f32, s, s.turns, x, 4, c, 1, done, n)
    return n


cdef Py_ssize_t turn_bytes_f32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    return turn_bytes(<float*>x, c, is_signed, n, <Scales*>scales)


cdef Py_ssize_t turn_bytes_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    return turn_bytes(<int32_t*>x, c, is_signed, n, <Scales*>scales)


cdef Py_ssize_t turn_pairs_f32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    make_each(each_f32, scales, (<Scales*>scales).turns, x, 4, c, 2, 0, n)
    return n


cdef Py_ssize_t turn_pairs_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* scales) noexcept nogil:
    make_each(each_s32, scales, (<Scales*>scales).turns, x, 4, c, 2, 0, n)
    return n


cdef Maker float_turns(bint is_real, const Scales* scales) noexcept nogil:
    """Of elements from the beginning of a period on; their scales are put down, and there is a row."""
    if is_real:
        return Maker(turns_f32, turn_bytes_f32, turn_pairs_f32, scales, 4)
    return Maker(turns_s32, turn_bytes_s32, turn_pairs_s32, scales, 4)


cdef object float_channels(const FloatRow* p, const Scales* scales, cnp.ndarray x, cnp.ndarray out):
    """The same of contiguous arrays, with another scale for each channel."""
    cdef bint is_real = cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32
    cdef FloatRow row = p[0]
    cdef Scales s = scales[0]
    cdef Maker m = float_maker(is_real, &row), in_turns = float_turns(is_real, &s)
    s.row = &row
    run_scales(&m, pick, &in_turns, &s, sizeof(float), x, out)

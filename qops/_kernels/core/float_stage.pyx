"""The loops of the float stage: float32 or int32 to codes."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int32_t

from qops._kernels.core.maker cimport Maker, make, run, run_channels, run_each
from qops._kernels.core.rounding cimport clamp_f32, rounded_f32, truncate_x86_s32
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM

cnp.import_array()

cdef extern from "core/float_stage.h":
    Py_ssize_t float_codes__simd(int, const void*, bint, int32_t*, Py_ssize_t, FloatRow, const float*, bint) nogil
    Py_ssize_t float_codes_8__simd(int, const void*, bint, void*, bint, Py_ssize_t, FloatRow, bint) nogil

ctypedef fused value:
    float
    int32_t


cdef FloatRow float_row(float scale, Rounding rounding, float lowest, float highest) noexcept nogil:
    """clamp(round(x * scale)); all else is left out."""
    return FloatRow(-INFINITY, INFINITY, 0, scale, 0, 0, lowest, highest, rounding)


cdef inline void codes_of(const value* x, int32_t* c, Py_ssize_t n, FloatRow p, const float* each) noexcept nogil:
    """`each`: a scale for each element, NULL if the row's is that of all."""
    cdef Py_ssize_t i = float_codes__simd(tier(), x, value is int32_t, c, n, p, each, 4 * n >= STREAM)
    cdef float near, steps
    for i in range(i, n):
        near = clamp_f32(<float>x[i], p.lowest_x, p.highest_x)
        steps = rounded_f32((near - p.minus) * (each[i] if each is not NULL else p.scale) + p.plus, p.rounding)
        c[i] = truncate_x86_s32(clamp_f32(steps + p.shift, p.lowest, p.highest))


cdef void codes_f32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    codes_of(<float*>x, c, n, (<FloatRow*>row)[0], NULL)


cdef void codes_s32(const void* x, int32_t* c, Py_ssize_t n, const void* row) noexcept nogil:
    codes_of(<int32_t*>x, c, n, (<FloatRow*>row)[0], NULL)


cdef Py_ssize_t bytes_f32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_8__simd(tier(), x, False, c, is_signed, n, (<FloatRow*>row)[0], n >= STREAM)


cdef Py_ssize_t bytes_s32(const void* x, void* c, bint is_signed, Py_ssize_t n, const void* row) noexcept nogil:
    return float_codes_8__simd(tier(), x, True, c, is_signed, n, (<FloatRow*>row)[0], n >= STREAM)


cdef void float_codes_of(const float* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    """The uint8, int8 or int32 codes of some values."""
    make(Maker(codes_f32, bytes_f32, &p, 4), x, c, 4 if typenum == cnp.NPY_INT32 else 1, typenum == cnp.NPY_INT8, n)


cdef Maker maker(cnp.ndarray x, const FloatRow* p):
    if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32:
        return Maker(codes_f32, bytes_f32, p, 4)
    return Maker(codes_s32, bytes_s32, p, 4)


cdef object float_stage(const FloatRow* p, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of float32 values or int32 accumulators."""
    run(maker(x, p), x, out)


cdef struct Channels:
    FloatRow row
    const float* scales


cdef void pick(void* row, const void* numbers, Py_ssize_t c) noexcept nogil:
    (<FloatRow*>row).scale = (<Channels*>numbers).scales[c]


cdef void each_f32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    codes_of(<float*>x, c, n, (<Channels*>rows).row, (<Channels*>rows).scales + first)


cdef void each_s32(const void* x, int32_t* c, Py_ssize_t n, const void* rows, Py_ssize_t first) noexcept nogil:
    codes_of(<int32_t*>x, c, n, (<Channels*>rows).row, (<Channels*>rows).scales + first)


cdef object float_channels(const FloatRow* p, const float* scales, Py_ssize_t count, Py_ssize_t inner, cnp.ndarray x,
                           cnp.ndarray out):
    """The same of contiguous arrays, with another scale for every `inner` elements, in turn."""
    cdef Channels channels
    channels.row, channels.scales = p[0], scales
    if inner == 1:
        run_each(each_f32 if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32 else each_s32, &channels, count, x, out)
    else:
        run_channels(maker(x, &channels.row), pick, &channels, count, inner, x, out)

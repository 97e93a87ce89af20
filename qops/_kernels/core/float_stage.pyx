"""The loops of the float stage: float32 or int32 to codes of 8, 16 and 32 bits."""

cimport numpy as cnp
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t

from qops._kernels.core.rounding cimport clamp_f32, rounded_f32, truncate_x86_s32
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "core/float_stage.h":
    Py_ssize_t float_codes__simd(int, const void*, bint, void*, int, Py_ssize_t, FloatRow, bint) nogil

ctypedef fused value:
    float
    int32_t

ctypedef fused code:
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t


cdef FloatRow float_row(float scale, Rounding rounding, float lowest, float highest) noexcept nogil:
    """clamp(round(x * scale)); all else is left out."""
    return FloatRow(-INFINITY, INFINITY, 0, scale, 0, 0, lowest, highest, rounding)


cdef inline void float_codes(const value* x, code* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    cdef Py_ssize_t i = 0
    cdef float near, steps
    cdef Py_ssize_t size = sizeof(code)
    if size != 2:
        i = float_codes__simd(tier(), x, value is int32_t, c, size, n, p, size * n >= STREAM)
    for i in range(i, n):
        near = clamp_f32(<float>x[i], p.lowest_x, p.highest_x)
        steps = rounded_f32((near - p.minus) * p.scale + p.plus, p.rounding)
        c[i] = <code>truncate_x86_s32(clamp_f32(steps + p.shift, p.lowest, p.highest))


cdef void to_codes(const value* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    if typenum == cnp.NPY_UINT8:
        float_codes(x, <uint8_t*>c, n, p)
    elif typenum == cnp.NPY_INT8:
        float_codes(x, <int8_t*>c, n, p)
    elif typenum == cnp.NPY_UINT16:
        float_codes(x, <uint16_t*>c, n, p)
    elif typenum == cnp.NPY_INT16:
        float_codes(x, <int16_t*>c, n, p)
    else:
        float_codes(x, <int32_t*>c, n, p)


cdef void float_codes_of(const float* x, int typenum, void* c, Py_ssize_t n, FloatRow p) noexcept nogil:
    """The codes, of the type `typenum`, of some values."""
    to_codes(x, typenum, c, n, p)


cdef struct Stage:
    FloatRow row
    int typenum


cdef void of_f32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Stage* s = <Stage*>using
    to_codes(<float*>data[0], s.typenum, data[1], n, s.row)


cdef void of_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Stage* s = <Stage*>using
    to_codes(<int32_t*>data[0], s.typenum, data[1], n, s.row)


cdef object float_stage(const FloatRow* p, cnp.ndarray x, cnp.ndarray out):
    """out = the codes of float32 values or int32 accumulators."""
    cdef Stage s
    s.row = p[0]
    s.typenum = cnp.PyArray_TYPE(out)
    walk(of_f32 if cnp.PyArray_TYPE(x) == cnp.NPY_FLOAT32 else of_s32, &s, x, out)

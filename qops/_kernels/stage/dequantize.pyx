"""The values of codes: (q + plus) * scale + base; each operation is rounded to float32."""

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, uint8_t, uint16_t

from qops._kernels.arrays.codes cimport code, typenum_of
from qops._kernels.stage.rounding cimport truncate_x86_s32
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk

cnp.import_array()

cdef extern from "stage/dequantize.h":
    Py_ssize_t dequantize_u8_f32__simd(int, const uint8_t*, float*, Py_ssize_t, DequantizeParams) nogil


cdef struct Stretch:
    const DequantizeParams* values
    int typenum


cdef void dequantize(const code* q, float* x, Py_ssize_t n, const DequantizeParams* values) noexcept nogil:
    cdef DequantizeParams p = values[0]
    cdef Py_ssize_t i = 0
    cdef float near
    if code is uint8_t:
        i = dequantize_u8_f32__simd(tier(), q, x, n, p)
        if p.ties_away:
            for i in range(i, n):
                x[i] = <float>((<float>q[i] + p.plus) * (p.scale * (1 + 2.0 ** -40)))
            return
    for i in range(i, n):
        near = <float>q[i]
        if code is int32_t:
            near = <float>truncate_x86_s32(near) if p.through_int32 else near
        x[i] = (near + p.plus) * p.scale + p.base


cdef void dequantize_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Stretch* s = <Stretch*>using
    cdef float* x = <float*>data[1]
    if s.typenum == cnp.NPY_UINT8:
        dequantize(<uint8_t*>data[0], x, n, s.values)
    elif s.typenum == cnp.NPY_INT8:
        dequantize(<int8_t*>data[0], x, n, s.values)
    elif s.typenum == cnp.NPY_UINT16:
        dequantize(<uint16_t*>data[0], x, n, s.values)
    elif s.typenum == cnp.NPY_INT16:
        dequantize(<int16_t*>data[0], x, n, s.values)
    else:
        dequantize(<int32_t*>data[0], x, n, s.values)


cdef object dequantize_codes(cnp.ndarray q, DequantizeParams p, cnp.ndarray out):
    """out = the values of codes of any type."""
    cdef Stretch s = Stretch(&p, typenum_of(q))
    walk(dequantize_loop, &s, q, out)

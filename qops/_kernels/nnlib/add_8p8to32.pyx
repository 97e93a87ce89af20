"""nnlib's QuantizedAdd_8p8to32 of today."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t

from qops._kernels.core.rounding cimport plus_half_dsp_s32, wrap_s32
from qops._kernels.nnlib.ranges cimport Ends, Level, level_zero
from qops._kernels.core.walk cimport blocks

cnp.import_array()


cdef struct add_s32:
    int ka, kb, offset
    float max


cdef add_s32 prepare_s32(Level a, Level b) noexcept nogil:
    """The coarser step gets 0x7F80, the other in proportion."""
    cdef add_s32 p
    cdef float top = <float>0x7F80, coarse = max(a.step, b.step)
    cdef float divisor = max(coarse, <float>1e-10)
    p.ka = 0x7F80 if a.step > b.step else plus_half_dsp_s32(a.step * top / divisor)
    p.kb = plus_half_dsp_s32(b.step * top / divisor) if a.step > b.step else 0x7F80
    p.offset = wrap_s32(<int64_t>p.ka * a.zero + <int64_t>p.kb * b.zero)
    p.max = <float>(2147483648.0 / 0x7F80) * coarse
    return p


def add_8p8to32_integers(float a_min, float a_max, float b_min, float b_max):
    """ka, kb, offset and max of the 8p8to32 loop for these ranges, as a dict."""
    return prepare_s32(level_zero(Ends(a_min, a_max)), level_zero(Ends(b_min, b_max)))


cdef void add_u8u8_s32(const uint8_t* a, const uint8_t* b, int32_t* c, Py_ssize_t n, add_s32 p) noexcept nogil:
    """c = ka * a + kb * b - offset, exact."""
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = p.ka * a[i] + p.kb * b[i] - p.offset


def add_8p8to32(cnp.ndarray x, float a_min, float a_max, cnp.ndarray y, float b_min, float b_max, cnp.ndarray out):
    """out = the codes of x + y in the range (-max, max); returns max, 0 if both ranges are 0 wide: then out stays."""
    cdef add_s32 p = prepare_s32(level_zero(Ends(a_min, a_max)), level_zero(Ends(b_min, b_max)))
    cdef cnp.ndarray a, b, c
    if p.max > 0 and isfinite(p.max):
        for a, b, c in blocks((x, y, out)):
            with nogil:
                add_u8u8_s32(<uint8_t*>cnp.PyArray_DATA(a), <uint8_t*>cnp.PyArray_DATA(b),
                             <int32_t*>cnp.PyArray_DATA(c), cnp.PyArray_SIZE(c), p)
    return p.max

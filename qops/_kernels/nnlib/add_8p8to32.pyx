"""nnlib's QuantizedAdd_8p8to32 (version 0x00021401), and QuantizedSub_8p8to32, which negates kb."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t

from qops._kernels.stage.rounding cimport plus_half_dsp_s32, wrap_s32
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport FloatEnds, Level, level_zero

cnp.import_array()

cdef extern from "nnlib/add_8p8to32.h":
    ctypedef struct add_8p8to32_params:
        int ka, kb, offset
        float max
    Py_ssize_t add_8p8to32__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, add_8p8to32_params) nogil


cdef add_8p8to32_params prepare_s32(Level a, Level b, bint subtract) noexcept nogil:
    """The multiplier of the coarser step is 0x7F80, the other is in proportion."""
    cdef add_8p8to32_params p
    cdef float top = <float>0x7F80, coarse = max(a.step, b.step)
    cdef float divisor = max(coarse, <float>1e-10)
    p.ka = 0x7F80 if a.step > b.step else plus_half_dsp_s32(a.step * top / divisor)
    p.kb = plus_half_dsp_s32(b.step * top / divisor) if a.step > b.step else 0x7F80
    if subtract:
        p.kb = -p.kb
    p.offset = wrap_s32(<int64_t>p.ka * a.zero + <int64_t>p.kb * b.zero)  # wraps only if max is infinite
    p.max = <float>(2147483648.0 / 0x7F80) * coarse
    return p


def add_8p8to32_integers(tuple a, tuple b, bint subtract=False):
    """ka, kb, offset and max of the 8p8to32 loop for the ranges a and b, as a dict."""
    return prepare_s32(level_zero(FloatEnds(a[0], a[1])), level_zero(FloatEnds(b[0], b[1])), subtract)


cdef void add_u8u8_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = ka * a + kb * b - offset, exact."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef add_8p8to32_params p = (<add_8p8to32_params*>using)[0]
    cdef Py_ssize_t i
    for i in range(add_8p8to32__simd(tier(), a, b, c, n, p), n):
        c[i] = p.ka * a[i] + p.kb * b[i] - p.offset


def add_8p8to32(tuple a, tuple b, cnp.ndarray out, bint subtract=False):
    """Write the codes of a + b or a - b in the range (-max, max) to `out`; return max. A max of 0 or inf is refused."""
    cdef Level x = level_zero(FloatEnds(a[1], a[2])), y = level_zero(FloatEnds(b[1], b[2]))
    cdef add_8p8to32_params p = prepare_s32(x, y, subtract)
    if p.max > 0 and isfinite(p.max):  # otherwise `out` is not written
        walk(add_u8u8_s32, &p, a[0], b[0], out)
    return p.max

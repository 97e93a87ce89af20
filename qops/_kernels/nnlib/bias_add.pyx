"""nnlib's QuantizedBiasAdd_8p8to32, in float32."""

cimport numpy as cnp
from libc.math cimport fabsf, fmaxf
from libc.stdint cimport int32_t, uint8_t

from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport FloatEnds, level_32, quantize_int, steps

cnp.import_array()

cdef extern from "nnlib/bias_add.h":
    ctypedef struct bias_add_s32:
        int zx, zb  # codes of 0
        float mx, mb  # steps of x and of the bias, in output steps
        float max
    Py_ssize_t bias_add_u8u8_s32__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, bias_add_s32) nogil

cdef enum:
    HIGHEST_ZERO = 2147483520  # the largest float32 below 2**31


cdef bias_add_s32 prepare(FloatEnds x, FloatEnds b) noexcept nogil:
    """The numbers of the loop. zx is cut to 0..255, zb only at 0, as nnlib's quantize_uint cuts it."""
    cdef bias_add_s32 p
    cdef float level
    p.max = fmaxf(fmaxf(fabsf(x.min), x.max), fmaxf(fabsf(b.min), b.max)) * <float>131072
    level = level_32(p.max - -p.max)
    p.zx = saturate_u8(quantize_int(0, x))
    p.zb = max(0, min(HIGHEST_ZERO, quantize_int(0, b)))
    p.mx = ((x.max - x.min) / steps()) / level if level > 0 else <float>0
    p.mb = ((b.max - b.min) / steps()) / level if level > 0 else <float>0
    return p


def bias_add_8p8to32_integers(tuple x, tuple b):
    """zx, zb, mx, mb and max of the loop for the ranges x and b, as a dict."""
    return prepare(FloatEnds(x[0], x[1]), FloatEnds(b[0], b[1]))


cdef void bias_add_u8u8_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = trunc((0.5 + (x - zx) * mx) + (b - zb) * mb), in float32; each operation rounds."""
    cdef const uint8_t* x = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef bias_add_s32 p = (<bias_add_s32*>using)[0]
    cdef Py_ssize_t i = bias_add_u8u8_s32__simd(tier(), x, b, c, n, p)
    cdef float term, bias
    for i in range(i, n):
        term = <float>(x[i] - p.zx) * p.mx
        bias = <float>(b[i] - p.zb) * p.mb
        c[i] = <int32_t>((<float>0.5 + term) + bias)


def bias_add_8p8to32(tuple x, tuple b, cnp.ndarray out):
    """Write the codes of x + b in the range (-max, max) to `out`; return max. x and b are (codes, min, max)."""
    cdef bias_add_s32 p = prepare(FloatEnds(x[1], x[2]), FloatEnds(b[1], b[2]))
    walk(bias_add_u8u8_s32, &p, x[0], b[0], out)
    return p.max

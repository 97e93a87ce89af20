"""nnlib's QuantizedAdd_8p8to32 (version 0x00021401), and QuantizedSub_8p8to32, which negates kb."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int64_t

from qops._kernels.stage.rounding cimport plus_half_dsp_s32, wrap_s32
from qops._kernels.stage.weighted_sum cimport WeightedSum, weighted_sum
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport FloatEnds, Level, level_zero

cnp.import_array()

cdef enum:
    TOP = 0x7F80  # the factor of the coarser step; the other factor is in proportion


cdef WeightedSum prepare(Level a, Level b, bint subtract) noexcept nogil:
    """The numbers of the loop: c = ka * (a - a.zero) + kb * (b - b.zero)."""
    cdef WeightedSum p = WeightedSum(TOP, TOP, 0, 0, 0, 0)
    cdef float divisor = max(a.step, b.step, <float>1e-10)
    if a.step > b.step:
        p.kb = plus_half_dsp_s32(b.step * <float>TOP / divisor)
    else:
        p.ka = plus_half_dsp_s32(a.step * <float>TOP / divisor)
    if subtract:
        p.kb = -p.kb
    p.k = wrap_s32(-(<int64_t>p.ka * a.zero + <int64_t>p.kb * b.zero))  # wraps only if the max is infinite
    return p


cdef float max_of(Level a, Level b) noexcept nogil:
    """The max of the output range."""
    return <float>(2147483648.0 / TOP) * max(a.step, b.step)


def add_8p8to32_integers(tuple a, tuple b, bint subtract=False):
    """ka, kb, offset and max of the 8p8to32 loop for the ranges a and b, as a dict. The loop subtracts the offset."""
    cdef Level x = level_zero(FloatEnds(a[0], a[1])), y = level_zero(FloatEnds(b[0], b[1]))
    cdef WeightedSum p = prepare(x, y, subtract)
    return {"ka": p.ka, "kb": p.kb, "offset": -p.k, "max": max_of(x, y)}


def add_8p8to32(tuple a, tuple b, cnp.ndarray out, bint subtract=False):
    """Write the codes of a + b or a - b in the range (-max, max) to `out`; return max. A max of 0 or inf is refused."""
    cdef Level x = level_zero(FloatEnds(a[1], a[2])), y = level_zero(FloatEnds(b[1], b[2]))
    cdef WeightedSum p = prepare(x, y, subtract)
    cdef float top = max_of(x, y)
    if top > 0 and isfinite(top):  # otherwise `out` is not written
        walk(weighted_sum, &p, a[0], b[0], out)
    return top

"""TensorFlow's QuantizeV2 and Dequantize: each mode has its own parameters, and all modes share one loop."""

cimport numpy as cnp
from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport INFINITY, fabsf, isfinite

from qops._kernels.arrays.codes cimport code_type, from_row
from qops._kernels.stage.dequantize cimport DequantizeParams, dequantize_codes
from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.rounding cimport HALF_AWAY, HALF_EVEN, TRUNCATE
from qops._kernels.stage.stage cimport Stage, float_stage, stage_over
from qops._kernels.tensorflow.formulas cimport (
    QuantizedType, QuantizedToFloatStruct, quantized_type, eigen_dequantize, larger, smaller,
)
from qops._kernels.tensorflow.requantize cimport quantize_params

cnp.import_array()

cpdef enum:  # ways to quantize and dequantize: TensorFlow's modes and oneDNN's
    MIN_COMBINED
    MIN_FIRST
    SCALED
    SCALED_HALF_EVEN
    ONEDNN_MIN_FIRST
    ONEDNN_MIN_FIRST_0D
    ONEDNN_SCALED


cdef struct QuantizeParams:
    float min, max  # the range that the op returns
    FloatParams params


cdef QuantizeParams reporting(float lo, float hi) noexcept nogil:
    """Parameters of the identity, which return the range (lo, hi)."""
    cdef QuantizeParams p
    p.min, p.max = lo, hi
    p.params = float_params(1, HALF_AWAY, -INFINITY, INFINITY)
    return p


cdef QuantizeParams min_first(float a, float b, QuantizedType t) noexcept nogil:
    """MIN_FIRST rounds half away from zero; it is how Requantize makes codes of values."""
    cdef QuantizeParams p = reporting(a, b)
    p.params = quantize_params(a, b, t)
    return p


cdef QuantizeParams min_combined(float a, float b, QuantizedType t) noexcept nogil:
    """Unsigned codes are rounded half up. Signed codes are rounded half away from zero, with the lowest code added."""
    cdef QuantizeParams p = reporting(a, b)
    p.params.lowest_x, p.params.highest_x, p.params.minus = a, b, a
    p.params.scale = <float>((t.count - 1) / <double>(b - a))
    p.params.rounding = HALF_AWAY if t.lowest else TRUNCATE
    p.params.plus = <float>t.lowest if t.lowest else <float>0.5
    return p


cdef float flush(float v) noexcept nogil:
    """Give v, or 0 of its sign if it is subnormal, as TensorFlow flushes it."""
    return v if fabsf(v) >= FLT_MIN else 0 * v


cdef QuantizeParams scaled(float a, float b, QuantizedType t, bint half_even, bint narrow) noexcept nogil:
    """Code 0 stands for 0. Each end but 0 limits the scale (codes per unit); the smaller limit holds."""
    cdef QuantizeParams p
    cdef float lowest = <float>(t.lowest + narrow), highest = <float>t.highest
    cdef float by_a = lowest / a if lowest * a > 0 else <float>FLT_MAX
    cdef float by_b = highest / b if highest * b > 0 else <float>FLT_MAX
    cdef float scale = smaller(by_a, by_b)
    p = reporting(flush(lowest / scale), flush(highest / scale))
    p.params.lowest_x, p.params.highest_x, p.params.scale = p.min, p.max, scale
    p.params.rounding = HALF_EVEN if half_even else HALF_AWAY
    return p


cdef QuantizeParams onednn_min_first(float a, float b, QuantizedType t) noexcept nogil:
    """oneDNN's MIN_FIRST, for unsigned codes."""
    cdef QuantizeParams p = reporting(a, b)
    p.params.scale = <float>t.highest / (b - a)
    p.params.plus, p.params.rounding = -a * p.params.scale, HALF_EVEN
    p.params.lowest, p.params.highest = 0, <float>t.highest
    return p


cdef QuantizeParams onednn_single(float a, float b, QuantizedType t) noexcept nogil:
    """oneDNN's MIN_FIRST for a 0-d input, which neither rounds nor clamps."""
    cdef QuantizeParams p = reporting(a, b)
    p.params.minus, p.params.scale, p.params.rounding = a, <float>t.highest / (b - a), TRUNCATE
    return p


cdef QuantizeParams onednn_scaled(float a, float b, QuantizedType t) noexcept nogil:
    """oneDNN's SCALED: 255 steps over (0, widest) or (-widest, widest), rounded half to even."""
    cdef float widest = larger(fabsf(a), fabsf(b))
    cdef QuantizeParams p = reporting(-widest if t.lowest else <float>0, widest)
    p.params.scale = <float>(t.count - 1) / (2 if t.lowest else 1) / widest
    p.params.lowest, p.params.highest, p.params.rounding = <float>t.lowest, <float>t.highest, HALF_EVEN
    return p


cdef float adjusted_max(float a, float lo, float hi, float ensure_minimum_range) noexcept nogil:
    """The max of the range that starts at a <= 0, holds 0 and has the minimum width."""
    cdef float least = larger(<float>1, larger(fabsf(lo), fabsf(hi))) * flush(ensure_minimum_range)
    return flush(larger(<float>0, larger(hi, a + least)))


cdef class Quantizer:
    """The parameters that quantize one range in one of the ways.

    `codes` is their `qops.codes.CodeType`. With `narrow`, SCALED leaves the lowest code unused.
    """
    cdef QuantizeParams p

    def __init__(self, float lo, float hi, codes, int way, bint narrow, float ensure_minimum_range):
        cdef QuantizedType t = quantized_type(from_row(codes))
        cdef float a = smaller(<float>0, flush(lo)), b = adjusted_max(a, lo, hi, ensure_minimum_range)
        if way == MIN_COMBINED:
            self.p = min_combined(a, b, t)
        elif way == MIN_FIRST:
            self.p = min_first(a, b, t)
        elif way == ONEDNN_MIN_FIRST:
            self.p = onednn_min_first(a, b, t)
        elif way == ONEDNN_MIN_FIRST_0D:
            self.p = onednn_single(a, b, t)
        elif way == ONEDNN_SCALED:
            self.p = onednn_scaled(a, b, t)
        else:
            self.p = scaled(a, b, t, way == SCALED_HALF_EVEN, narrow)

    @property
    def ends(self):
        """The range that the op returns."""
        return self.p.min, self.p.max

    @property
    def usable(self):
        """Whether float32 holds the scale and the ends of the range."""
        return isfinite(self.p.params.scale) and isfinite(self.p.min) and isfinite(self.p.max)

    def quantize(self, cnp.ndarray x, cnp.ndarray out):
        """Write the codes of x to `out`."""
        cdef Stage s = float_stage(&self.p.params)
        stage_over(&s, x, out)


cdef float signed_scale(float lo, float hi, QuantizedType t, bint narrow) noexcept nogil:
    """The step of SCALED for signed codes: the larger of the steps that the two ends need."""
    return larger(flush(lo / <float>(t.lowest + narrow)), flush(hi / <float>t.highest))


cdef DequantizeParams prepare_dequantize(float lo, float hi, QuantizedType t, int way, bint narrow,
                                         bint is_slice) noexcept nogil:
    cdef DequantizeParams p = DequantizeParams(0, 0, -0.0, False, False)
    cdef QuantizedToFloatStruct line
    lo, hi = flush(lo), flush(hi)
    if way == MIN_FIRST:
        line = eigen_dequantize(lo, hi, t)
        p.scale, p.base = line.scale, line.base
    elif way == MIN_COMBINED:
        p.plus, p.scale, p.base = -<float>t.lowest, (hi - lo) / <float>(t.highest - t.lowest), lo
    elif t.lowest or (narrow and way == ONEDNN_SCALED):  # oneDNN then takes 1 as lowest unsigned code
        p.scale = signed_scale(lo, hi, t, narrow)
    else:
        p.scale = flush(hi / <float>t.highest)
    p.through_int32 = way == SCALED and <double>t.top < <double>t.highest and not is_slice
    return p


def dequantize(cnp.ndarray q, float lo, float hi, int way, bint narrow, bint is_slice, cnp.ndarray out):
    """Write the values of codes in the range (lo, hi) to `out`; `is_slice`: they are one of several slices."""
    cdef QuantizedType t = quantized_type(code_type(q)[0])
    dequantize_codes(q, prepare_dequantize(lo, hi, t, way, narrow, is_slice), out)

"""The arithmetic that TensorFlow's quantized kernels share (quantization_utils.h): one small function per formula.

Each operation on floats rounds.
"""

from libc.math cimport nextafterf, round
from libc.stdint cimport int32_t, int64_t

from qops._kernels.arrays.codes cimport CodeType, code_type_of
from qops._kernels.stage.rounding cimport clamp_f32, clamp_s64, half_away_f32, truncate_x86_s32, truncate_x86_s64


cdef struct QuantizedType:
    # A quantized type: its lowest and highest code, its number of codes, and the largest float32 that is one of them.
    int64_t lowest, highest
    double count
    float top


cdef inline QuantizedType quantized_type(CodeType c) noexcept nogil:
    cdef QuantizedType t
    t.lowest, t.highest, t.count = c.lowest, c.highest, <double>(c.highest - c.lowest + 1)
    t.top = <float>c.highest
    if <double>t.top > <double>c.highest:  # the conversion rounded up
        t.top = nextafterf(t.top, 0)
    return t


cdef inline QuantizedType quint8() noexcept nogil:
    return quantized_type(code_type_of(False, 1)[0])


cdef inline QuantizedType qint32() noexcept nogil:
    return quantized_type(code_type_of(True, 4)[0])


cdef inline float larger(float a, float b) noexcept nogil:
    return b if a < b else a


cdef inline float smaller(float a, float b) noexcept nogil:
    return b if b < a else a


cdef inline double step_of(float lo, float hi, QuantizedType t) noexcept nogil:
    # (hi - lo) / (count - 1), computed from the range of `count` steps, as TensorFlow does
    return (hi - lo) * (t.count / (t.count - 1)) / t.count


cdef inline int64_t steps_above(double x, float lo, float hi, QuantizedType t) noexcept nogil:
    # The number of whole steps from lo to x.
    cdef double per_unit
    if lo == hi:
        return 0
    per_unit = t.count / ((hi - lo) * (t.count / (t.count - 1)))
    return truncate_x86_s64(round(x * per_unit) - round(lo * per_unit))


cdef inline int64_t float_to_quantized(double x, float lo, float hi, QuantizedType t) noexcept nogil:
    # FloatToQuantizedUnclamped: round_half_away(x / step) - round_half_away(lo / step) + lowest, in double
    return steps_above(x, lo, hi, t) + t.lowest


cdef inline int64_t float_to_code(double x, float lo, float hi, QuantizedType t) noexcept nogil:
    # FloatToQuantized: clamped to the codes. A number of steps beyond int64 gives the lowest code.
    return clamp_s64(steps_above(x, lo, hi, t), 0, t.highest - t.lowest) + t.lowest


cdef inline float quantized_to_float(double q, float lo, float hi, QuantizedType t) noexcept nogil:
    # QuantizedToFloat: lo, rounded to a whole step, + (q - lowest) * step
    cdef double step
    cdef float base
    if lo == hi:
        return lo
    step = step_of(lo, hi, t)
    base = <float>(round(lo / <float>step) * <float>step)
    return <float>(base + (q - <double>t.lowest) * step)


cdef struct QuantizedToFloatStruct:
    # value = base + q * scale, in float32
    float scale, base


cdef inline QuantizedToFloatStruct eigen_dequantize(float lo, float hi, QuantizedType t) noexcept nogil:
    # QuantizedToFloatStruct: base = lo, rounded to a whole step, - lowest * scale. 2**32 - 1 is no float32, so the
    # division is in double.
    cdef QuantizedToFloatStruct p
    p.scale = <float>(<double>(hi - lo) / (t.count - 1))
    p.base = (lo if lo == hi else half_away_f32(lo / p.scale) * p.scale) - <float>t.lowest * p.scale
    return p


cdef struct FloatToQuantizedStruct:
    # q = clamp(round_half_away(x * scale) - shift, lowest, highest), in float32
    float scale, shift, lowest, highest


cdef inline FloatToQuantizedStruct eigen_quantize(float lo, float hi, QuantizedType t) noexcept nogil:
    # FloatToQuantizedStruct. 2**32 - 1 is no float32, so the division is in double.
    cdef FloatToQuantizedStruct p
    p.scale = <float>0 if lo == hi else <float>((t.count - 1) / <double>(hi - lo))
    p.lowest, p.highest = <float>t.lowest, t.top
    p.shift = half_away_f32(lo * p.scale) - p.lowest
    return p


cdef inline int32_t eigen_code(float x, FloatToQuantizedStruct p) noexcept nogil:
    return truncate_x86_s32(clamp_f32(half_away_f32(x * p.scale) - p.shift, p.lowest, p.highest))

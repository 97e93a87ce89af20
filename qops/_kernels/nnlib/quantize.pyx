"""nnlib's Quantize (on the mantissas of floats), Quantize_ref and Quantize_int32 (in float32), its two Dequantize."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.stage.affine cimport Line, dequantize_32
from qops._kernels.stage.dequantize cimport DequantizeParams, dequantize_codes
from qops._kernels.stage.float_stage cimport FloatParams, float_params
from qops._kernels.stage.rounding cimport TRUNCATE, clamp_s64, plus_half_dsp_s32
from qops._kernels.stage.stage cimport Stage, float_stage, stage_over
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.nnlib.ranges cimport (
    Adjusted, FloatEnds, Level, Moved, adjust_minmax, adjust_range, bits, divisible, level_32, level_of, steps,
)

cnp.import_array()

cdef extern from "nnlib/quantize.h":
    ctypedef struct quantize_f32:
        int32_t common_exponent  # mantissas are shifted to this exponent
        int32_t offset  # |min| plus half a code step for the rounding
        int32_t scaling  # 2**32 / range: 4096 to 8192
        float min, max
    Py_ssize_t quantize_mantissas__simd(int, const float*, uint8_t*, Py_ssize_t, quantize_f32) nogil

cdef enum:
    HIDDEN = 1 << 23  # the leading 1 of a float32 mantissa, which is not stored


cdef inline uint32_t mantissa(uint32_t b) noexcept nogil:
    """The mantissa of the float32 with the bits b, 24 bits with its leading 1."""
    return (b & (HIDDEN - 1)) | HIDDEN


cdef inline int exponent_field(uint32_t b) noexcept nogil:
    return b >> 23 & 0xFF


cdef inline float widened(float width) noexcept nogil:
    """The width of 256 steps, from that of 255."""
    return width * <float>1.003921569


cdef quantize_f32 prepare(float lo, float hi) noexcept nogil:
    """The numbers of the loop on mantissas. The range gets a width, and 0 gets on a code if lo is below 0."""
    cdef quantize_f32 p
    cdef Moved r = Moved(0, lo, lo + <float>1e-18)
    cdef uint32_t lowest, width
    cdef int shift
    if hi > r.max:
        r.max = hi
    if lo < 0:
        r = adjust_minmax(FloatEnds(lo, r.max), 0, <float>1e-6)
    p.min, p.max = r.min, r.max
    lowest, width = bits(p.min), bits(widened(p.max - p.min))
    p.common_exponent = exponent_field(width) + 4
    width = mantissa(width) >> 4
    shift = p.common_exponent - exponent_field(lowest)
    p.offset = (mantissa(lowest) >> shift if 0 <= shift < 24 else 0) + (width >> 9)
    p.scaling = 0xFFFFFFFFU // width
    return p


def quantize_integers(float lo, float hi):
    """The numbers of the loop for this range, and the range that nnlib makes of it, as a dict."""
    return prepare(lo, hi)


cdef void quantize_f32_u8(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_u16((mantissa of x + offset) * scaling >> 16) >> 8; nothing but the last step saturates."""
    cdef const float* x = <float*>data[0]
    cdef uint8_t* c = <uint8_t*>data[1]
    cdef quantize_f32 p = (<quantize_f32*>using)[0]
    cdef Py_ssize_t i = quantize_mantissas__simd(tier(), x, c, n, p)
    cdef uint32_t b, aligned
    cdef int shift
    cdef int32_t acc
    for i in range(i, n):
        b = bits(x[i])
        shift = min(p.common_exponent - exponent_field(b), 31)
        shift = ((shift & 63) ^ 32) - 32  # the DSP's shifter reads 6 bits, signed; a negative count shifts left
        aligned = mantissa(b) >> shift if shift >= 0 else <uint32_t>(<int64_t>mantissa(b) << -shift)
        acc = <int32_t>((0 - aligned if b >> 31 else aligned) + <uint32_t>p.offset)
        c[i] = <uint8_t>(clamp_s64(<int64_t>acc * p.scaling >> 16, 0, 0xFFFF) >> 8)


def quantize(cnp.ndarray x, float lo, float hi, cnp.ndarray out):
    """Write the codes of x to `out`, by mantissas; return the range, None if it is beyond float32."""
    cdef quantize_f32 p = prepare(lo, hi)
    if not isfinite(widened(p.max - p.min)):
        return None
    walk(quantize_f32_u8, &p, x, out)
    return p.min, p.max


def refused(float lo, float hi):
    """Whether Quantize_ref refuses the range (lo, hi)."""
    return lo > 0 or hi < 0 or hi - lo < <float>1e-8


def quantize_ref(cnp.ndarray x, float lo, float hi, cnp.ndarray out):
    """out = sat_u8(half_away((x - min) * (255 / range))); returns the range, None if it is beyond float32."""
    cdef Adjusted r = adjust_range(FloatEnds(lo, hi))
    cdef FloatParams p = float_params(r.recip_step, TRUNCATE, 0, steps())
    cdef Stage s
    if not isfinite(r.max - r.min):
        return None
    p.minus, p.plus = r.min, 0.5  # truncation rounds down: values below 0 saturate
    s = float_stage(&p)
    stage_over(&s, x, out)
    return r.min, r.max


cdef void quantize_f32_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = sat_s32(trunc(v + copysign(0.5, v))), v = x * factor; NaN becomes -1."""
    cdef const float* x = <float*>data[0]
    cdef int32_t* c = <int32_t*>data[1]
    cdef float factor = (<float*>using)[0]
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = plus_half_dsp_s32(x[i] * factor)


def quantize_32(cnp.ndarray x, float factor, cnp.ndarray out):
    """out = the int32 codes of x * factor."""
    walk(quantize_f32_s32, &factor, x, out)


def range_of_data(float lowest, float highest, float narrowest):
    """The range of the data and 0, at least `narrowest` wide."""
    cdef float lo = lowest if lowest < 0 else <float>-0.0, hi = highest if highest > 0 else <float>0
    return lo, max(hi, <float>(lo + narrowest))


def dequantize(cnp.ndarray codes, float lo, float hi, cnp.ndarray out):
    """out = (q - zero) * step of uint8 codes in float32, ties away from zero.

    False if the step is too large for the original's exponents.
    """
    cdef Level p = level_of(lo, divisible(hi - lo))
    if not p.step < <float>2.658455991569832e+36:  # 2**121
        return False
    dequantize_codes(codes, DequantizeParams(-p.zero, p.step, 0, False, True), out)
    return True


def dequantize_s32(cnp.ndarray codes, float lo, float hi, cnp.ndarray out):
    """out = float32(q) * step of int32 codes; False if the range is wider than float32."""
    cdef float step = level_32(divisible(hi - lo))
    if not isfinite(step):
        return False
    dequantize_32(codes, Line(step, 0, 0), out)
    return True

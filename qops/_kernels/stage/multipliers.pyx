"""Real scales as systems form them, and as multipliers and total right shifts, multiplier / 2**right_shift."""

cimport numpy as cnp
from libc.math cimport INFINITY, frexp, isfinite, ldexp, rint
from libc.stdint cimport INT32_MAX, int64_t, uint64_t
from libc.string cimport memcpy

from qops._kernels.arrays.numbers cimport shown
from qops._kernels.stage.rounding cimport truncate_x86_s64

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

# where a * b / y is rounded
DERIVATIONS = ("double", "f32-product", "f32", "f32-reciprocal", "f32-inverse-w")

cdef dict KINDS = {
    "31 bits": BITS_31,
    "31 bits, below 2**30": BELOW_30,
    "31 bits, below 1": BELOW_1,
    "31 bits, half down": HALF_DOWN,
    "31 bits, 16 of them": REDUCED_LATER,
    "16 bits of 31": REDUCED,
    "mantissa of 24 bits": MANTISSA_24,
    "mantissa, 31 bits": MANTISSA_31,
    "mantissa, 15 bits": MANTISSA_15,
    "7 bits": BITS_7,
    "8 bits": BITS_8,
    "fraction of 31 bits": FRACTION_31,
    "given": GIVEN,
    "float32": FLOAT_32,
    "31 bits as a float32": FLOAT_32_OF_31,
    "float64": FLOAT_64,
    "float64 of a float32": FLOAT_64_OF_32,
}


cdef int64_t reduced(int64_t m) noexcept nogil:
    """A multiplier of 31 bits, rounded to 15 half up."""
    return (m + (1 << 15)) >> 16 if m < 0x7FFF0000 else 0x7FFF


cdef int64_t bits_53(double x, int* exponent) noexcept nogil:
    """Give the mantissa of x >= 0 in 53 bits; set `exponent` as frexp does."""
    cdef uint64_t bits
    memcpy(&bits, &x, sizeof(double))
    if bits >> 52 == 0:  # 0, and subnormal numbers
        return truncate_x86_s64(ldexp(frexp(x, exponent), 53))
    exponent[0] = <int>(bits >> 52) - 1022
    return <int64_t>((bits & ((<uint64_t>1 << 52) - 1)) | <uint64_t>1 << 52)


cdef Multiplier of_31_bits(double scale, MultiplierKind kind) noexcept nogil:
    """The mantissa rounded to 31 bits, half away or half down; 0 below 2**-32."""
    cdef int shift = 0
    cdef int64_t bits = bits_53(scale, &shift), rest = bits & ((1 << 22) - 1)
    bits >>= 22
    bits += rest > 1 << 21 if kind == HALF_DOWN else rest >= 1 << 21
    if bits == <int64_t>1 << 31:
        bits >>= 1
        shift += 1
    if shift < -31 or bits == 0 or (kind == BELOW_1 and shift > 0):
        return Multiplier(0, 31)
    if kind == BELOW_30 and shift > 30:
        return Multiplier((<int64_t>1 << 31) - 1, 1)
    return Multiplier(bits, 31 - shift)


cdef Multiplier mantissa(double scale, int bits) noexcept nogil:
    """The mantissa of the float32 scale, followed by zeros up to so many bits."""
    cdef int exponent = 0
    cdef int64_t m = bits_53(<float>scale, &exponent) >> (53 - bits)
    return Multiplier(m, bits - exponent)


cdef Multiplier mantissa_15(double scale) noexcept nogil:
    """The mantissa of the float32 scale, rounded to 15 bits half up."""
    cdef Multiplier p = mantissa(scale, 24)
    cdef int64_t short = (p.m + 256) >> 9
    return Multiplier(short >> 1, p.right_shift - 10) if short == 1 << 15 else Multiplier(short, p.right_shift - 9)


cdef Multiplier fraction_31(double scale) noexcept nogil:
    """The float32 scale times 2**31, rounded half up in float32; scales above 1 are shifted below it first."""
    cdef float near = <float>scale
    cdef int exponent = 0
    if not near < ldexp(1, 31):
        return Multiplier(<int64_t>1 << 31, 0)  # none that fits
    if near > 1:
        frexp(near, &exponent)
    return Multiplier(min(<int64_t><float>(ldexp(near, 31 - exponent) + 0.5), <int64_t>INT32_MAX), 31 - exponent)


cdef Multiplier multiplier(double scale, MultiplierKind kind) noexcept nogil:
    """The multiplier of a scale, not negative; where a rule keeps the scale real, that of 31 bits."""
    cdef Multiplier p
    if kind == MANTISSA_24 or kind == MANTISSA_31:
        return mantissa(scale, 24 if kind == MANTISSA_24 else 31)
    if kind == MANTISSA_15:
        return mantissa_15(scale)
    if kind == BITS_7:
        return Multiplier(truncate_x86_s64(rint(scale * 128)), 7)
    if kind == BITS_8:
        return Multiplier(truncate_x86_s64(rint(<float>256 * <float>scale)), 8)
    if kind == FRACTION_31:
        return fraction_31(scale)
    p = of_31_bits(scale, kind)
    return Multiplier(reduced(p.m), p.right_shift - 16) if kind == REDUCED else p


cdef bint fits(Multiplier p) noexcept nogil:
    """Whether the loops take this multiplier: 31 bits, and a right shift of at most MOST_SHIFT."""
    return 0 <= p.m <= INT32_MAX and 0 <= p.right_shift <= MOST_SHIFT


cdef SumMultipliers relative_multipliers(double a_scale, double b_scale, double y_scale, int left_shift,
                                         MultiplierKind kind) except *:
    """TFLite's multipliers of both operands, relative to twice the larger scale, and of the result.

    Codes are shifted to the left by `left_shift` bits before they are multiplied.
    """
    cdef double twice = 2 * max(a_scale, b_scale)
    cdef int64_t least, most
    cdef SumMultipliers p
    p.a = multiplier(a_scale / twice, kind)
    p.b = multiplier(b_scale / twice, kind)
    p.y = multiplier(twice / ((1 << left_shift) * y_scale), kind)
    least = min(p.a.right_shift, p.b.right_shift, p.y.right_shift)
    most = max(p.a.right_shift, p.b.right_shift, p.y.right_shift)
    if least < 0 or most > MOST_SHIFT:
        raise ValueError(f"too far apart: their right shifts, {least} to {most}, are not in 0..{MOST_SHIFT}")
    return p


cdef SumMultipliers ratio_multipliers(double a_scale, double b_scale, double y_scale, int bits) except *:
    """Multipliers of `bits` + 1 bits for a_scale / y_scale and b_scale / y_scale, with one right shift for both."""
    cdef float ra = <float>a_scale / <float>y_scale, rb = <float>b_scale / <float>y_scale
    cdef int exponent = 0
    cdef float power
    cdef SumMultipliers p
    if not (isfinite(ra) and isfinite(rb) and ldexp(1, -40) < max(ra, rb) < 256):
        raise ValueError("the larger of a_scale / y_scale and b_scale / y_scale is not between 2**-40 and 2**8")
    frexp(max(ra, rb), &exponent)
    power = ldexp(1, bits - exponent + 1)
    p.a = Multiplier(<int64_t>rint(<float>(ra * power)), 0)
    p.b = Multiplier(<int64_t>rint(<float>(rb * power)), 0)
    p.y = Multiplier(1, bits - exponent + 1)
    return p


def one_multiplier(double scale, str kind):
    """(multiplier, right_shift) of a scale, not negative."""
    cdef Multiplier p = multiplier(scale, KINDS[kind])
    return p.m, p.right_shift


cdef double derived_scale(str derive, double a, double b, double y) noexcept:
    """The scale as a system forms it; it may be beyond floats."""
    cdef float product = <float>a * <float>b
    if derive == "double":
        return a * b / y
    if derive == "f32-product":
        return product / y
    if derive == "f32":
        return product / <float>y
    if derive == "f32-inverse-w":
        return <float>a / (<float>y * (<float>1 / <float>b))
    return product * (<float>1 / <float>y)


cdef double scale_at(cnp.broadcast at, int operand) noexcept:
    return (<double*>cnp.PyArray_MultiIter_DATA(at, operand))[0]


def derived(str derive, a, b, y):
    """Give the scale of three doubles, or an array of scales if one of them is an array; they broadcast."""
    cdef cnp.broadcast at
    cdef cnp.ndarray made
    cdef double* scale
    if isinstance(a, float) and isinstance(b, float) and isinstance(y, float):
        return derived_scale(derive, a, b, y)
    a, b, y = [np.asarray(x, np.float64) for x in (a, b, y)]
    at = cnp.PyArray_MultiIterNew3(a, b, y)
    made = cnp.PyArray_EMPTY(at.nd, at.dimensions, cnp.NPY_FLOAT64, 0)
    scale = <double*>cnp.PyArray_DATA(made)
    while cnp.PyArray_MultiIter_NOTDONE(at):
        scale[at.index] = derived_scale(derive, scale_at(at, 0), scale_at(at, 1), scale_at(at, 2))
        cnp.PyArray_MultiIter_NEXT(at)
    return made if at.nd else scale[0]


cdef double formed_scale(str derive, double a, double w, double y) noexcept:
    """The scale that a system forms; of "stepwise" that of w, or its product with that of a."""
    cdef float scale
    if not derive.startswith("stepwise"):
        return derived_scale(derive, a, w, y)
    scale = <float>w if "conv" in derive else twice_reciprocal(w)
    return <float>twice_reciprocal(a) * scale if derive.endswith("amx") else scale


cdef double twice_reciprocal(float x) noexcept:
    """1 / (1 / x) in float32, which is not always x."""
    return <float>1 / (<float>1 / x)


cpdef tuple formed(tuple scales, str derive):
    """Give the real scale that a system forms of three scales, and the factors before and after it.

    `derive` is a word of `real_scale`, or "stepwise": then the scale is that of w, and the factors are ``in_scale`` and
    ``1 / out_scale``. The first two are reciprocals of reciprocals, so they are rounded twice; with "conv" it takes w
    itself. With "amx" the scale is the product of both, and the first factor is 1.
    """
    cdef double a = scales[0], y = scales[2], before = 1, after = 1
    cdef cnp.ndarray each = np.array(scales[1], np.float64)
    cdef double* scale = <double*>cnp.PyArray_DATA(each)
    cdef Py_ssize_t i
    cdef bint fits
    if derive == "given":
        raise bad_value("scales", "the rule makes no integers of scales, give it integers")
    if derive.startswith("stepwise"):
        before, after = 1 if derive.endswith("amx") else twice_reciprocal(a), <float>1 / <float>y
    fits = 0 < before < INFINITY and 0 < after < INFINITY
    for i in range(cnp.PyArray_SIZE(each)):
        scale[i] = formed_scale(derive, a, scale[i], y)
        fits = fits and 0 < scale[i] < INFINITY
    if not fits:
        raise bad_value("scales", f"floats do not hold what {derive} makes of {shown(scales)}")
    return each if each.ndim else scale[0], (before, after)

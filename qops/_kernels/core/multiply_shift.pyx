"""x * multiplier / 2**right_shift on int32, under each rounding rule that real systems use."""

cimport numpy as cnp
from libc.stdint cimport int16_t, int32_t, int64_t

from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

cdef extern from "core/multiply_shift.h":
    Py_ssize_t multiply_shift_once__simd(int, const int32_t*, int32_t*, Py_ssize_t, int, int, bint, bint) nogil
    Py_ssize_t multiply_shift_gemmlowp__simd(int, const int32_t*, int32_t*, Py_ssize_t, int, int, int, bint) nogil

ROUNDINGS = ("truncate", "half_up", "half_away", "half_even", "gemmlowp", "hvx")

cdef enum Rounding:
    TRUNCATE, HALF_UP, HALF_AWAY, HALF_EVEN, GEMMLOWP, HVX


cdef inline int32_t saturate_s32(int64_t v) noexcept nogil:
    return <int32_t>max(<int64_t>-2147483648, min(<int64_t>2147483647, v))


cdef inline int64_t rounding_term(int64_t product, int right_shift, Rounding rounding) noexcept nogil:
    """What to add to the product so that an arithmetic right shift, which is a floor, rounds by the rule."""
    cdef int64_t half = (<int64_t>1 << right_shift) >> 1
    if rounding == TRUNCATE or right_shift == 0:
        return 0
    if rounding == HALF_UP:
        return half
    if rounding == HALF_AWAY:
        return half - (product < 0)
    return half - 1 + ((product >> right_shift) & 1)  # HALF_EVEN


cdef void multiply_shift_once(const int32_t* x, int32_t* y, Py_ssize_t n, int multiplier, int right_shift,
                              Rounding rounding) noexcept nogil:
    """y = sat_s32((x * multiplier + term) >> right_shift): one rounding."""
    cdef Py_ssize_t i = 0
    cdef int64_t product
    # the SIMD body does not saturate: with a factor of at most 1 nothing can
    if rounding <= HALF_UP and -(<int64_t>1 << right_shift) < multiplier <= <int64_t>1 << right_shift:
        i = multiply_shift_once__simd(tier(), x, y, n, multiplier, right_shift, rounding == HALF_UP, 4 * n >= STREAM)
    for i in range(i, n):
        product = <int64_t>x[i] * multiplier
        y[i] = saturate_s32((product + rounding_term(product, right_shift, rounding)) >> right_shift)


cdef void multiply_shift_gemmlowp(const int32_t* x, int32_t* y, Py_ssize_t n, int multiplier, int left_shift,
                                  int right_shift) noexcept nogil:
    """y = rounding_divide_by_pot(saturating_rounding_doubling_high_mul(x << left_shift, multiplier), right_shift)."""
    cdef Py_ssize_t i = multiply_shift_gemmlowp__simd(tier(), x, y, n, multiplier, left_shift, right_shift,
                                                      4 * n >= STREAM)
    cdef int32_t shifted
    cdef int64_t high
    for i in range(i, n):
        shifted = <int32_t>(<unsigned int>x[i] << left_shift)  # wraps, as TFLite's does
        high = (<int64_t>shifted * multiplier + (<int64_t>1 << 30)) >> 31
        y[i] = <int32_t>((high + rounding_term(high, right_shift, HALF_AWAY)) >> right_shift)


cdef void multiply_shift_hvx(const int32_t* x, int32_t* y, Py_ssize_t n, int multiplier) noexcept nogil:
    """y = sat_s16((2 * x * multiplier + 0x8000) >> 16), x and multiplier in 16 bits: HVX vmpy(.h,.h):<<1:rnd:sat."""
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = max(-32768, min(32767, <int>((2 * <int64_t><int16_t>x[i] * multiplier + 0x8000) >> 16)))


cdef struct Factor:
    int multiplier, right_shift
    Rounding rounding


cdef void multiply_shift_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Factor* f = <Factor*>using
    cdef const int32_t* x = <int32_t*>data[0]
    cdef int32_t* y = <int32_t*>data[1]
    if f.rounding == GEMMLOWP:
        multiply_shift_gemmlowp(x, y, n, f.multiplier, max(0, 31 - f.right_shift), max(0, f.right_shift - 31))
    elif f.rounding == HVX:
        multiply_shift_hvx(x, y, n, f.multiplier)
    else:
        multiply_shift_once(x, y, n, f.multiplier, f.right_shift, f.rounding)


cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, str rounding, cnp.ndarray out):
    """out = x * multiplier / 2**right_shift on int32, rounded by the rule; |multiplier| < 2**31, shift 0..62."""
    cdef Factor f = Factor(multiplier, right_shift, <Rounding><int>ROUNDINGS.index(rounding))
    walk(multiply_shift_loop, &f, x, out)

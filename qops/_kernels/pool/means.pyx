"""Means of windows by the rules of pooling.pyx, from sums of codes or from the codes themselves."""
cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.stage.stage cimport stage_run
from qops._kernels.stage.rounding cimport saturate_u8

cdef extern from "pool/means.h" nogil:
    ctypedef struct Mean "pool_mean":
        Rule rule
        bint is_signed
        int64_t count
        int32_t q15
        float part
    Py_ssize_t pool_means__simd(int, const int16_t *, Py_ssize_t, Mean, void *)
    Py_ssize_t pool_values__simd(int, const void *, Py_ssize_t, RealMean, float *)

cdef enum:
    MEANS_AT_ONCE = 1024  # so many means of real values, 4 KB, are made before the stage reads them

ctypedef fused code:
    uint8_t
    int8_t


cdef Mean mean_of(Rule rule, bint is_signed, int64_t count) noexcept nogil:
    """Give the parameters of means of `count` taps; a count of 0 is taken as 1."""
    cdef int64_t n = max(count, <int64_t>1)
    return Mean(rule, is_signed, n, <int32_t>min(32768 // n, 32767), <float>1 / <float>n)


cdef inline int32_t mean(int32_t sum, Mean p) noexcept nogil:
    """Give the mean of one sum by one of the rules of pooling.pyx."""
    if p.rule == RECIPROCAL:
        return <int32_t>rintf(<float>sum * p.part)
    if p.rule == QUOTIENT:
        return <int32_t>rintf(<float>sum / <float>p.count)
    if p.rule == HALF_AWAY:
        return <int32_t>((sum - p.count // 2 if sum < 0 else sum + p.count // 2) // p.count)
    return <int32_t>(sum // p.count) if p.rule == TRUNCATE else saturate_u8(sum * p.q15 + 0x4000 >> 15)


cdef void means_s16(const int16_t *sums, Py_ssize_t n, Mean p, uint8_t *y) noexcept nogil:
    """Make the means of n sums of 16 bits. Sums of u8 are unsigned, except by the rule q15."""
    cdef Py_ssize_t i
    cdef bint wraps = p.is_signed or p.rule == Q15
    for i in range(pool_means__simd(tier(), sums, n, p, y), n):
        y[i] = <uint8_t>mean(<int32_t>sums[i] if wraps else <int32_t><uint16_t>sums[i], p)


cdef void means_of_sums(const Means *means, const void *sums, Py_ssize_t n, int64_t count,
                        uint8_t *y) noexcept nogil:
    """Make the means of n windows of `count` taps."""
    cdef Mean p = mean_of(means.rule, means.is_signed, count)
    cdef Py_ssize_t i
    if means.rule == STAGE:
        stage_run(&means.stage, sums, cnp.NPY_INT32, y, means.typenum, 0, n)
    elif means.is_wide:
        for i in range(n):
            y[i] = <uint8_t>mean((<const int32_t *>sums)[i], p)
    else:
        means_s16(<const int16_t *>sums, n, p, y)


cdef inline void real_means(const code *x, Py_ssize_t n, RealMean v, float *y) noexcept nogil:
    """Make the means of the real values of n windows that begin at x[0], x[1], ... They are added tap after tap."""
    cdef Py_ssize_t i, r, c
    cdef float sum
    for i in range(pool_values__simd(tier(), x, n, v, y), n):
        sum = 0
        for r in range(v.kh):
            for c in range(v.kw):
                sum += <float>(x[i + r * v.row + c * v.column] - v.zero) * v.scale
        y[i] = sum / <float>(v.kh * v.kw)


cdef void means_of_values(const Means *means, const uint8_t *x, Py_ssize_t n, uint8_t *y) noexcept nogil:
    """Make the codes, by the stage, of the means of real values of n windows that begin at x[0], x[1], ..."""
    cdef float[MEANS_AT_ONCE] near
    cdef Py_ssize_t i, count
    for i from 0 <= i < n by MEANS_AT_ONCE:
        count = min(n - i, <Py_ssize_t>MEANS_AT_ONCE)
        if means.is_signed:
            real_means(<const int8_t *>x + i, count, means.values, near)
        else:
            real_means(x + i, count, means.values, near)
        stage_run(&means.stage, near, cnp.NPY_FLOAT32, y + i, means.typenum, 0, count)

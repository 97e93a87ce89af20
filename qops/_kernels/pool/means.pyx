"""Means of windows by the rules of pooling.pyx, a row of results at a time, from sums or from the codes themselves."""
cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t

from qops._kernels.stage.stage cimport stage_run
from qops._kernels.stage.rounding cimport saturate_u8
from qops._kernels.machine.tiers cimport tier

cdef extern from "pool/pooling.h" nogil:
    ctypedef struct Mean "pool_mean":
        Rule rule
        bint is_signed
        int64_t count
        int32_t q15
        float part
    ctypedef struct Values "pool_values":
        bint is_signed
        int32_t zero
        float scale
        Py_ssize_t kh, kw, row, pixel
    Py_ssize_t pool_means__simd(int, const int16_t *, Py_ssize_t, Mean, void *)
    Py_ssize_t pool_less__simd(int, const int16_t *, bint, Py_ssize_t, int32_t, int32_t *)
    Py_ssize_t pool_values__simd(int, const char *, Py_ssize_t, Values, float *)

cdef enum:
    BLOCK = 1024  # how many sums, 4 KB, one loop makes before the next one reads them

ctypedef fused code:
    uint8_t
    int8_t

ctypedef fused total:
    int16_t
    uint16_t
    int32_t


cdef Mean mean_of(Rule rule, bint is_signed, Py_ssize_t count) noexcept nogil:
    cdef int64_t n = max(count, 1)
    return Mean(rule, is_signed, n, <int32_t>min(32768 // n, 32767), <float>1 / <float>n)


cdef inline int32_t mean(int32_t sum, Mean p) noexcept nogil:
    if p.rule == RECIPROCAL:
        return <int32_t>rintf(<float>sum * p.part)
    if p.rule == QUOTIENT:
        return <int32_t>rintf(<float>sum / <float>p.count)
    return <int32_t>(sum // p.count) if p.rule == TRUNCATE else saturate_u8(sum * p.q15 + 0x4000 >> 15)


cdef void means_s16(const int16_t *sums, Py_ssize_t n, Mean p, uint8_t *y) noexcept nogil:
    cdef Py_ssize_t i
    cdef bint wraps = p.is_signed or p.rule == Q15
    for i in range(pool_means__simd(tier(), sums, n, p, y), n):
        y[i] = <uint8_t>mean(<int32_t>sums[i] if wraps else <int32_t><uint16_t>sums[i], p)


cdef void means_s32(const int32_t *sums, Py_ssize_t n, Mean p, uint8_t *y) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = <uint8_t>mean(sums[i], p)


cdef inline void less(const total *sums, Py_ssize_t n, int32_t zero, int32_t *near) noexcept nogil:
    cdef Py_ssize_t i = 0
    if total is not int32_t:
        i = pool_less__simd(tier(), <const int16_t *>sums, total is int16_t, n, zero, near)
    for i in range(i, n):
        near[i] = sums[i] - zero


cdef void codes_of(const Means *means, const char *sums, Py_ssize_t n, uint8_t *y) noexcept nogil:
    """Make codes of sums by a stage, after `zero` is subtracted from each sum."""
    cdef int32_t[BLOCK] near
    cdef Py_ssize_t i, count
    for i from 0 <= i < n by BLOCK:
        count = min(n - i, <Py_ssize_t>BLOCK)
        if means.size == 4:
            less(<const int32_t *>sums + i, count, means.zero, near)
        elif means.is_signed:
            less(<const int16_t *>sums + i, count, means.zero, near)
        else:
            less(<const uint16_t *>sums + i, count, means.zero, near)
        stage_run(&means.stage, near, cnp.NPY_INT32, y + i, means.typenum, 0, count)


cdef void means_row(const Pool *p, const Means *means, Taps rows, const char *sums, uint8_t *y) noexcept nogil:
    """Make the means of a row of sums, at a time those of all neighbours with the same count."""
    cdef Py_ssize_t i = 0, end, first, n
    cdef Mean mean
    if means.rule == CODED:
        codes_of(means, sums, p.ow * p.channels, y)
        return
    while i < p.ow:
        end, first = p.ow if means.padding else p.places[i].count_end, i * p.channels
        n = (end - i) * p.channels
        mean = mean_of(means.rule, means.is_signed,
                       p.kh * p.kw if means.padding else rows.count * p.places[i].count)
        if means.size == 2:
            means_s16(<const int16_t *>sums + first, n, mean, y + first)
        else:
            means_s32(<const int32_t *>sums + first, n, mean, y + first)
        i = end


cdef inline void values_of(const code *x, Py_ssize_t n, Values v, float *y) noexcept nogil:
    """Make the means of the real values of windows, whose first codes are x[0], x[1], ..., adding tap after tap."""
    cdef Py_ssize_t i, r, c
    cdef float sum
    for i in range(pool_values__simd(tier(), <const char *>x, n, v, y), n):
        sum = 0
        for r in range(v.kh):
            for c in range(v.kw):
                sum += <float>(x[i + r * v.row + c * v.pixel] - v.zero) * v.scale
        y[i] = sum / <float>(v.kh * v.kw)


cdef void value_row(const Pool *p, const Means *means, const char *x, uint8_t *y) noexcept nogil:
    """Make codes, by a stage, of the means of real values, for windows with a stride of 1 and no padding."""
    cdef Values v = Values(means.is_signed, means.zero, means.scale, p.kh, p.kw, p.width * p.channels, p.channels)
    cdef float[BLOCK] near
    cdef Py_ssize_t i, count, n = p.ow * p.channels
    for i from 0 <= i < n by BLOCK:
        count = min(n - i, <Py_ssize_t>BLOCK)
        if means.is_signed:
            values_of(<const int8_t *>x + i, count, v, near)
        else:
            values_of(<const uint8_t *>x + i, count, v, near)
        stage_run(&means.stage, near, cnp.NPY_FLOAT32, y + i, means.typenum, 0, count)

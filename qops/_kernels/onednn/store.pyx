"""oneDNN's stores of float32 results as codes: they saturate, then round half to even."""
cimport numpy as cnp
from libc.math cimport rintf
from libc.stdint cimport int8_t, int32_t, uint8_t

from qops._kernels.core.rounding cimport clamp_f32
from qops._kernels.core.tiers cimport tier

cnp.import_array()

cdef extern from "onednn/store.h" nogil:
    Py_ssize_t nans__simd(int, const float*, Py_ssize_t *, Py_ssize_t)
    Py_ssize_t to_u8__simd(int, const float*, uint8_t*, Py_ssize_t)
    Py_ssize_t to_s8__simd(int, const float*, int8_t*, Py_ssize_t)
    Py_ssize_t to_s32__simd(int, const float*, int32_t*, Py_ssize_t)

cdef enum:
    BLOCK = 1 << 24  # floats whose NaNs are counted in 32 bits


cdef Py_ssize_t nans(const float *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t found = 0
    cdef Py_ssize_t i = nans__simd(tier(), x, &found, n)
    for i in range(i, n):
        found += x[i] != x[i]
    return found


cdef void to_u8(const float *x, uint8_t *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = to_u8__simd(tier(), x, y, n)
    for i in range(i, n):
        y[i] = <uint8_t>rintf(clamp_f32(x[i], 0, 255))


cdef void to_s8(const float *x, int8_t *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = to_s8__simd(tier(), x, y, n)
    for i in range(i, n):
        y[i] = <int8_t>rintf(clamp_f32(x[i], -128, 127))


cdef void to_s32(const float *x, int32_t *y, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = to_s32__simd(tier(), x, y, n)
    for i in range(i, n):
        y[i] = <int32_t>rintf(clamp_f32(x[i], <float>-2147483648., <float>2147483520.))


def count_nan(cnp.ndarray x):
    """How many of the floats of x (C order) are NaN."""
    cdef const float *values = <const float *>cnp.PyArray_DATA(x)
    cdef Py_ssize_t first, n = cnp.PyArray_SIZE(x), found = 0
    with nogil:
        for first from 0 <= first < n by BLOCK:
            found += nans(values + first, min(BLOCK, n - first))
    return found


def store(cnp.ndarray x, cnp.ndarray y):
    """y (uint8, int8 or int32) = rint(clamp(x)), half to even; both in C order, y may be x. No NaN."""
    cdef const float *values = <const float *>cnp.PyArray_DATA(x)
    cdef void *codes = cnp.PyArray_DATA(y)
    cdef int typenum = cnp.PyArray_TYPE(y)
    with nogil:
        if typenum == cnp.NPY_UINT8:
            to_u8(values, <uint8_t *>codes, cnp.PyArray_SIZE(x))
        elif typenum == cnp.NPY_INT8:
            to_s8(values, <int8_t *>codes, cnp.PyArray_SIZE(x))
        else:
            to_s32(values, <int32_t *>codes, cnp.PyArray_SIZE(x))

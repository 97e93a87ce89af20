"""The terms that offsets, such as zero points, subtract from a product of codes, and the sums that they need."""

cimport numpy as cnp
from libc.stdint cimport int8_t, uint8_t, uint32_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport WORTH_RELEASING
from qops._kernels.gemm.blocks cimport Product

import numpy as np

cnp.import_array()

cdef extern from "gemm/offsets.h" nogil:
    Py_ssize_t subtract_row__simd(int, uint32_t *, const uint32_t *, uint32_t, Py_ssize_t)
    Py_ssize_t sum_row__simd(int, const uint8_t *, bint, Py_ssize_t, uint32_t *)


cdef void subtract_row(uint32_t *c, const uint32_t *offsets, uint32_t sum, Py_ssize_t n) noexcept nogil:
    # c[j] -= sum * offsets[j]
    cdef Py_ssize_t j
    for j in range(subtract_row__simd(tier(), c, offsets, sum, n), n):
        c[j] -= sum * offsets[j]


cdef void subtract_offsets(const Product *p, uint32_t a_offset, const uint32_t *a_offsets, const uint32_t *columns,
                           const uint32_t *b_offsets) noexcept nogil:
    """Subtract the terms of offsets from the accumulators C of p, modulo 2**32.

        c[i][j] -= a_offsets[i] * columns[j] + b_offsets[j] * (sum of a[i] - k * a_offsets[i])

    columns: the sums of b's columns. a_offsets: NULL if all are `a_offset`, whose first term is subtracted already.
    b_offsets: NULL if they are 0.
    """
    cdef uint32_t *c = <uint32_t *>p.c
    cdef Py_ssize_t i
    for i in range(p.m):
        if a_offsets != NULL:
            a_offset = a_offsets[i]
            subtract_row(c, columns, a_offset, p.n)
        if b_offsets != NULL:
            subtract_row(c, b_offsets, sum_row(p.a + i * p.lda, p.a_signed, p.k) - <uint32_t>p.k * a_offset, p.n)
        c += p.ldc


cdef const uint32_t *numbers(cnp.ndarray x) noexcept:
    """Give the numbers of an array; NULL for None."""
    if x is None:
        return NULL
    return <const uint32_t *>cnp.PyArray_DATA(x)


cdef cnp.ndarray words(x, cnp.npy_intp n):
    """Give n values of uint32: the low 32 bits of an integer, or of each integer of an array of 1 or n."""
    cdef cnp.ndarray made = cnp.PyArray_EMPTY(1, &n, cnp.NPY_UINT32, 0)
    cdef uint32_t *word = <uint32_t *>cnp.PyArray_DATA(made)
    cdef uint32_t one
    cdef Py_ssize_t i
    if type(x) is int:
        one = x & 0xFFFFFFFF
        for i in range(n):
            word[i] = one
    else:
        np.copyto(made, np.asarray(x, np.int64).reshape(-1), casting="unsafe")
    return made


cdef uint32_t sum_row(const uint8_t *x, bint is_signed, Py_ssize_t n) noexcept nogil:
    """Give the sum of n codes, u8 or s8, modulo 2**32."""
    cdef uint32_t acc = 0
    cdef Py_ssize_t i
    for i in range(sum_row__simd(tier(), x, is_signed, n, &acc), n):
        acc += <uint32_t>(<int8_t>x[i]) if is_signed else x[i]
    return acc


cdef void sum_rows(const uint8_t *a, Py_ssize_t lda, bint is_signed, Py_ssize_t m, Py_ssize_t k,
                   uint32_t *sums) noexcept nogil:
    """Set sums[i] to the sum of row i of an m x k matrix."""
    cdef Py_ssize_t i
    for i in range(m):
        sums[i] = sum_row(a + i * lda, is_signed, k)


cdef cnp.ndarray row_sums(cnp.ndarray a):
    """Give the sum of each row, as int32, of a matrix of uint8 or int8 with contiguous rows."""
    cdef cnp.ndarray sums = cnp.PyArray_EMPTY(1, cnp.PyArray_DIMS(a), cnp.NPY_INT32, 0)
    cdef Py_ssize_t lda = cnp.PyArray_STRIDE(a, 0), m = cnp.PyArray_DIM(a, 0), k = cnp.PyArray_DIM(a, 1)
    cdef bint is_signed = cnp.PyArray_TYPE(a) == cnp.NPY_INT8
    cdef const uint8_t *codes = <const uint8_t *>cnp.PyArray_DATA(a)
    cdef uint32_t *made = <uint32_t *>cnp.PyArray_DATA(sums)
    if m * k < WORTH_RELEASING:
        sum_rows(codes, lda, is_signed, m, k, made)
    else:
        with nogil:
            sum_rows(codes, lda, is_signed, m, k, made)
    return sums

"""The terms that offsets, such as zero points, subtract from a product of codes, and the sums that they need."""

cimport numpy as cnp
from libc.stdint cimport int8_t, uint8_t, uint32_t

from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport WORTH_RELEASING

import numpy as np

cnp.import_array()

cdef extern from "gemm/offsets.h" nogil:
    Py_ssize_t subtract_row__simd(int, uint32_t *, const uint32_t *, const uint32_t *, uint32_t, Py_ssize_t)
    Py_ssize_t sum_row__simd(int, const uint8_t *, bint, Py_ssize_t, uint32_t *)


ctypedef struct Terms:  # the arguments of `subtract`
    uint32_t *c
    Py_ssize_t m, n, ldc
    const uint32_t *columns  # the sums of b's columns
    const uint32_t *rows  # the sums of a's rows
    const uint32_t *a_offset
    Py_ssize_t a_stride  # 1 if a_offset has a value for each row, 0 if it has one value
    const uint32_t *b_offset  # one for each column
    uint32_t k
    uint32_t *of_columns  # scratch memory for n values: the terms that depend on the column only


cdef void sum_up_columns(const Terms *t, uint32_t a_offset) noexcept nogil:
    # of_columns[j] = a_offset * (columns[j] - k * b_offset[j])
    cdef Py_ssize_t j
    for j in range(t.n):
        t.of_columns[j] = a_offset * (t.columns[j] - t.k * t.b_offset[j])


cdef void subtract_row(uint32_t *c, const uint32_t *of_columns, const uint32_t *offsets, uint32_t sum,
                       Py_ssize_t n) noexcept nogil:
    # c[j] -= of_columns[j] + sum * offsets[j]
    cdef Py_ssize_t j
    for j in range(subtract_row__simd(tier(), c, of_columns, offsets, sum, n), n):
        c[j] -= of_columns[j] + sum * offsets[j]


cdef void subtract(const Terms *t) noexcept nogil:
    # c[i][j] -= of_columns[j] + rows[i] * b_offset[j]
    cdef uint32_t *c = t.c
    cdef Py_ssize_t i
    for i in range(t.m):
        if i == 0 or t.a_stride:
            sum_up_columns(t, t.a_offset[i * t.a_stride])
        subtract_row(c, t.of_columns, t.b_offset, t.rows[i], t.n)
        c += t.ldc


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


cdef object subtract_terms(cnp.ndarray c, cnp.ndarray columns, a_offset, cnp.ndarray rows, b_offset, Py_ssize_t k):
    """Compute C -= a_offset * columns + b_offset * rows - k * a_offset * b_offset, modulo 2**32.

    c: int32, m x n, with contiguous rows. columns, rows: the sums of b's columns and a's rows, int32, contiguous. Each
    offset is one number, or an array: m values of a_offset, n of b_offset.
    """
    cdef Terms t
    t.m, t.n = cnp.PyArray_DIM(c, 0), cnp.PyArray_DIM(c, 1)
    cdef bint is_one = type(a_offset) is int or a_offset.size == 1
    cdef cnp.ndarray left = words(a_offset, 1 if is_one else t.m), right = words(b_offset, t.n)
    cdef cnp.ndarray room = cnp.PyArray_EMPTY(1, cnp.PyArray_DIMS(c) + 1, cnp.NPY_UINT32, 0)
    t.c, t.ldc, t.k = <uint32_t *>cnp.PyArray_DATA(c), cnp.PyArray_STRIDE(c, 0) // 4, <uint32_t>k
    t.columns, t.rows = <const uint32_t *>cnp.PyArray_DATA(columns), <const uint32_t *>cnp.PyArray_DATA(rows)
    t.a_offset, t.b_offset = <const uint32_t *>cnp.PyArray_DATA(left), <const uint32_t *>cnp.PyArray_DATA(right)
    t.a_stride, t.of_columns = not is_one, <uint32_t *>cnp.PyArray_DATA(room)
    if t.m * t.n < WORTH_RELEASING:
        subtract(&t)
    else:
        with nogil:
            subtract(&t)


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

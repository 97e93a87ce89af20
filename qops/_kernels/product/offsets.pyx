"""What sums of products of codes have too much where the codes stand for themselves less an offset."""

cimport numpy as cnp
from libc.stdint cimport uint32_t

import numpy as np

cnp.import_array()

cdef enum:
    WORTH_RELEASING = 1 << 14  # elements, for which other threads may run meanwhile


ctypedef struct Terms:
    uint32_t *c
    Py_ssize_t m, n, ldc
    const uint32_t *columns  # the sums of b's columns
    const uint32_t *rows  # the sums of a's rows
    const uint32_t *a_offset
    const uint32_t *b_offset
    Py_ssize_t a_step, b_step  # 1 if there is an offset a row, a column; 0 if there is one
    uint32_t k
    uint32_t *of_columns  # room for n


cdef void sum_up_columns(const Terms *t, uint32_t a_offset) noexcept nogil:
    # of_columns[j] = a_offset * (columns[j] - k * b_offset[j])
    cdef Py_ssize_t j
    for j in range(t.n):
        t.of_columns[j] = a_offset * (t.columns[j] - t.k * t.b_offset[j * t.b_step])


cdef void subtract(const Terms *t) noexcept nogil:
    # c[i][j] -= of_columns[j] + rows[i] * b_offset[j]
    cdef uint32_t *c = t.c
    cdef const uint32_t *columns = t.of_columns
    cdef const uint32_t *offsets = t.b_offset
    cdef uint32_t row
    cdef Py_ssize_t i, j
    for i in range(t.m):
        if i == 0 or t.a_step:
            sum_up_columns(t, t.a_offset[i * t.a_step])
        row = t.rows[i]
        if t.b_step:
            for j in range(t.n):
                c[j] -= columns[j] + row * offsets[j]
        else:
            row *= offsets[0]
            for j in range(t.n):
                c[j] -= columns[j] + row
        c += t.ldc


cdef cnp.ndarray words(x):
    """The low 32 bits of an integer, or of several, in a row."""
    if type(x) is int:
        return np.array([x & 0xFFFFFFFF], np.uint32)
    return np.asarray(x, np.int64).astype(np.uint32).reshape(-1)


cdef object subtract_terms(cnp.ndarray c, cnp.ndarray columns, a_offset, cnp.ndarray rows, b_offset, Py_ssize_t k):
    """C -= a_offset * columns + b_offset * rows - k * a_offset * b_offset, modulo 2**32.

    c: int32, m x n, its rows contiguous; columns and rows: n and m of int32, contiguous; an offset is a number, or m
    of a, n of b.
    """
    cdef Terms t
    cdef cnp.ndarray left = words(a_offset), right = words(b_offset), room
    t.c, t.m, t.n = <uint32_t *>cnp.PyArray_DATA(c), cnp.PyArray_DIM(c, 0), cnp.PyArray_DIM(c, 1)
    room = cnp.PyArray_EMPTY(1, cnp.PyArray_DIMS(c) + 1, cnp.NPY_UINT32, 0)
    t.ldc, t.k, t.of_columns = cnp.PyArray_STRIDE(c, 0) // 4, <uint32_t>k, <uint32_t *>cnp.PyArray_DATA(room)
    t.columns, t.rows = <const uint32_t *>cnp.PyArray_DATA(columns), <const uint32_t *>cnp.PyArray_DATA(rows)
    t.a_offset, t.b_offset = <const uint32_t *>cnp.PyArray_DATA(left), <const uint32_t *>cnp.PyArray_DATA(right)
    t.a_step, t.b_step = cnp.PyArray_SIZE(left) > 1, cnp.PyArray_SIZE(right) > 1
    if t.m * t.n < WORTH_RELEASING:
        subtract(&t)
    else:
        with nogil:
            subtract(&t)

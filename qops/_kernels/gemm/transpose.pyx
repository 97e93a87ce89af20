"""Transpose the bytes of a matrix: for weights that are packed, and for images whose channels are apart in memory."""
from libc.stdint cimport int8_t, uint64_t
from libc.string cimport memcpy

import sys

cdef extern from "gemm/transpose.h" nogil:
    int TRANSPOSES_16
    void transpose_16x8(const int8_t *x, Py_ssize_t ldx, int8_t *y, const Py_ssize_t *row)

cdef bint LITTLE = sys.byteorder == "little"


cdef inline void swap(uint64_t *r, int other, int shift, uint64_t mask) noexcept nogil:
    # the bits `mask` << `shift` of r[0] and the bits `mask` of r[other] change places
    cdef uint64_t x = (r[0] >> shift ^ r[other]) & mask
    r[other] ^= x
    r[0] ^= x << shift


cdef void transpose_8(const int8_t *x, Py_ssize_t ldx, int8_t *y, const Py_ssize_t *row) noexcept nogil:
    # 8 x 8 bytes, the lowest first: blocks of 4 x 4 change places, then of 2 x 2 in each, then single ones
    cdef uint64_t[8] r
    cdef int i
    for i in range(8):
        memcpy(&r[i], x + i * ldx, 8)
    for i in range(4):
        swap(&r[i], 4, 32, 0x00000000FFFFFFFF)
    for i in range(4):
        swap(&r[i // 2 * 4 + i % 2], 2, 16, 0x0000FFFF0000FFFF)
    for i in range(4):
        swap(&r[2 * i], 1, 8, 0x00FF00FF00FF00FF)
    for i in range(8):
        memcpy(y + row[i], &r[i], 8)


cdef inline Py_ssize_t after(Py_ssize_t i, Py_ssize_t size, Py_ssize_t n) noexcept nogil:
    """Where the block of so many of n after that at i begins; the last may share some with the one before it."""
    return min(i + size, n - size) if i + size < n else n


cdef void transpose_bytes(const int8_t *x, Py_ssize_t ldx, Py_ssize_t rows, Py_ssize_t columns, int8_t *y,
                          const Py_ssize_t *row) noexcept nogil:
    """y[row[j] + i] = x[i][j] for i < rows, j < columns, in blocks if there are enough of both."""
    cdef Py_ssize_t size = 16 if TRANSPOSES_16 and rows >= 16 else 8 if LITTLE else rows + 1
    cdef Py_ssize_t i = 0, j
    if rows < size or columns < 8:
        for i in range(rows):
            for j in range(columns):
                y[row[j] + i] = x[i * ldx + j]
        return
    while i < rows:
        j = 0
        while j < columns:
            if size == 16:
                transpose_16x8(x + i * ldx + j, ldx, y + i, row + j)
            else:
                transpose_8(x + i * ldx + j, ldx, y + i, row + j)
            j = after(j, 8, columns)
        i = after(i, size, rows)

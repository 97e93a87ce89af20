"""Transpose a matrix of bytes: to pack weights, and for images of NCHW, whose channels are planes in memory."""
from libc.stdint cimport int8_t

cdef extern from "gemm/transpose.h" nogil:
    int TRANSPOSES_16
    void transpose_16x8(const int8_t *x, Py_ssize_t ldx, int8_t *y, const Py_ssize_t *row)


cdef inline Py_ssize_t after(Py_ssize_t i, Py_ssize_t size, Py_ssize_t n) noexcept nogil:
    """Give the start of the block after that at i, or n. The last block ends at n, so it may overlap another."""
    return min(i + size, n - size) if i + size < n else n


cdef void transpose_bytes(const int8_t *x, Py_ssize_t ldx, Py_ssize_t rows, Py_ssize_t columns, int8_t *y,
                          const Py_ssize_t *row) noexcept nogil:
    """Set y[row[j] + i] = x[i][j] for i < rows, j < columns, in blocks of 16 x 8 if x has at least one block."""
    cdef Py_ssize_t i = 0, j
    if not TRANSPOSES_16 or rows < 16 or columns < 8:
        for i in range(rows):
            for j in range(columns):
                y[row[j] + i] = x[i * ldx + j]
        return
    while i < rows:
        j = 0
        while j < columns:
            transpose_16x8(x + i * ldx + j, ldx, y + i, row + j)
            j = after(j, 8, columns)
        i = after(i, 16, rows)

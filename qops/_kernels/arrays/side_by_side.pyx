"""What several loops make of their arrays, side by side in the rows of one array: concatenations."""

cimport numpy as cnp
from cpython.mem cimport PyMem_Calloc
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from qops._kernels.arrays.walk cimport WORTH_RELEASING

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef enum:
    WORDS = 1024  # of 8 bytes, of the rows that are made together, in a part of the nearest cache
    PIECE = 8 * WORDS
    LONG = 512  # bytes of a row for which a loop is worth starting


cdef Part* new_parts(Py_ssize_t count) except NULL:
    """Memory for so many, which PyMem_Free frees."""
    cdef Part* parts = <Part*>PyMem_Calloc(max(count, 1), sizeof(Part))
    if parts == NULL:
        raise MemoryError
    return parts


cdef cnp.ndarray plain(cnp.ndarray x):
    """`x` if it is one aligned, native stretch of memory, else a copy that is."""
    return x if PyArray_ISCARRAY_RO(x) else np.require(x, (<object>x).dtype.newbyteorder("="), ["C", "A"])


cdef void some_rows(const Part* p, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t itemsize, Py_ssize_t line,
                    char* to) noexcept nogil:
    """Rows of one part, written a line apart; short ones are made together in a buffer."""
    cdef int64_t[WORDS] memory
    cdef char* piece = <char*>memory
    cdef char* data[2]
    cdef Py_ssize_t i
    data[0], data[1] = p.data + first * p.size, piece
    if rows > 1 and p.size < LONG:
        p.loop(data, rows * (p.size // itemsize), p.using)
        for i in range(rows):
            memcpy(to + i * line, piece + i * p.size, p.size)
        return
    for i in range(rows):
        data[1] = to + i * line
        p.loop(data, p.size // itemsize, p.using)
        data[0] += p.size


cdef void all_rows(const Part* parts, Py_ssize_t count, Py_ssize_t itemsize, Py_ssize_t rows, Py_ssize_t line,
                   char* to) noexcept nogil:
    cdef Py_ssize_t together = max(1, PIECE // line), i, k, at
    for i from 0 <= i < rows by together:
        at = 0
        for k in range(count):
            some_rows(&parts[k], i, min(together, rows - i), itemsize, line, to + i * line + at)
            at += parts[k].size


cdef object side_by_side(const Part* parts, Py_ssize_t count, Py_ssize_t itemsize, cnp.ndarray out):
    """Row by row, out = what each part makes of its row, for elements of `itemsize` bytes."""
    cdef cnp.ndarray made = out
    cdef Py_ssize_t line = 0, size = cnp.PyArray_NBYTES(out), k
    for k in range(count):
        line += parts[k].size
    if size == 0:
        return
    if not PyArray_ISCARRAY_RO(out):
        made = cnp.PyArray_EMPTY(out.ndim, out.shape, cnp.PyArray_TYPE(out), 0)
    if size < WORTH_RELEASING:
        all_rows(parts, count, itemsize, size // line, line, cnp.PyArray_BYTES(made))
    else:
        with nogil:
            all_rows(parts, count, itemsize, size // line, line, cnp.PyArray_BYTES(made))
    if made is not out:
        np.copyto(out, made)

"""Concatenation of codes of 8 or 32 bits along an axis, for every system. A loop recodes each input on the way.

A row is the elements of one input that share their indices along all axes before the concatenated one. A line is the
same of the result: one row of each input.
"""

cimport numpy as cnp
from libc.stdint cimport int64_t
from libc.string cimport memcpy

from qops._kernels.arrays.checks cimport MAX_DIMS, apart, writable
from qops._kernels.arrays.walk cimport WORTH_RELEASING

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef enum:
    BUFFER_WORDS = 1024  # of 8 bytes: the buffer for short rows that are recoded together, a part of L1
    LONG_ROW_BYTES = 512  # rows of at least so many bytes are recoded one by one, without the buffer


cdef inline void copy_row(char* to, const char* x, Py_ssize_t size, Py_ssize_t unit) noexcept nogil:
    """Copy one row, `unit` bytes at a time, which is a constant. The last copy ends where the row ends."""
    cdef Py_ssize_t i
    for i from 0 <= i < size - unit by unit:
        memcpy(to + i, x + i, unit)
    memcpy(to + size - unit, x + size - unit, unit)


cdef void copy_rows(char* to, Py_ssize_t pitch, const char* x, Py_ssize_t stride, Py_ssize_t size,
                    Py_ssize_t rows) noexcept nogil:
    """Copy rows of `size` bytes, which begin `stride` bytes apart, to where they begin `pitch` bytes apart.

    For rows of up to 64 bytes, a call of memcpy would take longer than the copy itself.
    """
    cdef Py_ssize_t i, k
    for i in range(rows):
        if size > 64:
            memcpy(to + i * pitch, x + i * stride, size)
        elif size >= 16:
            copy_row(to + i * pitch, x + i * stride, size, 16)
        elif size >= 4:
            copy_row(to + i * pitch, x + i * stride, size, 4)
        else:
            for k in range(size):
                to[i * pitch + k] = x[i * stride + k]


cdef cnp.ndarray plain(cnp.ndarray x):
    """Give `x` if it is contiguous, aligned and of native byte order, else a copy that is."""
    return x if PyArray_ISCARRAY_RO(x) else np.require(x, (<object>x).dtype.newbyteorder("="), ["C", "A"])


cdef tuple joined(list arrays, axis):
    """Give the shape of the concatenated arrays; None if there is no such axis or the shapes do not fit."""
    cdef cnp.ndarray first = arrays[0], x
    cdef Py_ssize_t length = 0
    cdef int along, i
    if not 0 <= axis < first.ndim:
        return None
    along = axis
    for x in arrays:
        if x.ndim != first.ndim:
            return None
        for i in range(first.ndim):
            if x.shape[i] != first.shape[i] and i != along:
                return None
        length += x.shape[along]
    return tuple([length if i == along else first.shape[i] for i in range(first.ndim)])


cdef cnp.ndarray result(list arrays, tuple shape, int typenum, out):
    """Give where codes of this shape and dtype are written: `out`, checked, or a new array."""
    cdef cnp.npy_intp[MAX_DIMS] lengths
    cdef int i
    for i in range(len(shape)):
        lengths[i] = shape[i]
    if out is None:
        return cnp.PyArray_EMPTY(len(shape), lengths, typenum, 0)
    writable(out, typenum, len(shape), lengths)
    for x in arrays:
        apart(out, x, None)
    return out


cdef void copy_bytes(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """Copy codes of 8 bits as they are."""
    memcpy(data[1], data[0], n)


cdef void some_rows(const Part* p, Py_ssize_t first, Py_ssize_t rows, Py_ssize_t itemsize, Py_ssize_t line,
                    char* to) noexcept nogil:
    """Recode rows of one input to where they begin `line` bytes apart. Short rows go together through a buffer."""
    cdef int64_t[BUFFER_WORDS] buffer
    cdef char* data[2]
    cdef Py_ssize_t i
    data[0], data[1] = p.data + first * p.size, <char*>buffer
    if rows > 1 and p.size < LONG_ROW_BYTES:
        p.loop(data, rows * (p.size // itemsize), p.using)
        copy_rows(to, line, <char*>buffer, p.size, p.size, rows)
        return
    for i in range(rows):
        data[1] = to + i * line
        p.loop(data, p.size // itemsize, p.using)
        data[0] += p.size


cdef void all_rows(const Part* parts, Py_ssize_t count, Py_ssize_t itemsize, Py_ssize_t rows, Py_ssize_t line,
                   char* to) noexcept nogil:
    """Recode all inputs, a few lines of the result at a time."""
    cdef Py_ssize_t together = max(1, 8 * BUFFER_WORDS // line), i, k, at
    for i from 0 <= i < rows by together:
        at = 0
        for k in range(count):
            some_rows(&parts[k], i, min(together, rows - i), itemsize, line, to + i * line + at)
            at += parts[k].size


cdef cnp.ndarray concat(list arrays, int axis, Part* parts, tuple shape, int typenum, out):
    """Concatenate arrays along the axis, each recoded by the loop of its part, which keeps the size of a code.

    The result has this shape and the dtype `typenum`, and is in `out` if that is given.
    """
    cdef cnp.ndarray codes = result(arrays, shape, typenum, out), made = codes, x
    cdef list kept = [plain(x) for x in arrays]
    cdef Py_ssize_t size = cnp.PyArray_NBYTES(codes), itemsize = cnp.PyArray_ITEMSIZE(codes), count = len(kept)
    cdef Py_ssize_t line = 0, k
    cdef int i
    if size == 0:
        return codes
    for k in range(count):
        x = kept[k]
        parts[k].data, parts[k].size = cnp.PyArray_BYTES(x), itemsize
        for i in range(axis, x.ndim):
            parts[k].size *= x.shape[i]
        line += parts[k].size
    if not PyArray_ISCARRAY_RO(codes):
        made = cnp.PyArray_EMPTY(codes.ndim, codes.shape, cnp.PyArray_TYPE(codes), 0)
    if size < WORTH_RELEASING:
        all_rows(parts, count, itemsize, size // line, line, cnp.PyArray_BYTES(made))
    else:
        with nogil:
            all_rows(parts, count, itemsize, size // line, line, cnp.PyArray_BYTES(made))
    if made is not codes:
        np.copyto(codes, made)
    return codes

"""Copies of many short rows. For rows of up to 64 bytes, a call of memcpy would take longer than the copy itself."""
from libc.string cimport memcpy


cdef inline void copy_row(char* to, const char* x, Py_ssize_t size, Py_ssize_t unit) noexcept nogil:
    """Copy one row, `unit` bytes at a time, which is a constant. The last copy ends where the row ends."""
    cdef Py_ssize_t i
    for i from 0 <= i < size - unit by unit:
        memcpy(to + i, x + i, unit)
    memcpy(to + size - unit, x + size - unit, unit)


cdef void copy_rows(char* to, Py_ssize_t pitch, const char* x, Py_ssize_t stride, Py_ssize_t size,
                    Py_ssize_t rows) noexcept nogil:
    """Copy rows of `size` bytes, which begin `stride` bytes apart, to where they begin `pitch` bytes apart."""
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

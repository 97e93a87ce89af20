from libc.stdint cimport int8_t

cdef void transpose_bytes(const int8_t *x, Py_ssize_t ldx, Py_ssize_t rows, Py_ssize_t columns, int8_t *y,
                          const Py_ssize_t *row) noexcept nogil

cdef void copy_rows(char* to, Py_ssize_t pitch, const char* x, Py_ssize_t stride, Py_ssize_t size,
                    Py_ssize_t rows) noexcept nogil

# A function that does one part of an op. It returns 0, or another number if there is not enough memory.
ctypedef int (*Work)(const void *op, Py_ssize_t part) noexcept nogil

cdef int run_parts(Work work, const void *op, Py_ssize_t parts) except -1

# does one part of an op; the result is not 0 if memory is lacking
ctypedef int (*Work)(const void *op, Py_ssize_t part) noexcept nogil

cdef int run_parts(Work work, const void *op, Py_ssize_t parts) except -1

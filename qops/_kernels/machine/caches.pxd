ctypedef struct Caches:  # in bytes
    Py_ssize_t first, second

cdef Caches caches

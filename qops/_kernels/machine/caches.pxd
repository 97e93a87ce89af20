ctypedef struct Caches:  # sizes in bytes
    Py_ssize_t first, second  # L1 and L2

cdef Caches caches

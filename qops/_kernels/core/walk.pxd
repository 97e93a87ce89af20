cimport numpy as cnp

cdef enum:
    STREAM = 8 << 20  # bytes of output from which writing past the caches pays

ctypedef void (*Loop)(char** data, Py_ssize_t n, void* using) noexcept nogil

cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=*, cnp.ndarray c=*, bint writes=*)

cimport numpy as cnp

cdef enum:
    STREAM = 8 << 20  # bytes of output from which writing past the caches pays
    WORTH_RELEASING = 1 << 14  # elements, for which a loop lets other threads run: that costs as much as some hundreds

ctypedef void (*Loop)(char** data, Py_ssize_t n, void* using) noexcept nogil

cdef cnp.ndarray at_a_line(cnp.npy_intp n, int typenum)
cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=*, cnp.ndarray c=*, bint writes=*)

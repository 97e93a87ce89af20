cimport numpy as cnp

cdef enum:
    WORTH_RELEASING = 1 << 14  # from so many elements on, a loop releases the GIL, which costs as much as hundreds

cdef enum:
    WORTH_A_LINE = 1 << 15  # from so many numbers on, it is faster to begin new memory at a cache line

# A loop over n elements of up to three contiguous arrays; `using` points to its parameters.
ctypedef void (*Loop)(char** data, Py_ssize_t n, void* using) noexcept nogil

cdef cnp.ndarray at_a_line(int ndim, cnp.npy_intp* shape, int typenum)
cdef object walk(Loop loop, void* using, cnp.ndarray a, cnp.ndarray b=*, cnp.ndarray c=*, bint writes=*)

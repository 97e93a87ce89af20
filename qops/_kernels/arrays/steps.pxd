"""What a plan of a graph runs: kernels that are called without Python's call, and other callables."""

cimport numpy as cnp

cdef class Kernel:
    cdef object result_of(self, cnp.ndarray a, cnp.ndarray b)

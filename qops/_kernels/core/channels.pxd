cimport numpy as cnp

cdef bint has_axes(end)
cdef tuple spans(cnp.ndarray data, lo, hi, str name)

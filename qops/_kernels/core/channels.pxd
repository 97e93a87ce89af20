cimport numpy as cnp

cdef tuple spans(cnp.ndarray data, lo, hi, str name)
cdef tuple reading(t, str name)

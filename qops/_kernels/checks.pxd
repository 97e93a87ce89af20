cimport numpy as cnp

cdef enum:
    STREAM = 8 << 20  # bytes of output from which writing past the caches pays

cdef object blocks(tuple arrays)
cdef bint overlap(cnp.ndarray a, cnp.ndarray b)

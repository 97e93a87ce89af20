cimport numpy as cnp

cdef object blocks(tuple arrays)

cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport CodeType

cdef tuple spans(cnp.ndarray data, lo, hi, str name)
cdef object reading(t, str name, CodeType* found_type, Ends* ends)

cimport numpy as cnp

from qops._kernels.core.checks cimport Ends
from qops._kernels.core.codes cimport CodeType

cdef tuple spans(cnp.ndarray data, lo, hi, str name)
cdef object reading(t, str name, CodeType* row, Ends* ends)

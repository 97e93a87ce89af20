cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport CodeType

cdef tuple spans(cnp.ndarray data, lo, hi, str name)
cdef cnp.ndarray by_channel(cnp.ndarray codes, tuple ends, Py_ssize_t* inner)
cdef object stretched(ends, cnp.ndarray codes)
cdef object reading(t, str name, CodeType* found_type, Ends* ends, tuple typenums=*)

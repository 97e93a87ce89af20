cimport numpy as cnp

from qops._kernels.core.codes cimport named, tensor
from qops._kernels.core.numbers cimport has_axes, integer, number, real, shown

cdef struct Ends:  # of a range, float32 values
    double min, max

cdef int span_of(lo, hi, str name, Ends* ends) except -1
cpdef tuple parts(t, str name)
cdef object range_of(t, str name, Ends* ends)
cdef cnp.ndarray operand_of(t, str name, int typenum, int or_typenum, Ends* ends)
cdef cnp.ndarray data_of(t, str name, Ends* ends)
cdef int take(cnp.ndarray data, str name, int typenum, int or_typenum=*) except -1
cpdef cnp.ndarray float32s(cnp.ndarray x, str name)
cpdef cnp.ndarray int32s(cnp.ndarray x, str name)
cdef int writable(out, int typenum, int ndim, cnp.npy_intp* shape) except -1
cdef int apart(cnp.ndarray out, cnp.ndarray x) except -1
cpdef cnp.ndarray output(out, int typenum, cnp.ndarray x, cnp.ndarray y=*, str names=*)
cpdef cnp.ndarray as_array(x, str name)
cpdef cnp.ndarray array(x, str name, int typenum, int or_typenum=*)

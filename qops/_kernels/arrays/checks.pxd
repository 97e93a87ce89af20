cimport numpy as cnp
from libc.float cimport FLT_MAX
from libc.stdint cimport uintptr_t

from qops._kernels.arrays.codes cimport CodeType
from qops._kernels.arrays.numbers cimport has_axes, integer, number, real, shown
from qops._kernels.machine.host cimport check_rounding

cdef enum:
    MAX_DIMS = 64  # the most axes that an array of numpy has

cdef struct Ends:  # the ends of a range, float32 values held as doubles
    double min, max

cdef tuple end_names(str name)
cdef int span_checked(lo, hi, str name, Ends* ends) except -1
cdef inline int span_of(lo, hi, str name, Ends* ends) except -1:
    """Set `ends` to the range (lo, hi) as float32 values; ValueError if one is not finite, or lo > hi."""
    check_rounding()
    if type(lo) is float and type(hi) is float:
        ends.min, ends.max = <float>lo, <float>hi
        if -FLT_MAX <= ends.min <= ends.max <= FLT_MAX:
            return 0
    return span_checked(lo, hi, name, ends)
cdef cnp.ndarray operand_of(t, str name, int typenum, int or_typenum, Ends* ends)
cdef cnp.ndarray data_of(t, str name, Ends* ends)
cdef int refuse_ends(lo, hi, cnp.ndarray data, str name) except -1
cdef inline int check_ends(const CodeType* found_type, Ends ends, cnp.ndarray data, str name) except -1:
    """Raise ValueError if the code type has symmetric ranges and this range is not symmetric."""
    return refuse_ends(ends.min, ends.max, data, name) if found_type.symmetric and ends.min != -ends.max else 0
cdef int take(cnp.ndarray data, str name, int typenum, int or_typenum=*) except -1
cpdef cnp.ndarray float32s(x, str name)
cpdef cnp.ndarray int32s(x, str name)
cdef int writable(out, int typenum, int ndim, cnp.npy_intp* shape) except -1
cdef inline void extent(cnp.ndarray a, uintptr_t* first, uintptr_t* end) noexcept:
    """Set the addresses between which the memory of `a` lies. They mean nothing if `a` has no elements."""
    cdef cnp.npy_intp reach
    cdef int i
    first[0] = <uintptr_t>cnp.PyArray_DATA(a)
    end[0] = first[0] + cnp.PyArray_ITEMSIZE(a)
    for i in range(a.ndim):
        reach = a.strides[i] * (a.shape[i] - 1)
        if reach < 0:
            first[0] += reach
        else:
            end[0] += reach
cdef int refuse_shared(cnp.ndarray out, cnp.ndarray x) except -1
cdef inline int apart(cnp.ndarray out, cnp.ndarray x, cnp.ndarray y) except -1:
    """Raise ValueError if `out` shares memory with `x`, or with `y` if that is not None."""
    cdef uintptr_t first, end, x_first, x_end
    extent(out, &first, &end)
    extent(x, &x_first, &x_end)
    if first < x_end and x_first < end:
        refuse_shared(out, x)
    if y is not None:
        extent(y, &x_first, &x_end)
        if first < x_end and x_first < end:
            refuse_shared(out, y)
    return 0
cpdef cnp.ndarray output(out, int typenum, cnp.ndarray x, cnp.ndarray y=*, str names=*)
cpdef cnp.ndarray as_array(x, str name)
cdef inline cnp.ndarray array_of(x, str name):
    """Give `as_array(x, name)`, without a call if `x` is an ndarray of numpy's own class."""
    if not cnp.PyArray_CheckExact(x):
        return as_array(x, name)
    check_rounding()
    return <cnp.ndarray>x
cpdef cnp.ndarray array(x, str name, int typenum, int or_typenum=*)

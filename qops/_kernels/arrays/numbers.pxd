cdef bint has_axes(value)
cpdef str choice(value, str name, allowed)
cpdef bint flag(value, str name) except -1
cdef int code_typenum(dtype, bint or_int32) except -1
cpdef object integer(value, str name, low=*, high=*)
cpdef int int32(value, str name, int low=*, int high=*) except? -1
cpdef tuple integers(values, str name, Py_ssize_t count, low, high=*)
cdef tuple open_ends(lo, hi, both)
cpdef tuple two_ends(value, str name)
cpdef double number(value, str name) except? -1
cpdef double real(value, str name) except? -1
cpdef str shown(value)

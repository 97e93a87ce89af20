cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t

ctypedef fused code:  # the C types of codes whose dtype alone tells the code type
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t


cdef struct CodeType:
    int64_t lowest, highest  # codes
    int64_t steps  # how many quantization steps a range has; 0 if this is no code type
    bint symmetric  # whether ranges are symmetric, min == -max


cdef CodeType NONE  # no code type
cdef CodeType[2][3] CODE_TYPES  # by sign (unsigned first), then by size: 1, 2 and 4 bytes
cdef inline int typenum_of(cnp.ndarray data) noexcept:
    """Give numpy's number of the dtype, with one number for int32 and one for int64.

    numpy has a number for each of the C types int, long and long long.
    """
    cdef int own = cnp.PyArray_TYPE(data)
    if own == cnp.NPY_INT or own == cnp.NPY_LONG or own == cnp.NPY_LONGLONG:
        return cnp.NPY_INT32 if cnp.PyArray_ITEMSIZE(data) == 4 else cnp.NPY_INT64
    return own
cdef inline const CodeType* code_type_of(bint is_signed, int size) noexcept nogil:
    """Give the code type of integers of `size` bytes; it has 0 steps if there is none."""
    return &CODE_TYPES[is_signed][size >> 1] if size <= 4 else &NONE
cdef const CodeType* code_type(cnp.ndarray data) noexcept
cdef class Tensor:
    cdef readonly object data, min, max
    cdef readonly object _own  # the row of `qops.codes.TABLE`, or None for that of the dtype


cdef int read_code_type(Tensor t, cnp.ndarray data, str name, CodeType* found_type) except -1
cdef CodeType from_row(row) except *

cpdef Tensor tensor(type cls, data, lo, hi, own=*)
cdef Tensor tensor_of(t, str name)
cpdef check_order(data, hi, str name)

cimport numpy as cnp
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t

ctypedef fused code:  # the types that mean a row by themselves
    uint8_t
    int8_t
    uint16_t
    int16_t
    int32_t


cdef struct CodeType:
    int64_t lowest, highest, steps
    bint symmetric


cdef CodeType NONE
cdef CodeType[2][3] ROWS  # unsigned and signed; of 1, 2 and 4 bytes
cdef inline int typenum_of(cnp.ndarray data) noexcept:
    """The number of its dtype: of int32 one, of int64 one, though C has three types for the two, of a number each."""
    cdef int own = cnp.PyArray_TYPE(data)
    if own == cnp.NPY_INT or own == cnp.NPY_LONG or own == cnp.NPY_LONGLONG:
        return cnp.NPY_INT32 if cnp.PyArray_ITEMSIZE(data) == 4 else cnp.NPY_INT64
    return own
cdef inline const CodeType* code_type_of(bint is_signed, int size) noexcept nogil:
    """The row of integers of `size` bytes; with 0 steps if there is none."""
    return &ROWS[is_signed][size >> 1] if size <= 4 else &NONE
cdef const CodeType* code_type(cnp.ndarray data) noexcept
cdef int read_row(t, cnp.ndarray data, str name, CodeType* row) except -1
cdef CodeType from_row(row) except *
cpdef object tensor(type cls, data, lo, hi)
cdef inline object own_row(t):
    """The `qops.codes.CodeType` that the class of the tensor `t` has, whatever the dtype of its data; or None."""
    return None if type(t) is tuple else getattr(type(t), "own_code_type", None)

cimport numpy as cnp
from libc.stdint cimport int64_t


cdef struct CodeType:
    int64_t lowest, highest, steps
    bint symmetric


cdef const CodeType* code_type_of(bint is_signed, int size) noexcept nogil
cdef const CodeType* code_type(cnp.ndarray data) noexcept
cdef int read_row(t, cnp.ndarray data, str name, CodeType* row) except -1
cdef CodeType from_row(row) except *
cdef bint has_own_row(t)
cdef inline bint is_read_otherwise(t):
    """Whether `t` is a tensor that has a row of its own, whatever its dtype."""
    return type(t) is not tuple and has_own_row(t)
cpdef object tensor(data, lo, hi)
cdef object named(type kind, a, b, c)

from libc.stdint cimport uint8_t

from qops._kernels.arrays.checks cimport Ends
from qops._kernels.arrays.codes cimport CodeType

cdef void table_8(Ends ends, const CodeType* kind, Ends wanted, const CodeType* into, uint8_t* table) noexcept nogil

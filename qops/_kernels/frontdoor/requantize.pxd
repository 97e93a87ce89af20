cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.arrays.checks cimport Ends

cdef uint8_t flip_of(cnp.ndarray codes) noexcept
cdef void table_8(Ends ends, uint8_t flip, Ends wanted, uint8_t c_flip, uint8_t* table) noexcept nogil

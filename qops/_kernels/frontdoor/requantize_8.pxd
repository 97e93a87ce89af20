cimport numpy as cnp
from libc.stdint cimport uint8_t

from qops._kernels.arrays.checks cimport Ends

cdef enum:
    STEEPEST = 512  # output steps per input step; if there are more, all codes but one saturate

cdef struct RecodeParams:  # code = clamp(round_half_even(q * of_code + added)); q and code count from the lowest code
    double of_code, added

cdef uint8_t flip_of(cnp.ndarray codes) noexcept
cdef RecodeParams recode_params(Ends ends, Ends wanted) noexcept nogil
cdef void table_8(Ends ends, uint8_t flip, Ends wanted, uint8_t c_flip, uint8_t* table) noexcept nogil
cdef int recode_channels(cnp.ndarray codes, const RecodeParams* params, Py_ssize_t count, Py_ssize_t inner,
                         cnp.ndarray made) except -1

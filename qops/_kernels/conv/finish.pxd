cimport numpy as cnp
from libc.stdint cimport int32_t

from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.conv.weights cimport PackedWeights

cdef class Finish:
    cdef object w_zero_point  # one number, or one for each output channel
    cdef cnp.ndarray bias  # or None
    cdef PreparedStage codes  # or None
    cdef int typenum  # numpy's number of the dtype of the result

    cdef cnp.ndarray w_zero_points(self, PackedWeights packed)
    cdef int check_bias(self, PackedWeights packed) except -1
    cdef cnp.ndarray starts(self, PackedWeights packed, int32_t times)

cdef Finish finish_of(w_zero_point, cnp.ndarray bias, PreparedStage codes, int typenum)

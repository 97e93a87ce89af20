cimport numpy as cnp

from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.conv.rows cimport Convolution
from qops._kernels.conv.weights cimport PackedWeights

cdef class Finish:
    cdef object w_zero_point
    cdef cnp.ndarray bias
    cdef PreparedStage codes
    cdef int typenum

    cdef cnp.ndarray zeros(self, PackedWeights packed)
    cdef cnp.ndarray starts(self, const Convolution *p, PackedWeights packed)

cimport numpy as cnp

from qops._kernels.stage.stage cimport Stage

cdef class PreparedStage:
    cdef Stage stage  # its holders copy it; they keep this object, whose memory it points into
    cdef int takes(self, cnp.ndarray x) except -1

cdef class FloatStage(PreparedStage):
    cdef cnp.ndarray scales

cdef PreparedStage stage_of_rows(bytearray rows)

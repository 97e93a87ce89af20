cimport numpy as cnp

from qops._kernels.stage.layer_stage cimport LayerParams
from qops._kernels.stage.prepared cimport PreparedStage

cdef class LayerStage(PreparedStage):
    cdef LayerParams params
    cdef cnp.ndarray memory, rows
    cdef object terms
    cdef Py_ssize_t cuts  # see `Epilogue.stage`
    cdef float* f32  # memory for the tables that `params` uses if they are of use in some column
    cdef int set(self, Py_ssize_t n, cnp.ndarray rows, terms, Py_ssize_t watched=*) except -1
    cdef void finish(self, Py_ssize_t kinds, bint may_use_f32) noexcept
    cdef void set_f32(self, Py_ssize_t kinds) noexcept

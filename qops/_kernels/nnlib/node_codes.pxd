cimport numpy as cnp

from qops._kernels.stage.prepared cimport PreparedStage

cdef int worded_codes(PreparedStage stage, cnp.ndarray sums, cnp.ndarray words, cnp.ndarray codes,
                      Py_ssize_t threads) except -1

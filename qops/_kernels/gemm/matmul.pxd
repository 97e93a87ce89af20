cimport numpy as cnp
from libc.stdint cimport int32_t, uint32_t

from qops._kernels.gemm.blocks cimport Product
from qops._kernels.gemm.packed cimport PackedB
from qops._kernels.stage.prepared cimport PreparedStage
from qops._kernels.stage.stage cimport Stage

cdef enum:
    SUMS_AT_ONCE = 1 << 13  # so many accumulators are made before their codes: both stay in the nearest cache
    WEIGHTS_PER_SUM = 8  # SUMS_AT_ONCE grows to one accumulator for so many weights: each batch reads all weights

ctypedef struct Coded:  # a product whose accumulators become codes, in parts of whole rows
    Product product  # without C
    const int32_t *bias  # one for each column, or NULL
    const uint32_t *a_offset  # one for each row, or NULL: then the product itself subtracts the one that all have
    const uint32_t *b_offset  # one for each column, of B as it is packed; or NULL
    const Stage *stage
    char *codes  # m x n, in C order
    Py_ssize_t stride  # codes from a row to the next
    int typenum, size  # numpy's number of the dtype of codes, and their bytes
    Py_ssize_t parts

cdef int run_coded(Coded *p, Py_ssize_t num_threads) except -1

cdef class MatMul:
    cdef PackedB b
    cdef object b_offset
    cdef cnp.ndarray offsets  # b_offset of the packed B, of each column, if there are any
    cdef cnp.ndarray bias
    cdef PreparedStage codes
    cdef int typenum
    cdef int make_codes(self, cnp.ndarray a, a_offset, cnp.ndarray made, PreparedStage stage,
                        Py_ssize_t num_threads) except -1
    cdef int make_parts(self, cnp.ndarray a, uint32_t a_offset, cnp.ndarray each, cnp.ndarray made,
                        PreparedStage stage, Py_ssize_t num_threads, cnp.ndarray starts=*) except -1

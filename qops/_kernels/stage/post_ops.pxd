from libc.stdint cimport int32_t

from qops._kernels.stage.batch cimport Batch
from qops._kernels.stage.float_stage cimport FloatParams

cdef dict FLOAT_OPS  # the number of each operation

cdef extern from "stage/post_ops.h" nogil:
    ctypedef struct FloatOp "float_op":
        int kind
        const float *values  # the operand, repeated to fill a block; NULL if it is one number, the factor
        Py_ssize_t size  # how many values there are before they repeat
        float factor
    Py_ssize_t float_ops_8__simd(int tier, const Batch*, const FloatOp*, Py_ssize_t count, const float* old,
                                 Py_ssize_t at, FloatParams)

cdef struct PostOps:
    FloatOp* float_ops
    Py_ssize_t count
    Py_ssize_t block  # the operands are repeated for so many values, then they begin again

cdef void run_float_ops(const FloatOp *float_ops, Py_ssize_t count, const int32_t *sums, float *x, const float *old,
                        Py_ssize_t at, Py_ssize_t n) noexcept nogil
cdef bint stay_finite(const FloatOp *float_ops, Py_ssize_t count) noexcept nogil

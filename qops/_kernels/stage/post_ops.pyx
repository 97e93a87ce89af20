"""oneDNN's float32 operations between the sums of a product and the store. Each operation is rounded to float32.

An operation is a name and an operand v:

    "add", "multiply", "divide"    x + v, x * v, x / v; v is one number, or an array that repeats along x
    "leak"                         x > 0 ? x : v * x
    "relu"                         x > 0 ? x : 0; v is not used
    "sum"                          x + v * old, where the product and the sum are rounded
    "fma"                          x + v * old, rounded once
"""
from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t

from qops._kernels.stage.rounding cimport fma_f32
from qops._kernels.machine.tiers cimport tier

cdef extern from "stage/post_ops.h" nogil:
    enum:
        ADD "OP_ADD"
        MULTIPLY "OP_MULTIPLY"
        DIVIDE "OP_DIVIDE"
        RELU "OP_RELU"
        LEAK "OP_LEAK"
        SUM "OP_SUM"
        FMA "OP_FMA"
    Py_ssize_t float_ops__simd(int, const int32_t*, float*, Py_ssize_t, const FloatOp*, Py_ssize_t, const float*,
                               Py_ssize_t)

cdef double S32_BOUND = 2.0**31
cdef double F32_BOUND = 2.0**127  # float32 results below this do not overflow, however they are rounded
FLOAT_OPS = {"add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "relu": RELU, "leak": LEAK, "sum": SUM, "fma": FMA}


cdef inline float after_op(const FloatOp *s, float x, const float *old, Py_ssize_t at) noexcept nogil:
    """One operation on one value, whose operand is number `at`."""
    cdef float operand = s.factor if s.values == NULL else s.values[at]
    cdef float product
    if s.kind == ADD:
        return x + operand
    if s.kind == MULTIPLY:
        return x * operand
    if s.kind == DIVIDE:
        return x / operand
    if s.kind == RELU:
        return x if x > 0 else 0
    if s.kind == FMA:
        return fma_f32(old[0], operand, x)
    product = operand * (x if s.kind == LEAK else old[0])
    if s.kind == LEAK:
        return x if x > 0 else product
    return x + product


cdef void run_float_ops(const FloatOp *float_ops, Py_ssize_t count, const int32_t *sums, float *x, const float *old,
                        Py_ssize_t at, Py_ssize_t n) noexcept nogil:
    """x = n values after all operations; before them x, or the sums if these are not NULL.

    Their operands are numbers `at` and following of each operation.
    """
    cdef Py_ssize_t i = float_ops__simd(tier(), sums, x, n, float_ops, count, old, at), k
    cdef float value
    for i in range(i, n):
        value = x[i] if sums == NULL else <float>sums[i]
        for k in range(count):
            value = after_op(float_ops + k, value, old + i, at + i)
        x[i] = value


cdef double most_of(const FloatOp *s, bint inverse) noexcept nogil:
    """The largest size of an operand, or of its inverse; infinity if one is not finite."""
    cdef double most = 0, size
    cdef Py_ssize_t i
    for i in range(max(s.size, 1)):
        size = fabs(s.factor if s.values == NULL else s.values[i])
        size = 1 / size if inverse else size
        if not size < INFINITY:
            return INFINITY
        most = max(most, size)
    return most


cdef bint stay_finite(const FloatOp *float_ops, Py_ssize_t count) noexcept nogil:
    """Whether the operations give finite floats for all int32 sums, if `old` is made of codes."""
    cdef double bound = S32_BOUND
    cdef const FloatOp *s
    cdef Py_ssize_t i
    for i in range(count):
        s = float_ops + i
        if s.kind == ADD:
            bound += most_of(s, False)
        elif s.kind == MULTIPLY or s.kind == DIVIDE:
            bound *= most_of(s, s.kind == DIVIDE)
        elif s.kind == LEAK:
            bound *= max(1.0, fabs(s.factor))
        elif s.kind != RELU:
            bound += S32_BOUND * fabs(s.factor)
        if not bound < F32_BOUND:
            return False
    return True

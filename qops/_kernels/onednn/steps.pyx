"""oneDNN's float32 steps between the sums of a product and the store. Each operation is rounded to float32.

A step is a name and an operand v:

    "add", "multiply", "divide"    x + v, x * v, x / v; v is one number, or an array that repeats along x
    "leak"                         x > 0 ? x : v * x
    "relu"                         x > 0 ? x : 0; v is not used
    "sum"                          x + v * old, where the product and the sum are rounded
    "fma"                          x + v * old, rounded once
"""
from libc.math cimport INFINITY, fabs, fmaf
from libc.stdint cimport int32_t

from qops._kernels.core.tiers cimport tier

cdef extern from "onednn/steps.h" nogil:
    Py_ssize_t convert__simd(int, const int32_t*, float*, Py_ssize_t)
    Py_ssize_t add__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t multiply__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t divide__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t add_one__simd(int, float*, float, Py_ssize_t)
    Py_ssize_t multiply_one__simd(int, float*, float, Py_ssize_t)
    Py_ssize_t divide_one__simd(int, float*, float, Py_ssize_t)
    Py_ssize_t relu__simd(int, float*, Py_ssize_t)
    Py_ssize_t leak__simd(int, float*, float, Py_ssize_t)
    Py_ssize_t sum__simd(int, float*, const float*, float, Py_ssize_t)
    Py_ssize_t fma__simd(int, float*, const float*, float, Py_ssize_t)

cdef enum:
    ADD, MULTIPLY, DIVIDE, RELU, LEAK, SUM, FMA

cdef double S32_BOUND = 2.0**31
cdef double F32_BOUND = 2.0**127  # float32 results below this do not overflow, however they are rounded
KINDS = {"add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "relu": RELU, "leak": LEAK, "sum": SUM, "fma": FMA}


cdef void convert(const int32_t *s, float *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = convert__simd(tier(), s, x, n)
    for i in range(i, n):
        x[i] = <float>s[i]


cdef void add(float *x, const float *v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = add__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] + v[i]


cdef void multiply(float *x, const float *v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = multiply__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] * v[i]


cdef void divide(float *x, const float *v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = divide__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] / v[i]


cdef void add_one(float *x, float v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = add_one__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] + v


cdef void multiply_one(float *x, float v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = multiply_one__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] * v


cdef void divide_one(float *x, float v, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = divide_one__simd(tier(), x, v, n)
    for i in range(i, n):
        x[i] = x[i] / v


cdef void relu(float *x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = relu__simd(tier(), x, n)
    for i in range(i, n):
        x[i] = x[i] if x[i] > 0 else 0


cdef void leak(float *x, float alpha, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = leak__simd(tier(), x, alpha, n)
    for i in range(i, n):
        x[i] = x[i] if x[i] > 0 else alpha * x[i]


cdef void add_old(float *x, const float *old, float scale, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = sum__simd(tier(), x, old, scale, n)
    cdef float scaled
    for i in range(i, n):
        scaled = scale * old[i]
        x[i] = x[i] + scaled


cdef void fuse_old(float *x, const float *old, float scale, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i = fma__simd(tier(), x, old, scale, n)
    for i in range(i, n):
        x[i] = fmaf(old[i], scale, x[i])


cdef void make_one(const Step *s, float *x, Py_ssize_t n) noexcept nogil:
    if s.kind == ADD:
        add_one(x, s.factor, n)
    elif s.kind == MULTIPLY:
        multiply_one(x, s.factor, n)
    else:
        divide_one(x, s.factor, n)


cdef void make_step(const Step *s, float *x, const float *old, Py_ssize_t at, Py_ssize_t n) noexcept nogil:
    """Make one step on n values, whose operands are numbers `at` and following of the step."""
    if s.kind <= DIVIDE and s.values == NULL:
        make_one(s, x, n)
    elif s.kind == ADD:
        add(x, s.values + at, n)
    elif s.kind == MULTIPLY:
        multiply(x, s.values + at, n)
    elif s.kind == DIVIDE:
        divide(x, s.values + at, n)
    elif s.kind == RELU:
        relu(x, n)
    elif s.kind == LEAK:
        leak(x, s.factor, n)
    elif s.kind == SUM:
        add_old(x, old, s.factor, n)
    else:
        fuse_old(x, old, s.factor, n)


cdef double most_of(const Step *s, bint inverse) noexcept nogil:
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


cdef bint stay_finite(const Step *steps, Py_ssize_t count) noexcept nogil:
    """Whether the steps give finite floats for all int32 sums, if `old` is made of codes."""
    cdef double bound = S32_BOUND
    cdef const Step *s
    cdef Py_ssize_t i
    for i in range(count):
        s = steps + i
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

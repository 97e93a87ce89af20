"""oneDNN's float32 steps between the sums of a product and the store. Each operation is rounded to float32.

A step is a name and an operand v:

    "add", "multiply", "divide"    x + v, x * v, x / v; v is one number, or an array that repeats along x
    "leak"                         x > 0 ? x : v * x
    "relu"                         x > 0 ? x : 0; v is not used
    "sum"                          x + v * old, where the product and the sum are rounded
    "fma"                          x + v * old, rounded once
"""
cimport numpy as cnp
from libc.math cimport fmaf
from libc.stdint cimport int32_t

from qops._kernels.core.tiers cimport tier

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

cdef extern from "onednn/steps.h" nogil:
    Py_ssize_t convert__simd(int, const int32_t*, float*, Py_ssize_t)
    Py_ssize_t add__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t multiply__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t divide__simd(int, float*, const float*, Py_ssize_t)
    Py_ssize_t relu__simd(int, float*, Py_ssize_t)
    Py_ssize_t leak__simd(int, float*, float, Py_ssize_t)
    Py_ssize_t sum__simd(int, float*, const float*, float, Py_ssize_t)
    Py_ssize_t fma__simd(int, float*, const float*, float, Py_ssize_t)

cdef enum:
    BLOCK = 1024  # floats: all steps are made on one block before the next, so that it stays in the L1 cache
    ADD, MULTIPLY, DIVIDE, RELU, LEAK, SUM, FMA

cdef dict KINDS = {
    "add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "relu": RELU, "leak": LEAK, "sum": SUM, "fma": FMA,
}

ctypedef struct Step:
    int kind
    const float *values  # the operand, repeated to fill a block
    float factor

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


cdef void make_step(const Step *s, float *x, const float *old, Py_ssize_t n) noexcept nogil:
    if s.kind == ADD:
        add(x, s.values, n)
    elif s.kind == MULTIPLY:
        multiply(x, s.values, n)
    elif s.kind == DIVIDE:
        divide(x, s.values, n)
    elif s.kind == RELU:
        relu(x, n)
    elif s.kind == LEAK:
        leak(x, s.factor, n)
    elif s.kind == SUM:
        add_old(x, old, s.factor, n)
    else:
        fuse_old(x, old, s.factor, n)


cdef void make_steps(const Step *steps, Py_ssize_t count, const int32_t *s, float *x, const float *old, Py_ssize_t n,
                     Py_ssize_t block) noexcept nogil:
    cdef Py_ssize_t first, i, size
    for first from 0 <= first < n by block:
        size = min(block, n - first)
        if s != NULL:
            convert(s + first, x + first, size)
        for i in range(count):
            make_step(steps + i, x + first, old + first if old != NULL else NULL, size)


cdef list set_steps(Step *c_steps, steps, Py_ssize_t block):
    """Fill `c_steps`. They point into the arrays of the list that is returned, so it must outlive them."""
    cdef cnp.ndarray values
    cdef Py_ssize_t i
    alive = []
    for i, (name, operand) in enumerate(steps):
        c_steps[i].kind = KINDS[name]
        if c_steps[i].kind in (ADD, MULTIPLY, DIVIDE):
            values = np.empty(block, np.float32)
            if isinstance(operand, np.ndarray):
                values.reshape(-1, operand.size)[:] = operand.ravel()
            else:
                values.fill(operand)
            c_steps[i].values = <const float *>cnp.PyArray_DATA(values)
            alive.append(values)
        else:
            c_steps[i].factor = operand
    return alive


def finish(cnp.ndarray x, steps, cnp.ndarray old=None):
    """Make `steps` on x, an int32 or float32 array in C order, in its own memory; return that memory as float32.

    An array among the operands runs along the last axes of x, so of two sizes one divides the other. `old` is a float32
    array in C order with as many elements as x, for the steps that need one.
    """
    cdef Py_ssize_t period = max([1] + [operand.size for _, operand in steps if isinstance(operand, np.ndarray)])
    cdef Py_ssize_t block = period * max(1, BLOCK // period)
    cdef const int32_t *s = NULL
    cdef const float *before = NULL
    cdef Py_ssize_t count = len(steps)
    cdef cnp.ndarray memory = np.empty(count * sizeof(Step), np.uint8)
    cdef Step *c_steps = <Step *>cnp.PyArray_DATA(memory)
    if not cnp.PyArray_ISCARRAY(x) or old is not None and not PyArray_ISCARRAY_RO(old):
        raise ValueError("x, old: expected arrays in C order")
    if any(name in ("sum", "fma") for name, _ in steps) and (old is None or old.size != x.size):
        raise ValueError("old: expected as many elements as x has, for a step that adds them")
    if cnp.PyArray_SIZE(x) == 0:
        return x.view(np.float32)
    if cnp.PyArray_TYPE(x) == cnp.NPY_INT32:
        s = <const int32_t *>cnp.PyArray_DATA(x)
    if old is not None:
        before = <const float *>cnp.PyArray_DATA(old)
    values = set_steps(c_steps, steps, block)
    with nogil:
        make_steps(c_steps, count, s, <float *>cnp.PyArray_DATA(x), before, cnp.PyArray_SIZE(x), block)
    del values  # the steps have pointed into these arrays until here
    return x.view(np.float32)

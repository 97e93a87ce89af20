"""oneDNN's float32 steps from sums to a destination, one rounding an operation.

A step is a name and an operand:

    "add", "multiply", "divide"    x + v, x * v, x / v; v is a number, or one a channel
    "leak"                         x > 0 ? x : v * x
    "relu"                         x > 0 ? x : 0, whatever v is
    "sum", "fma"                   x + v * old, in two roundings or in one
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
    BLOCK = 1024  # floats that all steps are made on before the next: they and the channels' values stay in L1
    ADD, MULTIPLY, DIVIDE, RELU, LEAK, SUM, FMA

cdef dict KINDS = {
    "add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "relu": RELU, "leak": LEAK, "sum": SUM, "fma": FMA,
}

ctypedef struct Step:
    int kind
    const float *values  # a block of them
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
    """Steps in C; what they point to lives as long as the list that is returned."""
    cdef cnp.ndarray values
    cdef Py_ssize_t i
    alive = []
    for i, (name, operand) in enumerate(steps):
        c_steps[i].kind = KINDS[name]
        if c_steps[i].kind in (ADD, MULTIPLY, DIVIDE):
            values = np.empty(block, np.float32)
            values.reshape(-1, np.size(operand))[:] = operand
            c_steps[i].values = <const float *>cnp.PyArray_DATA(values)
            alive.append(values)
        else:
            c_steps[i].factor = operand
    return alive


def finish(cnp.ndarray x, steps, cnp.ndarray old=None):
    """Make `steps` on x, an int32 or float32 array (C order, channels last), in its own memory; gives that as float32.

    `old` is a float32 array of as many elements, in C order, for the steps that need one.
    """
    cdef Py_ssize_t channels = x.shape[x.ndim - 1] if x.ndim else 1
    cdef Py_ssize_t block = channels * max(1, BLOCK // max(1, channels))
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
    del values  # not before
    return x.view(np.float32)

"""oneDNN's float32 steps between the sums of a product and the store. Each operation is rounded to float32.

A step is a name and an operand v:

    "add", "multiply", "divide"    x + v, x * v, x / v; v is one number, or an array that repeats along x
    "leak"                         x > 0 ? x : v * x
    "relu"                         x > 0 ? x : 0; v is not used
    "sum"                          x + v * old, where the product and the sum are rounded
    "fma"                          x + v * old, rounded once
"""
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, fmaf
from libc.stdint cimport int32_t

from qops._kernels.core.float_stage cimport FloatRow, float_codes_of
from qops._kernels.core.maker cimport BLOCK
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport at_a_line, walk

import numpy as np

cnp.import_array()

cdef extern from "numpy/arrayobject.h":
    bint PyArray_ISCARRAY_RO(cnp.ndarray a)

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
cdef dict KINDS = {
    "add": ADD, "multiply": MULTIPLY, "divide": DIVIDE, "relu": RELU, "leak": LEAK, "sum": SUM, "fma": FMA,
}

ctypedef struct Step:
    int kind
    const float *values  # the operand, repeated to fill a block; NULL if it is one number, the factor
    Py_ssize_t size  # how many values there are before they repeat
    float factor

ctypedef struct Work:
    Step *steps
    Py_ssize_t count, block
    bint of_sums  # whether x holds int32 sums, or the floats themselves
    float *old
    float *floats  # of a block
    char *codes
    int typenum, itemsize
    FloatRow row

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


cdef void make_step(const Step *s, float *x, const float *old, Py_ssize_t n) noexcept nogil:
    if s.kind <= DIVIDE and s.values == NULL:
        make_one(s, x, n)
    elif s.kind == ADD:
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


cdef void make_block(const Work *w, const int32_t *s, float *x, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Make the steps on the n elements from `first` on: of the sums s, if there are sums, else of x."""
    cdef Py_ssize_t i
    if w.of_sums:
        convert(s, x, n)
    for i in range(w.count):
        make_step(w.steps + i, x, w.old + first if w.old != NULL else NULL, n)


cdef void make_floats(char** data, Py_ssize_t size, void* using) noexcept nogil:
    """Make all steps on a block while it is in the nearest cache, then on the next."""
    cdef const Work *w = <Work*>using
    cdef float *x = <float*>data[0]
    cdef Py_ssize_t first
    for first from 0 <= first < size by w.block:
        make_block(w, <int32_t*>(x + first), x + first, first, min(w.block, size - first))


cdef void make_codes(char** data, Py_ssize_t size, void* using) noexcept nogil:
    """Make codes of int32 sums. The floats of all blocks use the same memory, of one block."""
    cdef const Work *w = <Work*>using
    cdef Py_ssize_t first, n
    for first from 0 <= first < size by w.block:
        n = min(w.block, size - first)
        make_block(w, <int32_t*>data[0] + first, w.floats, first, n)
        float_codes_of(w.floats, w.typenum, w.codes + first * w.itemsize, n, w.row)


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


cdef bint stay_finite(const Work *w) noexcept nogil:
    """Whether the steps give finite floats for all int32 sums, if `old` is made of codes."""
    cdef double bound = S32_BOUND
    cdef const Step *s
    cdef Py_ssize_t i
    for i in range(w.count):
        s = w.steps + i
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


cdef list set_steps(Step *c_steps, steps, Py_ssize_t block):
    """Fill `c_steps`. They point into the arrays of the list that is returned, so it must outlive them."""
    cdef cnp.ndarray values
    cdef Py_ssize_t i
    alive = []
    for i, (name, operand) in enumerate(steps):
        c_steps[i].kind = KINDS[name]
        c_steps[i].values, c_steps[i].size = NULL, 0
        if isinstance(operand, cnp.ndarray):
            values = at_a_line(block, cnp.NPY_FLOAT32)
            values.reshape(-1, operand.size)[:] = operand.ravel()
            c_steps[i].size = operand.size
            c_steps[i].values = <const float *>cnp.PyArray_DATA(values)
            alive.append(values)
        else:
            c_steps[i].factor = operand
    return alive


cdef object set_work(Work *w, cnp.ndarray x, steps, cnp.ndarray old):
    """Fill `w`. It points into the object that is returned, and into old, so these must outlive it."""
    cdef cnp.npy_intp bytes = len(steps) * sizeof(Step)
    cdef cnp.ndarray memory = cnp.PyArray_EMPTY(1, &bytes, cnp.NPY_UINT8, 0)
    cdef Py_ssize_t period = 1
    cdef bint adds_old = False
    for name, operand in steps:
        if isinstance(operand, cnp.ndarray):
            period = max(period, cnp.PyArray_SIZE(operand))
        adds_old = adds_old or name == "sum" or name == "fma"
    if not cnp.PyArray_ISCARRAY(x) or old is not None and not PyArray_ISCARRAY_RO(old):
        raise ValueError("x, old: expected arrays in C order")
    if adds_old and (old is None or old.size != x.size):
        raise ValueError("old: expected as many elements as x has, for a step that adds them")
    w.steps, w.count = <Step *>cnp.PyArray_DATA(memory), len(steps)
    w.block = period * max(1, BLOCK // period)
    w.of_sums = cnp.PyArray_TYPE(x) == cnp.NPY_INT32
    w.old = NULL if old is None else <float *>cnp.PyArray_DATA(old)
    return memory, set_steps(w.steps, steps, w.block) if cnp.PyArray_SIZE(x) else None


def finish(cnp.ndarray x, steps, cnp.ndarray old=None):
    """Make `steps` on x, an int32 or float32 array in C order, in its own memory; return that memory as float32.

    An array among the operands runs along the last axes of x, so of two sizes one divides the other. `old` is a float32
    array in C order with as many elements as x, for the steps that need one.
    """
    cdef Work w
    alive = set_work(&w, x, steps, old)
    walk(make_floats, &w, x)
    del alive  # the steps have pointed into it until here
    return x.view(np.float32)


def finish_codes(cnp.ndarray x, steps, cnp.ndarray old, FloatRow row, cnp.ndarray out):
    """Make `steps` on int32 sums x, and write the codes of `row` to `out`, block by block.

    Return False, with nothing done, if a float might not be finite. `old` is as in `finish`, and made of codes. `out`
    is x itself, or does not overlap it: uint8, int8 or int32 in C order.
    """
    cdef Work w
    cdef cnp.ndarray floats
    cdef bint is_finite
    w.typenum, w.itemsize, w.row = cnp.PyArray_TYPE(out), <int>cnp.PyArray_ITEMSIZE(out), row
    if w.typenum != cnp.NPY_UINT8 and w.typenum != cnp.NPY_INT8 and w.typenum != cnp.NPY_INT32:
        raise TypeError(f"out: expected uint8, int8 or int32, got {(<object>out).dtype}")
    if cnp.PyArray_TYPE(x) != cnp.NPY_INT32:
        raise TypeError(f"x: expected int32, got {(<object>x).dtype}")
    if not cnp.PyArray_ISCARRAY(out) or cnp.PyArray_SIZE(out) != cnp.PyArray_SIZE(x):
        raise ValueError("out: expected an array in C order with as many elements as x")
    alive = set_work(&w, x, steps, old)
    if cnp.PyArray_SIZE(x) == 0:
        return True
    floats = at_a_line(w.block, cnp.NPY_FLOAT32)
    w.floats, w.codes = <float *>cnp.PyArray_DATA(floats), cnp.PyArray_BYTES(out)
    is_finite = stay_finite(&w)
    if is_finite:
        walk(make_codes, &w, x)
    del alive  # the steps have pointed into it until here
    return is_finite

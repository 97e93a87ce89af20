"""The integer steps that TensorFlow's Uniform* ops have around a stage: codes -> int32 before it, int32 -> codes after.

In int32, which wraps. An int32 code is read as a float32, so with 24 bits; from 2**31 - 64 on that is 2**31, of
which x86 makes -2**31.
"""

cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.core.lookup cimport look_up
from qops._kernels.core.rounding cimport HALF_UP, rounded_f32, truncate_x86_s32
from qops._kernels.core.tiers cimport tier
from qops._kernels.core.walk cimport STREAM, walk

cnp.import_array()

ctypedef fused code:
    uint8_t
    int8_t
    int32_t


cdef extern from "tensorflow/uniform.h":
    ctypedef struct Ends "uniform_numbers":
        int32_t zero_point, lowest, highest
        float scale
        int typenum  # of the codes
    Py_ssize_t uniform_codes__simd(int, const float*, void*, int, Py_ssize_t, Ends, bint) nogil


cdef inline int32_t near(code q, int32_t zero_point) noexcept nogil:
    cdef int32_t read = q
    if code is int32_t:
        read = truncate_x86_s32(<float>q)
    return <int32_t>(<uint32_t>read - <uint32_t>zero_point)


# ---------------------------------------------------------------- before


cdef void near_s32(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef const int32_t* q = <int32_t*>data[0]
    cdef int32_t* y = <int32_t*>data[1]
    cdef int32_t zero_point = (<Ends*>using).zero_point
    cdef Py_ssize_t i
    for i in range(n):
        y[i] = near(q[i], zero_point)


def less_zero_point(cnp.ndarray q, int32_t zero_point, cnp.ndarray out):
    """out (int32) = q - zero_point, of int32 codes."""
    cdef Ends p = Ends(zero_point, 0, 0, 0, 0)
    walk(near_s32, &p, q, out)


# ---------------------------------------------------------------- after


cdef inline int32_t cut_to(uint32_t x, int32_t lowest, int32_t highest) noexcept nogil:
    """The low 32 bits of a number, clamped in 32 bits: more of them at a time."""
    cdef int32_t v = <int32_t>x
    v = lowest if v < lowest else v
    return highest if v > highest else v


cdef void cut(const int32_t* x, code* c, Py_ssize_t n, Ends p) noexcept nogil:
    """c = clamp(x + zero_point), which C cuts to the type."""
    cdef Py_ssize_t i
    for i in range(n):
        c[i] = <code>cut_to(<uint32_t>x[i] + <uint32_t>p.zero_point, p.lowest, p.highest)


cdef void cut_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Ends p = (<Ends*>using)[0]
    if p.typenum == cnp.NPY_UINT8:
        cut(<int32_t*>data[0], <uint8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        cut(<int32_t*>data[0], <int8_t*>data[1], n, p)
    else:
        cut(<int32_t*>data[0], <int32_t*>data[1], n, p)


def with_zero_point(cnp.ndarray x, int32_t zero_point, int32_t lowest, int32_t highest, cnp.ndarray out):
    """out (uint8, int8 or int32) = clamp(x + zero_point, lowest, highest), of int32 numbers."""
    cdef Ends p = Ends(zero_point, lowest, highest, 0, cnp.PyArray_TYPE(out))
    walk(cut_loop, &p, x, out)


cdef void sum_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef const int32_t* x = <int32_t*>data[0]
    cdef const int32_t* y = <int32_t*>data[1]
    cdef int32_t* z = <int32_t*>data[2]
    cdef Ends p = (<Ends*>using)[0]
    cdef Py_ssize_t i
    for i in range(n):
        z[i] = cut_to(<uint32_t>x[i] + <uint32_t>y[i] + <uint32_t>p.zero_point, p.lowest, p.highest)


def sum_with_zero_point(cnp.ndarray x, cnp.ndarray y, int32_t zero_point, int32_t lowest, int32_t highest,
                        cnp.ndarray out):
    """out = clamp(x + y + zero_point, lowest, highest), all of int32; x and y broadcast."""
    cdef Ends p = Ends(zero_point, lowest, highest, 0, cnp.NPY_INT32)
    walk(sum_loop, &p, x, y, out)


# ---------------------------------------------------------------- floats


cdef void quantize_f32(const float* x, code* c, Py_ssize_t n, Ends p) noexcept nogil:
    """c = clamp(int32(floor(x * scale + 0.5)) + zero_point), which C cuts to the type."""
    cdef Py_ssize_t size = sizeof(code)
    cdef Py_ssize_t i = uniform_codes__simd(tier(), x, c, size, n, p, size * n >= STREAM)
    cdef int32_t steps
    for i in range(i, n):
        steps = truncate_x86_s32(rounded_f32(x[i] * p.scale, HALF_UP))
        c[i] = <code>cut_to(<uint32_t>steps + <uint32_t>p.zero_point, p.lowest, p.highest)


cdef void quantize_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Ends p = (<Ends*>using)[0]
    if p.typenum == cnp.NPY_UINT8:
        quantize_f32(<float*>data[0], <uint8_t*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        quantize_f32(<float*>data[0], <int8_t*>data[1], n, p)
    else:
        quantize_f32(<float*>data[0], <int32_t*>data[1], n, p)


def quantize(cnp.ndarray x, float inverse, int32_t zero_point, int32_t lowest, int32_t highest, cnp.ndarray out):
    """out (uint8, int8 or int32) = the codes of float32 values, `inverse` 1 / scale."""
    cdef Ends p = Ends(zero_point, lowest, highest, inverse, cnp.PyArray_TYPE(out))
    walk(quantize_loop, &p, x, out)


# ---------------------------------------------------------------- codes that only have a value, or another code


cdef void values(const code* q, float* x, Py_ssize_t n, Ends p) noexcept nogil:
    """x = float32(q - zero_point) * scale."""
    cdef Py_ssize_t i
    for i in range(n):
        x[i] = <float>near(q[i], p.zero_point) * p.scale


cdef void values_loop(char** data, Py_ssize_t n, void* using) noexcept nogil:
    cdef Ends p = (<Ends*>using)[0]
    if p.typenum == cnp.NPY_UINT8:
        values(<uint8_t*>data[0], <float*>data[1], n, p)
    elif p.typenum == cnp.NPY_INT8:
        values(<int8_t*>data[0], <float*>data[1], n, p)
    else:
        values(<int32_t*>data[0], <float*>data[1], n, p)


def dequantize(cnp.ndarray q, float scale, int32_t zero_point, cnp.ndarray out):
    """out (float32) = the values of uint8, int8 or int32 codes."""
    cdef Ends p = Ends(zero_point, 0, 0, scale, cnp.PyArray_TYPE(q))
    walk(values_loop, &p, q, out)


def recode(cnp.ndarray q, cnp.ndarray table, cnp.ndarray out):
    """out (8 bits) = table[byte of q] of 8-bit codes; table: 256 bytes."""
    look_up(q, cnp.PyArray_DATA(table), out)

"""Sums of two arrays of 8-bit codes, element by element, each multiplied by a factor, in int32."""

from qops._kernels.machine.tiers cimport tier

cdef extern from "stage/weighted_sum.h":
    Py_ssize_t weighted_sum__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, WeightedSum) nogil


cdef void weighted_sum(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = (k + a * ka + b * kb) >> right_shift, for `walk`; `using` is a WeightedSum."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef WeightedSum p = (<WeightedSum*>using)[0]
    cdef Py_ssize_t i
    for i in range(weighted_sum__simd(tier(), a, b, c, n, p), n):
        c[i] = (p.k + (a[i] ^ p.flip_a) * p.ka + (b[i] ^ p.flip_b) * p.kb) >> p.right_shift

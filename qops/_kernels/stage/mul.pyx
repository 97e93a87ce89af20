"""Products of two arrays of uint8 codes, element by element, in int32, and the range of int32 codes for products."""

cimport numpy as cnp
from libc.math cimport isfinite
from libc.stdint cimport INT16_MAX, INT16_MIN, int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.arrays.codes cimport code_type_of
from qops._kernels.machine.tiers cimport tier
from qops._kernels.arrays.walk cimport walk
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()

cdef extern from "stage/mul.h":
    ctypedef struct product_params:
        int32_t a_offset, b_offset, left_shift
    Py_ssize_t products__simd(int, const uint8_t*, const uint8_t*, int32_t*, Py_ssize_t, product_params) nogil


cdef struct ProductLoop:
    product_params p
    bint narrow  # whether 16 bits hold both factors, the first one after its shift


cdef inline bint has_16_bits(int64_t offset, int left_shift) noexcept nogil:
    cdef int64_t factor = <int64_t>1 << left_shift
    return INT16_MIN <= -offset * factor and (code_type_of(False, 1).highest - offset) * factor <= INT16_MAX


cdef void products(char** data, Py_ssize_t n, void* using) noexcept nogil:
    """c = (a - a_offset) * (b - b_offset) << left_shift, modulo 2**32."""
    cdef const uint8_t* a = <uint8_t*>data[0]
    cdef const uint8_t* b = <uint8_t*>data[1]
    cdef int32_t* c = <int32_t*>data[2]
    cdef product_params r = (<ProductLoop*>using).p
    cdef Py_ssize_t i = 0
    if (<ProductLoop*>using).narrow:
        i = products__simd(tier(), a, b, c, n, r)
    for i in range(i, n):
        c[i] = <int32_t>((a[i] - <uint32_t>r.a_offset) * (b[i] - <uint32_t>r.b_offset) << r.left_shift)


cpdef object multiply(cnp.ndarray a, int32_t a_offset, cnp.ndarray b, int32_t b_offset, int left_shift,
                      cnp.ndarray out):
    """out = (a - a_offset) * (b - b_offset) << left_shift, modulo 2**32, of uint8 arrays that broadcast."""
    cdef ProductLoop s
    s.p = product_params(a_offset, b_offset, left_shift)
    s.narrow = has_16_bits(a_offset, left_shift) and has_16_bits(b_offset, 0)
    walk(products, &s, a, b, out)


cpdef double product_max(float a_min, float a_max, float b_min, float b_max, str names) except? -1:
    """Give the max of the range of int32 codes whose step is the step of a times the step of b; the min is -max.

    It is 2**31 * (step of a * step of b) in float32, for ranges of uint8 codes; ValueError beyond float32.
    """
    cdef float steps = code_type_of(False, 1).steps, half = code_type_of(True, 4).steps // 2
    cdef float top = ((a_max - a_min) / steps) * ((b_max - b_min) / steps) * half
    if not isfinite(top):
        raise bad_value(names, f"the product of the ranges {(a_min, a_max)} and {(b_min, b_max)} is beyond float32")
    return top

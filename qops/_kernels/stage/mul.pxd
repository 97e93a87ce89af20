cimport numpy as cnp
from libc.stdint cimport int32_t

cpdef object multiply(cnp.ndarray a, int32_t a_offset, cnp.ndarray b, int32_t b_offset, int left_shift,
                      cnp.ndarray out)
cpdef double product_max(float a_min, float a_max, float b_min, float b_max, str names) except? -1

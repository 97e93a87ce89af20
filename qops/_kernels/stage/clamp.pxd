cimport numpy as cnp
from libc.stdint cimport int64_t

cpdef object clamp(cnp.ndarray x, int64_t lo, int64_t hi, cnp.ndarray out)

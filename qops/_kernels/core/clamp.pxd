cimport numpy as cnp

cpdef object clamp_u8(cnp.ndarray x, int lo, int hi, cnp.ndarray out)

cimport numpy as cnp

cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, rounding, cnp.ndarray out)

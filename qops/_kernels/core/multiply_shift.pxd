cimport numpy as cnp

cpdef object multiply_shift(cnp.ndarray x, int multiplier, int right_shift, str rounding, cnp.ndarray out)

cimport numpy as cnp

cpdef object requantize_32to8(cnp.ndarray x, double step, double lo, double hi, cnp.ndarray out)

cimport numpy as cnp
from libc.stdint cimport int32_t

cdef extern from "stage/dequantize.h":
    ctypedef struct DequantizeParams "dequantize_params":
        float plus, scale, base
        int32_t through_int32  # int32 codes pass through float32: beyond 2**31 - 64 they become -2**31
        int32_t ties_away  # ties of the product go away from zero, not to even; only for uint8 codes and a base of 0

cdef object dequantize_codes(cnp.ndarray q, DequantizeParams p, cnp.ndarray out)

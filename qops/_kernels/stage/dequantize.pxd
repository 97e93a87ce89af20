cimport numpy as cnp
from libc.stdint cimport int32_t

cdef extern from "stage/dequantize.h":
    ctypedef struct DequantizeParams "dequantize_params":
        float plus, scale, base
        int32_t through_int32  # int32 codes beyond 2**31 - 64 go the way float32 -> int32, which makes them -2**31

cdef object dequantize_codes(cnp.ndarray q, DequantizeParams p, cnp.ndarray out)

"""TensorFlow's QuantizedRelu and QuantizedRelu6."""

cimport numpy as cnp

from qops._kernels.stage.clamp cimport clamp
from qops._kernels.tensorflow.ends cimport flush
from qops._kernels.tensorflow.formulas cimport Codes, float_to_code, s32_codes, u8_codes

cnp.import_array()


def cut(cnp.ndarray q, float lo, float hi, top, cnp.ndarray out):
    """out = min(max(q, code of 0), code of `top`) for uint8 or int32 codes. If `top` is None, there is no min.

    The range (lo, hi) of the codes need not hold 0 or `top`. Subnormal ends are read as 0.
    """
    lo, hi = flush(lo), flush(hi)
    cdef Codes codes = u8_codes() if cnp.PyArray_ITEMSIZE(q) == 1 else s32_codes()
    clamp(q, float_to_code(0, lo, hi, codes), codes.highest if top is None else float_to_code(top, lo, hi, codes), out)

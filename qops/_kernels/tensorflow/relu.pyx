"""TensorFlow's QuantizedRelu and QuantizedRelu6."""

cimport numpy as cnp

from qops._kernels.stage.clamp cimport clamp
from qops._kernels.tensorflow.ends cimport flush
from qops._kernels.tensorflow.formulas cimport QuantizedType, float_to_code, qint32, quint8

cnp.import_array()


def cut(cnp.ndarray q, float lo, float hi, top, cnp.ndarray out):
    """out = min(max(q, code of 0), code of `top`) for uint8 or int32 codes. If `top` is None, there is no min.

    The range (lo, hi) of the codes need not hold 0 or `top`. Subnormal ends are read as 0.
    """
    lo, hi = flush(lo), flush(hi)
    cdef QuantizedType codes = quint8() if cnp.PyArray_ITEMSIZE(q) == 1 else qint32()
    clamp(q, float_to_code(0, lo, hi, codes), codes.highest if top is None else float_to_code(top, lo, hi, codes), out)

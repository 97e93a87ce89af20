"""TensorFlow's products of codes: the offsets of the factors and the range of the results."""

cimport numpy as cnp
from libc.math cimport fabs
from libc.stdint cimport int32_t

from qops._kernels.stage.rounding cimport wrap_s32
from qops._kernels.stage.mul cimport multiply as products, product_max
from qops._kernels.tensorflow.ends cimport flush
from qops._kernels.tensorflow.formulas cimport float_to_quantized, quint8

cnp.import_array()

cdef double smallest = 2.0 ** (31 - 126)  # max of a range whose step is the smallest normal float32


cpdef int32_t offset(float lo, float hi) noexcept:
    """Give the uint8 code of 0 in the range (lo, hi), not clamped; subnormal ends count as 0. It wraps in 32 bits."""
    return wrap_s32(float_to_quantized(0, flush(lo), flush(hi), quint8()))


def range_of_products(tuple a, tuple b, str names):
    """The max of the range of int32 codes whose step is step(a) * step(b); 0 if that is subnormal.

    a and b are (uint8 codes, min, max); subnormal ends count as 0.
    """
    cdef double top = product_max(flush(a[1]), flush(a[2]), flush(b[1]), flush(b[2]), names)
    return top if fabs(top) >= smallest else 0 * top


def multiply(tuple a, tuple b, cnp.ndarray out):
    """out = (a - its offset) * (b - its offset), modulo 2**32. a and b are (uint8 codes, min, max) and broadcast."""
    products(a[0], offset(a[1], a[2]), b[0], offset(b[1], b[2]), 0, out)

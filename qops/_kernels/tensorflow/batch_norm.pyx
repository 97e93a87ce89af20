"""TensorFlow's QuantizedBatchNormWithGlobalNormalization, in fixed point of 11 fractional bits."""

cimport numpy as cnp
from libc.math cimport isfinite, sqrtf
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

from qops._kernels.stage.rounding cimport wrap_s32
from qops._kernels.tensorflow.formulas cimport float_to_code, quantized_to_float, qint32, quint8

cnp.import_array()

cdef float LIMIT = 1048576  # the range of the result is -LIMIT..LIMIT


cdef inline int32_t code_of(float x) noexcept nogil:
    """The int32 code of a value in the range of the result."""
    return <int32_t>float_to_code(x, -LIMIT, LIMIT, qint32())


cdef inline float value_of(const uint8_t* codes, Py_ssize_t i, float lo, float hi) noexcept nogil:
    return quantized_to_float(codes[i], lo, hi, quint8())


cdef uint8_t* bytes_of(tuple tensor):
    return <uint8_t*>cnp.PyArray_DATA(tensor[0])


def factors(tuple mean, tuple variance, tuple beta, tuple gamma, float epsilon, bint scaled):
    """Give (scales, offsets): the factor and the added term of each channel, as int32 codes.

    `scaled`: the channels are multiplied by gamma. None if 1 / sqrt(variance + epsilon) of a channel is not finite.
    """
    cdef Py_ssize_t n = cnp.PyArray_DIM(mean[0], 0), i
    cdef cnp.ndarray scales = np.empty(n, np.int32), offsets = np.empty(n, np.int32)
    cdef int32_t* scale_codes = <int32_t*>cnp.PyArray_DATA(scales)
    cdef int32_t* offset_codes = <int32_t*>cnp.PyArray_DATA(offsets)
    cdef float scale, offset
    for i in range(n):
        scale = <float>1 / sqrtf(value_of(bytes_of(variance), i, variance[1], variance[2]) + epsilon)
        if not isfinite(scale):
            return None
        if scaled:
            scale = scale * value_of(bytes_of(gamma), i, gamma[1], gamma[2])
        offset = -value_of(bytes_of(mean), i, mean[1], mean[2]) * scale
        offset = offset + value_of(bytes_of(beta), i, beta[1], beta[2])
        scale_codes[i], offset_codes[i] = code_of(scale), code_of(offset)
    return scales, offsets


cdef void normalized(const uint8_t* x, int32_t* y, Py_ssize_t rows, Py_ssize_t channels, const int32_t* codes,
                     const int32_t* scales, const int32_t* offsets, int32_t one) noexcept nogil:
    """y = codes[x] * scale / one + offset. The product and the sum wrap; the division truncates."""
    cdef Py_ssize_t _, c
    for _ in range(rows):
        for c in range(channels):
            y[c] = wrap_s32(<int64_t>(wrap_s32(<int64_t>codes[x[c]] * scales[c]) // one) + offsets[c])
        x, y = x + channels, y + channels


def normalize(tuple t, cnp.ndarray scales, cnp.ndarray offsets, cnp.ndarray out):
    """Write the normalized codes of a contiguous tensor, channels last, to `out`."""
    cdef cnp.ndarray q = t[0]
    cdef int32_t[256] codes
    cdef const uint8_t* x = <uint8_t*>cnp.PyArray_DATA(q)
    cdef int32_t* y = <int32_t*>cnp.PyArray_DATA(out)
    cdef const int32_t* scale_codes = <int32_t*>cnp.PyArray_DATA(scales)
    cdef const int32_t* offset_codes = <int32_t*>cnp.PyArray_DATA(offsets)
    cdef Py_ssize_t channels = cnp.PyArray_DIM(scales, 0), i
    cdef int32_t one = code_of(1)
    for i in range(256):
        codes[i] = code_of(quantized_to_float(i, t[1], t[2], quint8()))
    with nogil:
        normalized(x, y, cnp.PyArray_SIZE(q) // channels, channels, codes, scale_codes, offset_codes, one)

from libc.stdint cimport int32_t, uint8_t, uint32_t

from qops._kernels.conv.rows cimport Convolution
from qops._kernels.gemm.tile cimport gemm_depthwise

cdef enum:
    COLUMN = 64  # the most rows of a column that are made at once

ctypedef struct Woven:  # the parts of a depthwise convolution that all rows share
    gemm_depthwise row
    Py_ssize_t left, inside  # bytes of padding and of the image in a row
    Py_ssize_t plane  # from one quad of rows to the next, in quads
    uint32_t *quads
    const uint8_t *padding  # a row of it

cdef Py_ssize_t woven_bytes(const Convolution *p) noexcept nogil
cdef Woven weave_for(const Convolution *p, void *memory) noexcept nogil
cdef void depthwise_rows(const Convolution *p, const Woven *d, const uint8_t *x, Py_ssize_t number, Py_ssize_t first,
                         Py_ssize_t rows, int32_t *y) noexcept nogil

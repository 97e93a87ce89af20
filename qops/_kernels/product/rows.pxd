from libc.stdint cimport int8_t, int32_t, uint8_t

from qops._kernels.core.maker cimport Maker
from qops._kernels.product.image cimport Image
from qops._kernels.product.tile cimport gemm_kernel

ctypedef struct Convolution:
    Image image
    const gemm_kernel *kernel
    bint amx  # on the matrix unit
    Py_ssize_t groups, oc, kh, kw, oh, ow  # oc of one group
    Py_ssize_t sh, sw, dh, dw
    const uint8_t *panels  # of each group
    const int32_t *depthwise  # or weights [tap][channel], if it is depthwise
    const int8_t *depthwise_quads  # the same in quads, if the tier takes them
    const int32_t *sums  # of the weights of each output, padded_columns(oc) a group
    int32_t times  # y begins with times * sums
    int32_t *y
    Py_ssize_t y_image, y_row, y_column, y_channel  # elements from one to the next
    bint y_elsewhere  # y is not NHWC: rows are made apart and then put there
    const Maker *maker  # what makes codes of rows that are made apart, in place of y; or NULL
    char *codes  # NHWC
    int code_size
    bint code_signed

cdef run_convolution(const Convolution *p, Py_ssize_t images, Py_ssize_t num_threads, arrays)

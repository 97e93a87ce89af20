from libc.stdint cimport int32_t, uint8_t, uint32_t

from qops._kernels.stage.stage cimport Stage
from qops._kernels.conv.image cimport Image
from qops._kernels.gemm.tile cimport gemm_kernel
from qops._kernels.machine.caches cimport Caches

ctypedef struct Convolution:  # a convolution, see convolution.pyx
    Image image
    const gemm_kernel *kernel
    Caches caches  # their sizes when the op began, see run_convolution
    bint amx  # whether the matrix unit multiplies
    Py_ssize_t groups, oc, kh, kw, oh, ow  # oc: output channels of one group
    Py_ssize_t sh, sw, dh, dw  # strides and dilations
    Py_ssize_t taps, quads  # a window reads `taps` runs of `quads` quads; a run is one tap, or a row of taps
    const uint8_t *panels  # packed weights, group after group
    const int32_t *depthwise  # weights of a depthwise convolution, as gemm/depthwise.h takes them, or NULL
    const int32_t *sums  # the sum of the packed weights of each output channel, as `PackedWeights` pads them
    int32_t times  # accumulators begin with times * sums; times is 1 for depthwise weights
    const uint32_t *w_zero_points  # zero points of the packed weights of each output channel; or NULL
    const uint32_t *window_sums  # the sum of each window, for each image, place and group
    bint has_stage  # whether accumulators become codes
    Stage stage  # takes accumulators of whole pixels to codes
    char *y  # the result
    int y_type  # numpy's number of the dtype of y
    int y_size  # bytes of an element of y, 1 or 4
    Py_ssize_t y_image, y_row, y_column, y_channel  # strides in bytes
    bint y_is_strided  # whether y is not contiguous NHWC: rows are made in scratch memory and then copied there

cdef int run_convolution(const Convolution *p, Py_ssize_t images, Py_ssize_t num_threads) except -1

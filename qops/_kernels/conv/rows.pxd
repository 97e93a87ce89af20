from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.stage.stage cimport Stage
from qops._kernels.conv.image cimport Image
from qops._kernels.gemm.tile cimport gemm_kernel
from qops._kernels.machine.caches cimport Caches

ctypedef struct Convolution:
    Image image
    const gemm_kernel *kernel
    Caches caches  # as they were when the op began, see run_convolution
    bint amx  # on the matrix unit
    Py_ssize_t groups, oc, kh, kw, oh, ow  # oc of one group
    Py_ssize_t sh, sw, dh, dw
    const uint8_t *panels  # of each group
    const int32_t *depthwise  # or weights [tap][channel], if it is depthwise
    const int8_t *depthwise_quads  # the same in quads, if the tier takes them
    const int32_t *sums  # of the weights of each output, padded_columns(oc) a group
    int32_t times  # y begins with times * sums
    const uint32_t *zeros  # how much too high the weights of each output are; or NULL
    const uint32_t *windows  # sums of what each group's windows hold, at each place of each image
    const uint32_t *nothing  # oc times 0
    bint has_stage  # sums become codes
    Stage stage  # of whole pixels
    char *y
    int y_type  # numpy's number
    int y_size  # bytes of a sum, or of a code, which has 1 or 4
    Py_ssize_t y_image, y_row, y_column, y_channel  # bytes from one to the next
    bint y_elsewhere  # y is not NHWC: rows are made apart and then put there

cdef int run_convolution(const Convolution *p, Py_ssize_t images, Py_ssize_t num_threads) except -1

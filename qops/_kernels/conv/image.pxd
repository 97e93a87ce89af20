from libc.stdint cimport uint8_t

from qops._kernels.gemm.tile cimport gemm_kernel

ctypedef struct Image:
    const gemm_kernel *kernel  # says how quads are made
    Py_ssize_t groups, channels  # channels of one group
    Py_ssize_t height, width, top, left
    const uint8_t *x  # u8 or s8
    Py_ssize_t image, row, column, channel  # bytes from one to the next
    bint x_signed
    uint8_t pad  # what the padding holds
    bint in_place  # the pixels of x are quads, and no padding is read
    Py_ssize_t pixels  # of one row that are read, the padding among them

cdef Py_ssize_t group_bytes(const Image *p) noexcept nogil
cdef Py_ssize_t pixel_bytes(const Image *p) noexcept nogil
cdef Py_ssize_t row_bytes(const Image *p) noexcept nogil
cdef const uint8_t *image_rows(const Image *p, Py_ssize_t number, Py_ssize_t first, Py_ssize_t rows,
                               uint8_t *buffer) noexcept nogil

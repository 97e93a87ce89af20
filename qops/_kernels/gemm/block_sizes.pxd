from libc.stdint cimport int32_t, uint8_t

from qops._kernels.gemm.blocks cimport Product

ctypedef struct Blocks:  # the sizes of blocks, and the memory for packed ones
    Py_ssize_t m, n, k  # rows of A, columns of a strip, rows of B in a K block
    Py_ssize_t quads  # the quads of k
    Py_ssize_t depth  # how many quads are multiplied before C is read or written again
    bint copies  # whether rows of A are copied although they have the form of quads already
    uint8_t *a  # packed or copied rows of A
    uint8_t *b  # a packed strip of B
    int32_t *sums  # its column sums

cdef void choose_blocks(const Product *p, Blocks *blocks) noexcept nogil

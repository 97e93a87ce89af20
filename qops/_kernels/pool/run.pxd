"""The struct of a pool over images: its kind, where its windows lie, and its scratch memory."""
from libc.stdint cimport int32_t

from qops._kernels.arrays.axis cimport AxisWindow
from qops._kernels.pool.means cimport Means

cdef extern from "pool/taps.h" nogil:
    ctypedef enum PoolKind "pool_kind":
        MAX_U8 "POOL_MAX_U8"
        MAX_S8 "POOL_MAX_S8"
        SUM_U8_S16 "POOL_SUM_U8_S16"
        SUM_S8_S16 "POOL_SUM_S8_S16"
        SUM_S16 "POOL_SUM_S16"
        SUM_U16_S32 "POOL_SUM_U16_S32"
        SUM_S16_S32 "POOL_SUM_S16_S32"
        SUM_S32 "POOL_SUM_S32"
    ctypedef struct Taps "pool_taps":
        Py_ssize_t pixels, stride, pitch, channels, taps, tap_stride
        int32_t start


cdef struct Pool:
    PoolKind down, across  # how a window is combined, first vertically, then horizontally
    int32_t down_start, across_start  # what these begin with: see `start` in taps.h
    Py_ssize_t image_bytes, combined_bytes  # bytes of an element of the image, and of a result before a mean is made
    Py_ssize_t result_bytes  # bytes of an element of the result
    AxisWindow rows, columns  # vertical and horizontal
    Py_ssize_t channels, oh, ow
    Py_ssize_t whole_begin, whole_end  # the range of windows in a row whose taps all lie on the image
    bint is_padded  # whether rows of `combined` include the padding of the image
    Py_ssize_t before, padded_width  # pixels of padding at the start of such a row, and of the whole row
    Py_ssize_t block  # the most rows of results that are made together
    const Means *means  # NULL if the combined windows are the result
    char *combined  # scratch memory: rows of vertically combined pixels
    char *at_every_pixel  # scratch memory: the windows at every pixel of these, if the stride is above 1
    char *sums  # scratch memory: the sums from which means are made


cdef Py_ssize_t size_of(PoolKind kind) noexcept nogil
cdef int run(Pool *p, const char *x, Py_ssize_t images, char *y) noexcept nogil

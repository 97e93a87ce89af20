"""A pool over images: what it does, where its windows lie, and the memory that it works in."""
from libc.stdint cimport int32_t

from qops._kernels.arrays.window cimport Axis
from qops._kernels.pool.means cimport Means
from qops._kernels.pool.taps cimport Kind

cdef struct Span:  # the taps of a window that lie on the image along one axis: where the first is, and how many
    Py_ssize_t begin, count


cdef struct Pool:
    Kind down, across  # how a window is combined
    int32_t nothing, start  # what the combination begins with, down and across: see taps.h
    Py_ssize_t given, size  # bytes of an element of the image, and of a combined one
    Axis rows, columns
    Py_ssize_t height, width, channels, kh, kw, oh, ow
    Py_ssize_t whole_begin, whole_end  # the windows of a row that no end of the image cuts
    bint is_padded  # whether rows of `combined` have the padding of the image
    Py_ssize_t before, wide  # pixels of padding before such a row, and of all of it
    Py_ssize_t block  # the most rows of results that are made together
    const Means *means  # NULL: what windows are combined into is the result
    char *combined  # scratch memory: rows of pixels combined down
    char *every  # the windows at every pixel of these, of which some are copied
    char *sums  # of which means are made


cdef Py_ssize_t size_of(Kind kind) noexcept nogil
cdef Span span_of(const Axis *axis, Py_ssize_t place, Py_ssize_t size, Py_ssize_t kernel) noexcept nogil
cdef int run(Pool *p, const char *x, Py_ssize_t images, char *y) noexcept nogil

from libc.stdint cimport uint8_t

cdef extern from "pool/pixels.h" nogil:
    ctypedef struct Pixels "pixels":
        Py_ssize_t count, stride, channels, taps, step, pitch

ctypedef void (*Combine)(const char *x, Pixels p, char *y) noexcept nogil

ctypedef struct Combination:  # what becomes of a window: first down, then across
    Combine down, across
    Py_ssize_t given, size  # bytes of an element of the image, of a result
    uint8_t nothing  # each byte of that of an empty window

cdef Combination largest_codes(bint is_signed) noexcept nogil
cdef Combination sums_of(bint is_signed, Py_ssize_t size) noexcept nogil
cdef Combination totals_of() noexcept nogil
cdef void pick_pixels(const char *x, Py_ssize_t count, Py_ssize_t size, Py_ssize_t stride, char *y) noexcept nogil

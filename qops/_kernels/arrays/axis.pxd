"""One axis of a window: how the window of a convolution or a pool moves along one axis of an image, for every system.

A tap is one pixel of a window; a place is one position of the window, which makes one pixel of the result. Extents are
counted in 64 bits, because Py_ssize_t may have 32.
"""
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport INT64_MAX, int64_t

cdef struct AxisWindow:
    Py_ssize_t kernel, stride, dilation  # taps; the distance of places; the distance of taps
    Py_ssize_t before, after  # padding at the two ends; a SAME that cuts gives negative padding
    Py_ssize_t size  # of the image; all in pixels

cdef struct TapRange:  # the taps of a window that lie on the image, along one axis
    Py_ssize_t first, begin, count  # the first tap, the pixel of it, and how many taps

cdef class Axis:
    cdef AxisWindow window
    cdef readonly object positions

cdef tuple cuts_along(const AxisWindow *axis)


cdef inline int64_t span(const AxisWindow *axis) noexcept nogil:
    """Give the extent of a window in pixels, at most INT64_MAX."""
    if axis.kernel > 1 and axis.dilation > (INT64_MAX - 1) // (axis.kernel - 1):
        return INT64_MAX
    return <int64_t>(axis.kernel - 1) * axis.dilation + 1


cdef inline int64_t padded_size(const AxisWindow *axis) noexcept nogil:
    """Give the size of the image with its padding."""
    return <int64_t>axis.size + axis.before + axis.after


cdef inline int64_t slack(const AxisWindow *axis) noexcept nogil:
    """Give how many pixels a window can move; it is negative if the window does not fit."""
    return padded_size(axis) - span(axis)


cdef inline int64_t places(const AxisWindow *axis) noexcept nogil:
    """Give how many places the window has: 0 if it does not fit."""
    cdef int64_t room = slack(axis)
    return room // axis.stride + 1 if room >= 0 else 0


cdef inline void pad_same(AxisWindow *axis, bint odd_first, bint cuts=False) noexcept nogil:
    """Set the padding that makes ceil(size / stride) places; an odd pixel of it goes after the image, or before it.

    If pixels are left over there is no padding; or, if it `cuts`, padding is negative, truncated toward 0 in front.
    """
    cdef int64_t count = axis.size // axis.stride + (axis.size % axis.stride != 0)
    cdef int64_t total = span(axis) + ((count - 1) * axis.stride - axis.size)
    # if the padding needs more than Py_ssize_t holds, it is less, and then no window fits
    if total > <int64_t>PY_SSIZE_T_MAX - 1 - axis.size:
        total = <int64_t>PY_SSIZE_T_MAX - 1 - axis.size
    if total < 0 and not cuts:
        total = 0
    axis.before = <Py_ssize_t>((total + odd_first) // 2)  # a division of C, which truncates
    axis.after = <Py_ssize_t>(total - axis.before)


cdef inline TapRange taps_on_image(const AxisWindow *axis, Py_ssize_t place) noexcept nogil:
    """Give the taps of the window at this place that lie on the image."""
    cdef Py_ssize_t d = axis.dilation, at = place * axis.stride - axis.before
    cdef Py_ssize_t first = 0 if at >= 0 else (-at - 1) // d + 1, end = axis.kernel
    if at + (axis.kernel - 1) * d >= axis.size:
        end = 0 if at >= axis.size else (axis.size - at - 1) // d + 1
    return TapRange(first, at + first * d, max(0, end - first))

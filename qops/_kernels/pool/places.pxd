"""Places of windows over an image: which taps of a window lie on it, down and across."""
from libc.stdint cimport uint8_t

from qops._kernels.pool.pixels cimport Combination
from qops._kernels.arrays.window cimport Axis


ctypedef struct Taps:  # the taps of a window that lie on the image along one axis: the first place, and how many
    Py_ssize_t begin, count


ctypedef struct Place:  # of a window across
    Taps read  # in a row of columns with its margins
    Py_ssize_t count  # of taps on the image
    Py_ssize_t read_end, count_end  # up to which place windows read as many taps, and count as many


ctypedef struct Pool:
    Axis down, across
    Py_ssize_t height, width, channels, kh, kw, oh, ow
    Py_ssize_t margin  # pixels of padding on both sides of a row of columns
    Py_ssize_t block  # rows of results that are made together
    bint has_gaps  # there are windows that read nothing
    Place *places
    Combination combine


cdef inline Py_ssize_t wide(const Pool *p) noexcept nogil:
    return p.width + 2 * p.margin


cdef inline Taps taps_on(const Axis *axis, Py_ssize_t place, Py_ssize_t size, Py_ssize_t kernel) noexcept nogil:
    cdef Py_ssize_t d = axis.dilation, at = place * axis.stride - axis.before
    cdef Py_ssize_t first = 0 if at >= 0 else (-at + d - 1) // d, end = kernel
    if at + (kernel - 1) * d >= size:  # else the division, which takes as long as a short row, is not needed
        end = 0 if at >= size else (size - at + d - 1) // d
    return Taps(at + first * d, max(0, end - first))


cdef inline Py_ssize_t margin_of(const Axis *axis, Py_ssize_t size, Py_ssize_t kernel) noexcept nogil:
    """As wide as windows that touch the image reach beyond it; 0 if that is more than the width of the image."""
    cdef Py_ssize_t reach = min((kernel - 1) * axis.dilation, max(axis.before, axis.after))
    return reach if reach <= size else 0


cdef inline Py_ssize_t whole_rows(const Pool *p, Py_ssize_t begin) noexcept nogil:
    """How many rows of results, from this one on, can be made together: all their taps are on the image."""
    cdef Py_ssize_t rows = 0
    while rows < min(p.block, p.oh - begin) and taps_on(&p.down, begin + rows, p.height, p.kh).count == p.kh:
        rows += 1
    return rows


cdef inline void find_places(Pool *p) noexcept nogil:
    cdef Axis in_margins = p.across
    cdef Place *place
    cdef Py_ssize_t i
    in_margins.before -= p.margin
    p.has_gaps = False
    for i in range(p.ow - 1, -1, -1):
        place = p.places + i
        place.read = taps_on(&in_margins, i, wide(p), p.kw)
        place.count = taps_on(&p.across, i, p.width, p.kw).count
        p.has_gaps |= place.read.count == 0
        place.read_end = place.count_end = i + 1
        if i + 1 < p.ow and place.read.count == place[1].read.count:
            place.read_end = place[1].read_end
        if i + 1 < p.ow and place.count == place[1].count:
            place.count_end = place[1].count_end

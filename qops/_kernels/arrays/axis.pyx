"""One axis of a window as Python has it, and which taps of its windows lie on the image. See axis.pxd."""
cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t

import numpy as np

cnp.import_array()


cdef tuple cuts_along(const AxisWindow *axis):
    """Give the cuts of windows along one axis, and for each place the index of its cut.

    A cut is an array with 1 for each tap on the image and 0 for each tap on the padding. Neighbouring places with the
    same taps share a cut.
    """
    cdef Py_ssize_t count = <Py_ssize_t>places(axis), i, t, cut = -1
    of_places, found = np.empty(count, np.int64), np.zeros((count, axis.kernel), np.int64)
    cdef int64_t[::1] number = of_places
    cdef int64_t[:, ::1] cuts = found
    cdef TapRange last = TapRange(0, 0, 0), taps
    for i in range(count):
        taps = taps_on_image(axis, i)
        if i == 0 or taps.count != last.count or taps.count and taps.first != last.first:
            cut += 1
            for t in range(taps.first, taps.first + taps.count):
                cuts[cut, t] = 1
        last, number[i] = taps, cut
    return found[:cut + 1], of_places


cdef Axis axis_of(const AxisWindow *window):
    """Make the axis of these numbers, with all places."""
    cdef Axis made = Axis.__new__(Axis)
    made.window, made.positions = window[0], places(window)
    return made


@cython.final
cdef class Axis:
    """How a window moves along one axis of an image of `size` pixels, padded by `before` and `after`.

    positions: how many places the window has; 0 if it does not fit.
    """

    def __init__(self, Py_ssize_t kernel, Py_ssize_t stride=1, Py_ssize_t dilation=1, Py_ssize_t before=0,
                 Py_ssize_t after=0, Py_ssize_t size=0):
        self.window = AxisWindow(kernel, stride, dilation, before, after, size)
        self.positions = places(&self.window)

    @property
    def kernel(self):
        """The taps of the window."""
        return self.window.kernel

    @property
    def stride(self):
        """The distance of places in pixels."""
        return self.window.stride

    @property
    def dilation(self):
        """The distance of taps in pixels."""
        return self.window.dilation

    @property
    def before(self):
        """The padding in front of the image, in pixels."""
        return self.window.before

    @property
    def after(self):
        """The padding behind the image, in pixels."""
        return self.window.after

    @property
    def size(self):
        """The pixels of the image."""
        return self.window.size

    @property
    def span(self):
        """The extent of the window in pixels."""
        return span(&self.window)

    @property
    def padded(self):
        """The pixels of the image with its padding."""
        return padded_size(&self.window)

    @property
    def slack(self):
        """How many pixels the window can move; negative if it does not fit."""
        return slack(&self.window)

    def over(self, Py_ssize_t size):
        """Give the axis of images of this size."""
        cdef AxisWindow window = self.window
        window.size = size
        return axis_of(&window)

    def same(self, Py_ssize_t size, bint odd_first=False, bint cuts=False):
        """Give the axis of images of this size with the padding of `pad_same`."""
        cdef AxisWindow window = self.window
        window.size = size
        pad_same(&window, odd_first, cuts)
        return axis_of(&window)

    def placed(self, positions):
        """Give the axis with so many places, where a system counts them in its own way."""
        cdef Axis made = axis_of(&self.window)
        made.positions = positions
        return made

    def seen(self, Py_ssize_t tap):
        """Give which places have this tap on the image, and which pixels it reads, as two slices."""
        cdef const AxisWindow *w = &self.window
        cdef Py_ssize_t first = tap * w.dilation - w.before, count = self.positions  # first: the pixel of place 0
        cdef Py_ssize_t low = 0 if first >= 0 else (-first - 1) // w.stride + 1
        cdef Py_ssize_t high = 0 if first >= w.size else (w.size - 1 - first) // w.stride + 1
        high = max(low, min(count, high))
        cdef Py_ssize_t start = low * w.stride + first
        return slice(low, high), slice(start, start + (high - low) * w.stride, w.stride)

    def pixels(self, Py_ssize_t place):
        """Give the pixels of all taps at a place, int64; those below 0 and from `size` on are padding."""
        cdef const AxisWindow *w = &self.window
        return place * w.stride - w.before + np.arange(w.kernel) * w.dilation

    def __reduce__(self):
        return _axis, (self.kernel, self.stride, self.dilation, self.before, self.after, self.size, self.positions)


def _axis(*numbers):
    """Give the axis that was pickled."""
    return Axis(*numbers[:6]).placed(numbers[6])

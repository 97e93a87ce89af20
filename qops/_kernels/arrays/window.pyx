"""How the windows of convolutions and pools move over images, for every system.

A tap is one pixel of a window; a place is one position of the window, which makes one pixel of the result.
"""
cimport cython
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX
from libc.stdint cimport INT64_MAX, int64_t

import numpy as np

cnp.import_array()


cdef inline int64_t span(const Axis *axis, Py_ssize_t kernel) noexcept nogil:
    """Give the extent of a window in pixels. It is in 64 bits, because Py_ssize_t may have 32."""
    if kernel > 1 and axis.dilation > (INT64_MAX - 1) // (kernel - 1):
        return INT64_MAX
    return <int64_t>(kernel - 1) * axis.dilation + 1


cdef inline int64_t padded_size(const Axis *axis, Py_ssize_t size) noexcept nogil:
    """Give the size of an image with its padding."""
    return <int64_t>size + axis.before + axis.after


cdef inline int64_t slack(const Axis *axis, Py_ssize_t size, Py_ssize_t kernel) noexcept nogil:
    """Give how many pixels a window can move; it is negative if the window does not fit."""
    return padded_size(axis, size) - span(axis, kernel)


cdef tuple cuts_along(const Axis *axis, Py_ssize_t size, Py_ssize_t kernel):
    """Give the cuts of windows along one axis, and for each place the index of its cut.

    A cut is an array with 1 for each tap on the image and 0 for each tap on the padding. Neighbouring places with the
    same taps share a cut.
    """
    cdef Py_ssize_t places = <Py_ssize_t>(slack(axis, size, kernel) // axis.stride + 1), i, t, at, cut = -1
    of_places, found = np.empty(places, np.int64), np.empty((places, kernel), np.int64)
    cdef int64_t[::1] number = of_places
    cdef int64_t[:, ::1] cuts = found
    cdef bint is_new, within
    for i in range(places):
        is_new = i == 0
        for t in range(kernel):
            at = i * axis.stride - axis.before + t * axis.dilation
            within = 0 <= at < size
            is_new = is_new or within != cuts[cut, t]
        cut += is_new
        for t in range(kernel if is_new else 0):
            at = i * axis.stride - axis.before + t * axis.dilation
            cuts[cut, t] = 0 <= at < size
        number[i] = cut
    return found[:cut + 1], of_places


cdef void pad_same(Axis *axis, Py_ssize_t size, Py_ssize_t kernel, bint odd_one_first) noexcept:
    """Set the padding that makes ceil(size / stride) places; an odd pixel of it goes before the image or after it."""
    cdef int64_t places = (<int64_t>size + axis.stride - 1) // axis.stride
    cdef int64_t total = span(axis, kernel) + ((places - 1) * axis.stride - size)
    total = max(<int64_t>0, total)  # not of the sum itself, which Cython would hold in Py_ssize_t
    # if the padding needs more than Py_ssize_t holds, it is less, and then no window fits
    cdef Py_ssize_t most = <Py_ssize_t>min(total, <int64_t>PY_SSIZE_T_MAX - 1 - size)
    axis.before = (most + odd_one_first) // 2
    axis.after = most - axis.before


cdef Window moving(str padding, Py_ssize_t height, Py_ssize_t width, tuple kernel, tuple stride):
    """Make the window of `Window.named` from checked numbers. "SAME_CAFFE" puts an odd pixel before the image."""
    cdef Window made = Window.__new__(Window)
    made.down, made.across = Axis(stride[0], 1, 0, 0), Axis(stride[1], 1, 0, 0)
    if padding != "VALID":
        pad_same(&made.down, height, kernel[0], padding == "SAME_CAFFE")
        pad_same(&made.across, width, kernel[1], padding == "SAME_CAFFE")
    return made


@cython.final
cdef class Window:
    """How a window moves over an image. All tuples of two are (vertical, horizontal).

    stride and dilation are at least 1; with dilation 1 a window reads neighbours. padding is ((top, bottom), (left,
    right)), in pixels around the image.
    """

    def __init__(self, stride=(1, 1), dilation=(1, 1), padding=((0, 0), (0, 0))):
        cdef Axis *down = &self.down
        cdef Axis *across = &self.across
        down.stride, across.stride = stride
        down.dilation, across.dilation = dilation
        (down.before, down.after), (across.before, across.after) = padding
        if min(down.stride, across.stride) < 1:
            raise ValueError(f"stride: expected at least 1, got {stride}")
        if min(down.dilation, across.dilation) < 1:
            raise ValueError(f"dilation: expected at least 1, got {dilation}")
        if min(down.before, down.after, across.before, across.after) < 0:
            raise ValueError(f"padding: expected at least 0, got {padding}")

    @staticmethod
    def named(str padding, size, kernel, stride=(1, 1), dilation=(1, 1)):
        """Make a window with the padding that TensorFlow calls "SAME" or "VALID", for these sizes of image and kernel.

        VALID has no padding. SAME makes ceil(size / stride) places; an odd pixel of padding goes after the image.
        """
        if padding not in ("SAME", "VALID"):
            raise ValueError(f"padding: expected 'SAME' or 'VALID', got {padding!r}")
        if padding == "VALID":
            return Window(stride, dilation)
        return (<Window>Window(stride, dilation)).with_same(size[0], size[1], kernel[0], kernel[1])

    cdef Window with_same(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw):
        """Give a window of this stride and dilation with SAME padding."""
        cdef Window made = Window.__new__(Window)
        made.down, made.across = self.down, self.across
        pad_same(&made.down, height, kh, False)
        pad_same(&made.across, width, kw, False)
        return made

    @property
    def padding(self):
        """The pixels around the image, as in the constructor."""
        return (self.down.before, self.down.after), (self.across.before, self.across.after)

    @property
    def dilation(self):
        """The distance of taps, as in the constructor."""
        return self.down.dilation, self.across.dilation

    def span(self, kernel):
        """Give the extent of a window in pixels, (height, width)."""
        return span(&self.down, kernel[0]), span(&self.across, kernel[1])

    def out_size(self, size, kernel, str name="kernel"):
        """Give how many places an image of this size has, (rows, columns); if none, a ValueError names `name`."""
        cdef Py_ssize_t oh, ow
        self.places(size[0], size[1], kernel[0], kernel[1], &oh, &ow, name)
        return oh, ow

    cdef int places(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw, Py_ssize_t *oh,
                    Py_ssize_t *ow, str name="kernel") except -1:
        """Do the same for numbers: set oh and ow."""
        cdef int64_t below = slack(&self.down, height, kh), beside = slack(&self.across, width, kw)
        if not self.fits(height, width, kh, kw):
            raise ValueError(f"{name}: expected a window that fits in images of {(height, width)} padded by "
                             f"{self.padding}, got {(kh, kw)}, which spans {self.span((kh, kw))}")
        if max(padded_size(&self.down, height), padded_size(&self.across, width)) > PY_SSIZE_T_MAX:
            raise ValueError(f"{name}: images of {(height, width)} padded by {self.padding} are too large")
        oh[0] = <Py_ssize_t>(below // self.down.stride + 1)
        ow[0] = <Py_ssize_t>(beside // self.across.stride + 1)
        return 0

    cdef bint fits(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw):
        """Whether a window fits in the padded image."""
        return min(kh, kw) >= 1 and min(slack(&self.down, height, kh), slack(&self.across, width, kw)) >= 0

    cdef bint has_no_padding(self):
        """Whether there is no padding."""
        return not (self.down.before or self.down.after or self.across.before or self.across.after)

    def padded(self, image, fill, Py_ssize_t axis=2):
        """Give the image with padding of the value `fill`, or the image itself if there is no padding.

        `axis` is the axis of the height; that of the width is the next one.
        """
        cdef Py_ssize_t height = image.shape[axis], width = image.shape[axis + 1]
        if self.has_no_padding():
            return image
        pads = sum(self.padding[0]), sum(self.padding[1])
        wide = np.empty((*image.shape[:axis], height + pads[0], width + pads[1], *image.shape[axis + 2:]), image.dtype)
        wide.fill(fill)
        down = slice(self.down.before, self.down.before + height)
        across = slice(self.across.before, self.across.before + width)
        wide[(slice(None),) * axis + (down, across)] = image
        return wide

    def cuts(self, size, kernel):
        """Give which taps of windows lie on an image of this size, vertically and horizontally; see `cuts_along`."""
        return cuts_along(&self.down, size[0], kernel[0]), cuts_along(&self.across, size[1], kernel[1])

    def taps(self, image, kernel, fill):
        """Give all windows of an image (N, C, H, W) padded with `fill`: (N, C, OH, OW, KH, KW)."""
        self.out_size(image.shape[2:], kernel)
        every = np.lib.stride_tricks.sliding_window_view(self.padded(image, fill), self.span(kernel), (2, 3))
        return every[:, :, ::self.down.stride, ::self.across.stride, ::self.down.dilation, ::self.across.dilation]

"""How the windows of convolutions and pools move over images, for every system: an axis down, and one across."""
cimport cython
cimport numpy as cnp
from cpython.pyport cimport PY_SSIZE_T_MAX

cimport qops._kernels.arrays.axis as axes
from qops._kernels.arrays.axis cimport AxisWindow, cuts_along, pad_same, padded_size, slack, span

import numpy as np
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()


cdef Window moving(str padding, Py_ssize_t height, Py_ssize_t width, tuple kernel, tuple stride):
    """Make the window of `Window.named` from checked numbers. "SAME_CAFFE" puts an odd pixel before the image."""
    cdef Window made = Window.__new__(Window)
    made.down = AxisWindow(kernel[0], stride[0], 1, 0, 0, height)
    made.across = AxisWindow(kernel[1], stride[1], 1, 0, 0, width)
    if padding != "VALID":
        pad_same(&made.down, padding == "SAME_CAFFE")
        pad_same(&made.across, padding == "SAME_CAFFE")
    return made


@cython.final
cdef class Window:
    """How a window moves over an image. All tuples of two are (vertical, horizontal).

    stride and dilation are at least 1; with dilation 1 a window reads neighbours. padding is ((top, bottom), (left,
    right)), in pixels around the image.
    """

    def __init__(self, stride=(1, 1), dilation=(1, 1), padding=((0, 0), (0, 0))):
        cdef AxisWindow *down = &self.down
        cdef AxisWindow *across = &self.across
        down.stride, across.stride = stride
        down.dilation, across.dilation = dilation
        (down.before, down.after), (across.before, across.after) = padding
        if min(down.stride, across.stride) < 1:
            raise bad_value("stride", f"expected at least 1, got {stride}")
        if min(down.dilation, across.dilation) < 1:
            raise bad_value("dilation", f"expected at least 1, got {dilation}")
        if min(down.before, down.after, across.before, across.after) < 0:
            raise bad_value("padding", f"expected at least 0, got {padding}")

    @staticmethod
    def named(str padding, size, kernel, stride=(1, 1), dilation=(1, 1)):
        """Make a window with the padding that TensorFlow calls "SAME" or "VALID", for these sizes of image and kernel.

        VALID has no padding. SAME makes ceil(size / stride) places; an odd pixel of padding goes after the image.
        """
        if padding not in ("SAME", "VALID"):
            raise bad_value("padding", f"expected 'SAME' or 'VALID', got {padding!r}")
        if padding == "VALID":
            return Window(stride, dilation)
        return (<Window>Window(stride, dilation)).with_same(size[0], size[1], kernel[0], kernel[1])

    cdef Window with_same(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw):
        """Give a window of this stride and dilation with SAME padding."""
        cdef Window made = self.over(height, width, kh, kw)
        pad_same(&made.down, False)
        pad_same(&made.across, False)
        return made

    cdef Window over(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw):
        """Give the window of this size over images of this size."""
        cdef Window made = Window.__new__(Window)
        made.down, made.across = self.down, self.across
        made.down.size, made.down.kernel, made.across.size, made.across.kernel = height, kh, width, kw
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
        cdef Window of_kernel = self.over(0, 0, kernel[0], kernel[1])
        return span(&of_kernel.down), span(&of_kernel.across)

    def out_size(self, size, kernel, str name="kernel"):
        """Give how many places an image of this size has, (rows, columns); if none, a ValueError names `name`."""
        cdef Py_ssize_t oh, ow
        self.places(size[0], size[1], kernel[0], kernel[1], &oh, &ow, name)
        return oh, ow

    cdef int places(self, Py_ssize_t height, Py_ssize_t width, Py_ssize_t kh, Py_ssize_t kw, Py_ssize_t *oh,
                    Py_ssize_t *ow, str name="kernel") except -1:
        """Do the same for numbers: set oh and ow."""
        cdef Window sized = self.over(height, width, kh, kw)
        if not sized.fits():
            raise bad_value(name, f"expected a window that fits in images of {(height, width)} padded by "
                            f"{self.padding}, got {(kh, kw)}, which spans {self.span((kh, kw))}")
        if max(padded_size(&sized.down), padded_size(&sized.across)) > PY_SSIZE_T_MAX:
            raise bad_value(name, f"images of {(height, width)} padded by {self.padding} are too large")
        oh[0], ow[0] = <Py_ssize_t>axes.places(&sized.down), <Py_ssize_t>axes.places(&sized.across)
        return 0

    cdef bint fits(self):
        """Whether the window fits in the padded image; both have a size."""
        return (min(self.down.kernel, self.across.kernel) >= 1
                and min(slack(&self.down), slack(&self.across)) >= 0)

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
        cdef Window sized = self.over(size[0], size[1], kernel[0], kernel[1])
        return cuts_along(&sized.down), cuts_along(&sized.across)

    def taps(self, image, kernel, fill):
        """Give all windows of an image (N, C, H, W) padded with `fill`: (N, C, OH, OW, KH, KW)."""
        self.out_size(image.shape[2:], kernel)
        every = np.lib.stride_tricks.sliding_window_view(self.padded(image, fill), self.span(kernel), (2, 3))
        return every[:, :, ::self.down.stride, ::self.across.stride, ::self.down.dilation, ::self.across.dilation]

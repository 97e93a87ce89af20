"""The calls of `conv2d`: what each checks and makes of its images, around one convolution."""

cimport cython
cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends, apart, operand_of, writable
from qops._kernels.arrays.codes cimport typenum_of
from qops._kernels.arrays.numbers cimport int32
from qops._kernels.arrays.window cimport Window
from qops._kernels.conv.weights cimport PackedWeights
from qops._kernels.frontdoor.epilogue cimport Epilogue, OperandRange, zero_in
from qops._kernels.frontdoor.layer cimport Layer
from qops._kernels.frontdoor.layer_tables cimport LayerStage

import numpy as np

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import Images, convolve, window_sums
from qops._kernels.conv.finish import Finish

cnp.import_array()


@cython.final
cdef class Conv2D(Layer):
    """Packed filters, how they move over images, and the epilogue of their sums.

    padding: "SAME", "VALID" or ((top, bottom), (left, right)). taps: the sums of the filters' codes over the channels,
    (KH, KW, O).
    """
    cdef PackedWeights packed
    cdef Window window  # for all images, unless the padding is "SAME"
    cdef bint is_same
    cdef cnp.ndarray taps

    def __init__(self, PackedWeights packed, tuple stride, tuple dilation, padding, cnp.ndarray taps,
                 Epilogue epilogue):
        self.packed, self.taps, self.epilogue, self.is_same = packed, taps, epilogue, padding == "SAME"
        self.multiply = multiply
        self.window = Window(stride, dilation, ((0, 0), (0, 0)) if isinstance(padding, str) else padding)

    def shape_of(self, tuple shape):
        """Give the shape of the result for images of this shape."""
        cdef cnp.npy_intp[4] made
        self.placed(shape, made)
        return tuple([length for length in made])

    cdef Window placed(self, tuple shape, cnp.npy_intp* made):
        """Give the window over images of this shape, and set the shape of the result."""
        cdef Py_ssize_t o, c, kh, kw, height, width, channels, oh, ow
        cdef Window window
        o, c, kh, kw = self.packed.shape
        if len(shape) != 4 or 0 in shape:
            raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {shape}")
        made[0], height, width, channels = shape
        if channels != c * self.packed.groups:
            shapes = f"{shape} is (N, H, W, C * groups), and {(kh, kw, c, o)} is (KH, KW, C, O)"
            groups = self.packed.groups
            each = f"{c} in each of {groups} groups" if groups > 1 else str(c)
            raise bad_value("x", f"expected images of {c * groups} channels, as w has {each}: {shapes}")
        if self.is_same:
            window = self.window.with_same(height, width, kh, kw)
        else:
            window = self.window.over(height, width, kh, kw)
        if not window.fits():
            room = tuple([n + sum(pads) for n, pads in zip((height, width), window.padding)])
            raise bad_value("x", f"padded images of {room} have no room for filters of {(kh, kw)}, "
                            f"dilation {window.dilation}")
        window.places(height, width, kh, kw, &oh, &ow)
        made[1], made[2], made[3] = oh, ow, o
        return window

    def __call__(self, type cls, x, out, num_threads):
        """Convolve the images `x`; the result is a tensor of the class `cls`."""
        cdef Ends ends
        cdef cnp.ndarray codes = operand_of(x, "x", cnp.NPY_UINT8, cnp.NPY_INT8, &ends), rows = None
        cdef Epilogue e = self.epilogue
        cdef Py_ssize_t threads = int32(num_threads, "num_threads", 1)
        cdef cnp.npy_intp[4] shape
        cdef Window window = self.placed((<object>codes).shape, shape)
        cdef OperandRange left = e.left(ends.min, ends.max)
        cdef int zero = zero_in(codes, &left)
        tops = e.tops(left) if e.typenum == cnp.NPY_INT32 else None
        if out is not None:
            writable(out, e.typenum, 4, shape)
            apart(out, codes, None)
        images = Images(codes, window, zero, zero)
        if not e.is_centred:
            rows = self.sums_of(images, shape[0] * shape[1] * shape[2], threads)
        terms = None if left.base == 0 else self.terms((<object>codes).shape, window)
        return self.made(cls, images, zero, left, rows, terms, out, 4, shape, tops, threads)

    cdef cnp.ndarray sums_of(self, images, Py_ssize_t places, Py_ssize_t num_threads):
        """Give the sum of the codes of each window; with groups, the sum of the codes that each filter takes."""
        cdef Py_ssize_t groups = self.packed.groups, each = self.packed.shape[0] // groups
        sums = window_sums(images, self.packed.shape[2:], groups, num_threads).reshape(places, groups)
        if groups == 1:
            return sums.reshape(-1)
        return sums if each == 1 else sums.repeat(each, axis=1)

    cdef tuple terms(self, tuple shape, Window window):
        """Give the sums of the filters for each cut. Padding adds nothing, so only taps inside the image count."""
        (down, of_row), (across, of_column) = window.cuts(shape[1:3], self.packed.shape[2:])
        kh, kw, o = (<object>self.taps).shape
        rows = (down.astype(np.int32) @ (<object>self.taps).reshape(kh, kw * o)).reshape(len(down), kw, o)
        columns = across.astype(np.int32) @ rows  # (ways to cut at the top and bottom, at the left and right, O)
        counts = np.multiply.outer(down.sum(1), across.sum(1)).reshape(-1) * self.packed.shape[1]
        which = of_row[:, None] * len(across) + of_column
        return columns.reshape(-1, o), counts, which.reshape(-1)


cdef int multiply(Layer layer, operand, int zero, LayerStage stage, cnp.ndarray place,
                  Py_ssize_t num_threads) except -1:
    """Convolve images; see `Multiply`."""
    finish = Finish(0, None, stage, typenum_of(place))
    convolve(operand, (<Conv2D>layer).packed, place, finish, num_threads=num_threads)
    return 0

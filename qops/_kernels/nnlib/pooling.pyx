"""nnlib's pools: checks the arguments and finds the windows. The loops are in pool/pooling.pyx."""

cimport numpy as cnp

from qops._kernels.arrays.checks cimport Ends, operand_of
from qops._kernels.arrays.numbers cimport choice, integers
cimport qops._kernels.arrays.window as windows

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.pool import pooling

cnp.import_array()


def moving(cnp.ndarray image not None, tuple kernel not None, tuple strides not None, padding, str name):
    """Give the windows of a convolution or a pool. `name` is the argument that holds the size of the window."""
    cdef Py_ssize_t height = cnp.PyArray_DIM(image, 1), width = cnp.PyArray_DIM(image, 2)
    choice(padding, "padding", ("SAME", "VALID", "SAME_CAFFE"))
    if padding == "VALID" and (kernel[0] > height or kernel[1] > width):
        raise bad_value(name, f"a window of {kernel} does not fit in images of {(height, width)}")
    return windows.moving(str(padding), height, width, kernel, strides)


def pool(x, window, stride, padding, out, bint means):
    """Give the largest code of each window, or its mean, in the range of `x`."""
    cdef Ends ends
    cdef tuple taps = integers(window, "window", 2, 1), strides = integers(stride, "stride", 2, 1)
    cdef cnp.ndarray image = operand_of(x, "x", cnp.NPY_UINT8, -1, &ends)
    if cnp.PyArray_NDIM(image) != 4 or cnp.PyArray_SIZE(image) == 0:
        raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {(<object>image).shape}")
    move = moving(image, taps, strides, padding, "window")
    if not means:
        return pooling.largest(image, taps, move, out), ends.min, ends.max
    if taps[0] * taps[1] > 32768:
        raise bad_value("window", f"{taps} has more than 32768 pixels, for which nnlib's reciprocal is 0")
    return pooling.means(image, taps, move, "q15", out=out), ends.min, ends.max

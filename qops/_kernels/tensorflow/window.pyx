"""Checks the attributes of TensorFlow's pools and convolution that describe windows."""

cimport numpy as cnp

from qops._kernels.arrays.numbers cimport integers
cimport qops._kernels.arrays.window as windows
from qops._kernels.arrays.refusal import bad_value

cnp.import_array()


cpdef tuple four(values, str name):
    """Give an attribute as four integers, each at least 1, for the axes (N, H, W, C)."""
    if isinstance(values, (tuple, list)) and len(values) != 4:
        raise bad_value(name, f"Sliding window {name} field must specify 4 dimensions, got {len(values)}")
    return integers(values, name, 4, 1)


def of_pool(cnp.ndarray image not None, ksize, strides):
    """Give the (height, width) of the windows of a pool, and their strides."""
    cdef tuple taps = four(ksize, "ksize"), apart = four(strides, "strides")
    if cnp.PyArray_NDIM(image) != 4:
        raise bad_value("input", f"tensor_in_shape must have 2 spatial dimensions, got shape {(<object>image).shape}")
    if taps[0] != 1 or apart[0] != 1:
        name, lengths = ("ksize", taps) if taps[0] != 1 else ("strides", apart)
        raise bad_value(name, f"Pooling is not yet supported on the batch dimension, got {lengths}")
    if taps[3] != 1:
        raise bad_value("ksize", f"Non-spatial pooling is not yet supported, got {taps}")
    return taps[1:3], apart[1:3]


def over(cnp.ndarray image not None, tuple kernel not None, tuple stride not None, padding):
    """Give the windows of a pool over the images; None if there are no windows or no codes."""
    cdef Py_ssize_t height = cnp.PyArray_DIM(image, 1), width = cnp.PyArray_DIM(image, 2)
    if cnp.PyArray_SIZE(image) == 0 or padding == "VALID" and (kernel[0] > height or kernel[1] > width):
        return None
    return windows.moving(str(padding), height, width, kernel, stride)

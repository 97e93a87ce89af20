"""Integer convolution: s32 NHWC from a u8 or s8 source (NHWC or NCHW) and s8 or u8 weights (OIHW).

    y[n][oh][ow][oc] = sum over kh, kw, ic of x[n][oh*sh + kh*dh - top][ow*sw + kw*dw - left][ic] * w[oc][ic][kh][kw]

It is exact or saturates as gemm does, in pairs of input channels (0, 1), (2, 3).. of one tap (kh, kw). As in gemm a
signed source, its padding too, is shifted by 128 and 128 times the sums of w are taken off; weights of u8 are shifted
by -128 and 128 times the sums of the windows are added. Depthwise convolution (one channel in, one out a group) has no
pairs and is always exact.
"""
cimport numpy as cnp
from libc.stdint cimport INT8_MAX, INT8_MIN, UINT8_MAX, int8_t, int32_t, int64_t, uint8_t, uint32_t

from qops._kernels.core.checks cimport apart, array, writable
from qops._kernels.core.rounding cimport wrap_s32
from qops._kernels.product.image cimport Image
from qops._kernels.product.offsets cimport row_sums, subtract_terms
from qops._kernels.product.rows cimport Convolution, run_convolution
from qops._kernels.product.tile cimport SHIFTED
from qops._kernels.product.weights cimport PackedWeights
from qops._kernels.product.window cimport Window

import numpy as np

from qops._kernels.product.pooling import totals
from qops._kernels.product.weights import pack_weights

cnp.import_array()

cdef enum:
    W_SHIFT = 128  # what weights of u8 are shifted down by
cdef Window DENSE = Window()


cdef set_image(Image *image, cnp.ndarray x, str layout, Py_ssize_t pad_value):
    """The image of x, all but what depends on the weights."""
    cdef Py_ssize_t h = 2 if layout == "nchw" else 1
    cdef Py_ssize_t c = 1 if layout == "nchw" else 3
    if layout not in ("nhwc", "nchw"):
        raise ValueError(f"layout: expected 'nhwc' or 'nchw', got {layout!r}")
    if cnp.PyArray_NDIM(x) != 4:
        raise ValueError(f"x: expected 4 dimensions, got shape {(<object>x).shape}")
    image.x = <const uint8_t *>cnp.PyArray_DATA(x)
    image.x_signed = cnp.PyArray_TYPE(x) == cnp.NPY_INT8
    image.height = cnp.PyArray_DIM(x, h)
    image.width = cnp.PyArray_DIM(x, h + 1)
    image.image = cnp.PyArray_STRIDE(x, 0)
    image.row = cnp.PyArray_STRIDE(x, h)
    image.column = cnp.PyArray_STRIDE(x, h + 1)
    image.channel = cnp.PyArray_STRIDE(x, c)
    if not (INT8_MIN if image.x_signed else 0) <= pad_value <= (INT8_MAX if image.x_signed else UINT8_MAX):
        raise ValueError(f"pad_value: expected a value of x, got {pad_value}")
    image.pad = <uint8_t>pad_value


cdef cnp.ndarray result(out, cnp.ndarray x, cnp.npy_intp images, cnp.npy_intp oh, cnp.npy_intp ow,
                        cnp.npy_intp channels):
    """out checked, or a new array."""
    cdef cnp.npy_intp[4] shape = [images, oh, ow, channels]
    if out is None:
        return cnp.PyArray_EMPTY(4, shape, cnp.NPY_INT32, 0)
    writable(out, cnp.NPY_INT32, 4, shape)
    if not cnp.PyArray_ISALIGNED(out):
        raise ValueError("out: expected aligned memory")
    apart(out, x)
    return out


cdef set_result(Convolution *p, cnp.ndarray y):
    p.y = <int32_t *>cnp.PyArray_DATA(y)
    p.y_image, p.y_row = cnp.PyArray_STRIDE(y, 0) // 4, cnp.PyArray_STRIDE(y, 1) // 4
    p.y_column, p.y_channel = cnp.PyArray_STRIDE(y, 2) // 4, cnp.PyArray_STRIDE(y, 3) // 4
    p.y_elsewhere = not cnp.PyArray_IS_C_CONTIGUOUS(y)


def convolve(x, w, out=None, *, Window window=None, Py_ssize_t pad_value=0, int32_t zero_point=0,
             w_zero_point=0, bias=None, str layout="nhwc", Py_ssize_t groups=1, bint saturating=False,
             Py_ssize_t num_threads=1):
    """Convolution of x (uint8 or int8, of the given layout) with w (OIHW), as int32 NHWC, any order in memory.

    w is int8 or uint8, or what ``pack_weights`` made of them, which then knows groups and whether it saturates. The
    padding of the window holds pad_value, a value of x. It is the convolution of x - zero_point with w - w_zero_point,
    one number or one an output channel, plus bias, int32, one an output channel. The result has the same bits for any
    ``num_threads``.
    """
    cdef cnp.ndarray image = array(x, "x", cnp.NPY_UINT8, cnp.NPY_INT8), y, added = None
    cdef PackedWeights packed
    packed = w if isinstance(w, PackedWeights) else pack_weights(w, groups=groups, saturating=saturating)
    if packed is w and (groups != 1 or saturating):
        raise ValueError("groups, saturating: expected with pack_weights, got with what it made")
    if num_threads < 1:
        raise ValueError(f"num_threads: expected at least 1, got {num_threads}")
    if bias is not None:
        added = array(bias, "bias", cnp.NPY_INT32)
        if (<object>added).shape != packed.shape[:1]:
            raise ValueError(f"bias: expected shape {packed.shape[:1]}, got {(<object>added).shape}")
    window = DENSE if window is None else window
    y = convolved(image, packed, out, window, pad_value, zero_point, layout, num_threads)
    if packed.is_shifted or type(w_zero_point) is not int or w_zero_point != 0:
        take_off_zeros(y, np.asarray(w_zero_point, np.int64) - (W_SHIFT if packed.is_shifted else 0),
                       window_sums(image, packed, window, pad_value, zero_point, layout))
    if added is not None:
        np.add(y, added, out=y)
    return y


cdef window_sums(x, PackedWeights packed, Window window, Py_ssize_t pad_value, int32_t zero_point, str layout):
    """The sums of x - zero_point over each window and all channels of a group: (N, OH, OW, groups), int32."""
    cdef Py_ssize_t channels = packed.shape[1]
    x = np.ascontiguousarray(x if layout == "nhwc" else x.transpose(0, 2, 3, 1))
    sums = row_sums(x.reshape(-1, channels)) - wrap_s32(channels * pad_value)  # of each pixel; of padding it is 0
    sums = totals(sums.reshape(*x.shape[:3], packed.groups), packed.shape[2:], window)
    return sums + wrap_s32(<int64_t>channels * (pad_value - zero_point) * packed.shape[2] * packed.shape[3])


cdef object take_off_zeros(cnp.ndarray y, w_zeros, sums):
    """y -= w_zeros * sums of windows: a zero of all weights, or one an output channel."""
    cdef Py_ssize_t groups = sums.shape[3], channels = cnp.PyArray_DIM(y, 3)
    if groups == 1 and cnp.PyArray_IS_C_CONTIGUOUS(y):
        subtract_terms((<object>y).reshape(-1, channels), np.zeros(channels, np.int32), 0, sums.reshape(-1), w_zeros, 0)
    else:
        sums = np.repeat(sums, channels // groups, 3) if groups > 1 else sums
        np.subtract(y, sums * w_zeros.astype(np.int32), out=y)


cdef cnp.ndarray convolved(cnp.ndarray image, PackedWeights packed, out, Window window, Py_ssize_t pad_value,
                           int32_t zero_point, str layout, Py_ssize_t num_threads):
    """The convolution of checked arrays, with what is packed."""
    cdef Convolution p
    cdef cnp.ndarray y
    set_image(&p.image, image, layout, pad_value)
    set_weights(&p, packed)
    set_window(&p, window)
    if cnp.PyArray_DIM(image, 1 if layout == "nchw" else 3) != packed.shape[1] * packed.groups:
        raise ValueError(f"w: expected {packed.groups} groups to take the channels of x, {layout}, of shape "
                         f"{(<object>image).shape}, got shape {packed.shape}")
    p.image.channels = packed.shape[1] * packed.groups // p.image.groups
    p.image.in_place = (not (p.image.x_signed and packed.depthwise or p.kernel.widens) and p.image.channel == 1
                        and window.is_bare() and (packed.depthwise or p.image.channels % 4 == 0))
    p.times = <int32_t>((SHIFTED if p.image.x_signed and not p.kernel.widens else 0) - <uint32_t>zero_point)
    y = result(out, image, cnp.PyArray_DIM(image, 0), p.oh, p.ow, packed.shape[0])
    set_result(&p, y)
    run_convolution(&p, cnp.PyArray_DIM(image, 0), num_threads, (image, packed, y))
    return y


cdef void set_weights(Convolution *p, PackedWeights packed):
    p.kernel = p.image.kernel = packed.kernel
    p.groups = packed.groups
    p.oc = packed.shape[0] // p.groups
    p.kh = packed.shape[2]
    p.kw = packed.shape[3]
    p.image.groups = 1 if packed.depthwise else p.groups
    p.sums = <const int32_t *>cnp.PyArray_DATA(packed.padded_sums)
    p.panels = packed.panels
    p.depthwise = <const int32_t *>cnp.PyArray_DATA(packed.memory) if packed.depthwise else NULL
    p.depthwise_quads = NULL
    if packed.quads is not None:
        p.depthwise_quads = <const int8_t *>cnp.PyArray_DATA(packed.quads)


cdef int set_window(Convolution *p, Window window) except -1:
    p.sh, p.dh = window.down.stride, window.down.dilation
    p.sw, p.dw = window.across.stride, window.across.dilation
    p.image.top, p.image.left = window.down.before, window.across.before
    window.places(p.image.height, p.image.width, p.kh, p.kw, &p.oh, &p.ow)
    p.image.pixels = (p.ow - 1) * p.sw + (p.kw - 1) * p.dw + 1
    return 0

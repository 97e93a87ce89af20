"""Integer convolution: s32 NHWC from a u8 or s8 source (NHWC or NCHW) and s8 weights (OIHW), exact or saturating.

    y[n][oh][ow][oc] = sum over kh, kw, ic of x[n][oh*sh + kh*dh - top][ow*sw + kw*dw - left][ic] * w[oc][ic][kh][kw]

The pairs that saturate are input channels (0, 1), (2, 3).. of one tap (kh, kw). As in gemm a signed source, its
padding too, is shifted by 128 and 128 times the sums of w are taken off. Depthwise convolution (one channel in, one
out a group) has no pairs and is always exact.
"""
cimport numpy as cnp
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t

from qops._kernels.core.checks cimport apart, array, writable
from qops._kernels.product.image cimport Image
from qops._kernels.product.rows cimport Convolution, run_convolution
from qops._kernels.product.tile cimport (
    SHIFTED, aligned, find_kernel, gemm_kernel, pack_columns, padded_columns, quads_of, sum_columns,
)
from qops._kernels.core.tiers cimport VNNI, tier
from qops._kernels.product.transpose cimport transpose_bytes

import numpy as np

from qops._kernels.core import tiers as isa

cnp.import_array()

cdef enum:
    CHANNELS = 16  # packed at a time: whole quads, and what they are transposed to stays near


cdef class PackedWeights:
    """Convolution weights laid out for one tier's kernel. Made by ``pack_weights``."""
    cdef readonly tuple shape  # OIHW
    cdef readonly Py_ssize_t groups
    cdef readonly bint saturating
    cdef readonly str tier
    cdef readonly cnp.ndarray sums  # int32, of each output channel; wraps mod 2^32
    cdef const gemm_kernel *kernel
    cdef bint depthwise
    cdef cnp.ndarray quads  # of depthwise weights, or None
    cdef cnp.ndarray memory, padded_sums
    cdef uint8_t *panels

    @property
    def nbytes(self):
        return self.memory.nbytes


def pack_weights(w, *, Py_ssize_t groups=1, bint saturating=False):
    """Pack the weights (int8, OIHW) of a convolution once for many sources."""
    cdef PackedWeights packed = PackedWeights.__new__(PackedWeights)
    w = array(w, "w", cnp.NPY_INT8)
    if w.ndim != 4:
        raise ValueError(f"w: expected 4 dimensions, OIHW, got shape {w.shape}")
    if groups < 1 or w.shape[0] % groups:
        raise ValueError(f"groups: expected a divisor of the {w.shape[0]} output channels, got {groups}")
    packed.shape = w.shape
    packed.groups = groups
    packed.saturating = saturating
    packed.tier = isa.name()
    packed.depthwise = w.shape[1] == 1 and w.shape[0] == groups and groups > 1
    packed.kernel = find_kernel(saturating or packed.depthwise)  # which widens nothing
    if packed.depthwise:
        packed.memory = np.ascontiguousarray(w[:, 0].transpose(1, 2, 0), np.int32)
        packed.quads = depthwise_quads(w) if tier() >= VNNI else None
        packed.sums = packed.padded_sums = w.sum((1, 2, 3), np.int32)
    else:
        pack_dense(packed, np.ascontiguousarray(w))
    packed.sums.flags.writeable = False
    return packed


cdef depthwise_quads(w):
    """Weights (channels, 1, kh, kw) in the order that simd/convolution_depthwise.h wants."""
    cdef Py_ssize_t channels = w.shape[0], taps = w.shape[2] * w.shape[3], blocks = (channels + 63) // 64
    padded = np.zeros(((taps + 3) // 4 * 4, 64 * blocks), np.int8)
    padded[:taps, :channels] = w.reshape(channels, taps).T
    return np.ascontiguousarray(padded.reshape(-1, 4, blocks, 4, 4, 4).transpose(2, 0, 4, 3, 5, 1))


cdef void transpose(const int8_t *w, Py_ssize_t ldw, Py_ssize_t oc, Py_ssize_t ic, Py_ssize_t taps,
                    int8_t *b) noexcept nogil:
    # b[tap][c][i] = w[i][c][tap]; 64 columns of w lie in lines that are not left before they are used
    cdef Py_ssize_t[64] row
    cdef Py_ssize_t j, first, columns
    for first from 0 <= first < ic * taps by 64:
        columns = min(64, ic * taps - first)
        for j in range(columns):
            row[j] = ((first + j) % taps * ic + (first + j) // taps) * oc
        transpose_bytes(w + first, ldw, oc, columns, b, row)


cdef void pack_group(const gemm_kernel *kernel, const int8_t *w, Py_ssize_t oc, Py_ssize_t ic, Py_ssize_t taps,
                     int8_t *rows, uint8_t *panels) noexcept nogil:
    """w (oc, ic, taps) as a matrix B of k = (taps, ic) rows, ic filled up to whole quads; some channels at a time."""
    cdef Py_ssize_t quads = quads_of(kernel, ic)
    cdef Py_ssize_t first, some, tap
    for first from 0 <= first < ic by CHANNELS:
        some = min(CHANNELS, ic - first)
        transpose(w + first * taps, ic * taps, oc, some, taps, rows)
        for tap in range(taps):
            pack_columns(kernel, rows + tap * some * oc, oc, some, oc, panels, tap * quads + quads_of(kernel, first),
                         taps * quads)


cdef pack_dense(PackedWeights packed, cnp.ndarray w):
    cdef Py_ssize_t ic = w.shape[1], taps = w.shape[2] * w.shape[3], oc = w.shape[0] // packed.groups
    cdef Py_ssize_t quads = quads_of(packed.kernel, ic) * taps, padded = padded_columns(packed.kernel, oc)
    cdef Py_ssize_t g
    cdef cnp.ndarray sums = np.zeros((packed.groups, padded), np.int32)
    cdef cnp.ndarray rows = np.empty(min(CHANNELS, ic) * taps * oc, np.int8)
    cdef uint8_t *panels
    packed.memory = np.empty(4 * packed.groups * padded * quads + 64, np.uint8)
    packed.panels = panels = <uint8_t *>aligned(cnp.PyArray_DATA(packed.memory))
    for g in range(packed.groups):
        pack_group(packed.kernel, <const int8_t *>cnp.PyArray_DATA(w) + g * oc * ic * taps, oc, ic, taps,
                   <int8_t *>cnp.PyArray_DATA(rows), panels)
        sum_columns(packed.kernel, panels, quads, oc, <int32_t *>cnp.PyArray_DATA(sums) + g * padded)
        panels += 4 * padded * quads
    packed.padded_sums = sums.reshape(-1)
    packed.sums = sums[:, :oc].reshape(-1)


cdef Py_ssize_t output_size(str name, Py_ssize_t size, Py_ssize_t before, Py_ssize_t after, Py_ssize_t kernel,
                            Py_ssize_t stride, Py_ssize_t dilation) except -1:
    cdef Py_ssize_t room = size + before + after - (kernel - 1) * dilation - 1
    if min(before, after) < 0 or stride < 1 or dilation < 1:
        raise ValueError(f"{name}: padding {before}, {after}, stride {stride} or dilation {dilation} is too small")
    if kernel < 1 or room < 0:
        raise ValueError(f"{name}: a kernel of {kernel}, dilation {dilation}, does not fit {size} padded by {before}, "
                         f"{after}")
    return room // stride + 1


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
    if not (-128 if image.x_signed else 0) <= pad_value <= (127 if image.x_signed else 255):
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
    p.y_image, p.y_row, p.y_column, p.y_channel = [cnp.PyArray_STRIDE(y, i) // 4 for i in range(4)]
    p.y_elsewhere = not cnp.PyArray_IS_C_CONTIGUOUS(y)


def convolve(x, w, out=None, *, stride=(1, 1), dilation=(1, 1),
             padding=((0, 0), (0, 0)), Py_ssize_t pad_value=0, int32_t zero_point=0, str layout="nhwc",
             Py_ssize_t groups=1, bint saturating=False, Py_ssize_t num_threads=1):
    """Convolution of x (uint8 or int8, of the given layout) with w (int8, OIHW), as int32 NHWC, any order in memory.

    w may be what ``pack_weights`` made, which then knows groups and whether it saturates. padding is ((top, bottom),
    (left, right)) and holds pad_value, a value of x. zero_point times the sums of w is taken off. The result has the
    same bits for any ``num_threads``.
    """
    cdef cnp.ndarray image = array(x, "x", cnp.NPY_UINT8, cnp.NPY_INT8)
    cdef Convolution p
    cdef PackedWeights packed
    cdef Py_ssize_t images, channels, bottom, right
    packed = w if isinstance(w, PackedWeights) else pack_weights(w, groups=groups, saturating=saturating)
    if packed is w and (groups != 1 or saturating):
        raise ValueError("groups, saturating: expected with pack_weights, got with what it made")
    if num_threads < 1:
        raise ValueError(f"num_threads: expected at least 1, got {num_threads}")
    set_image(&p.image, image, layout, pad_value)
    p.kernel = p.image.kernel = packed.kernel
    p.sh, p.sw = stride
    p.dh, p.dw = dilation
    (p.image.top, bottom), (p.image.left, right) = padding
    p.groups = packed.groups
    p.oc = packed.shape[0] // p.groups
    p.kh = packed.shape[2]
    p.kw = packed.shape[3]
    p.oh = output_size("height", p.image.height, p.image.top, bottom, p.kh, p.sh, p.dh)
    p.ow = output_size("width", p.image.width, p.image.left, right, p.kw, p.sw, p.dw)
    images = cnp.PyArray_DIM(image, 0)
    channels = cnp.PyArray_DIM(image, 1 if layout == "nchw" else 3)
    if channels != packed.shape[1] * p.groups:
        raise ValueError(f"x has {channels} channels, w is for {packed.shape[1]} in each of {p.groups} groups")
    p.image.groups = 1 if packed.depthwise else p.groups
    p.image.channels = channels // p.image.groups
    p.image.pixels = (p.ow - 1) * p.sw + (p.kw - 1) * p.dw + 1
    p.image.in_place = (not (p.image.x_signed and packed.depthwise or p.kernel.widens) and p.image.top == bottom == 0
                        and p.image.left == right == 0 and p.image.channel == 1
                        and (packed.depthwise or p.image.channels % 4 == 0))
    out = result(out, image, images, p.oh, p.ow, packed.shape[0])
    p.sums = <const int32_t *>cnp.PyArray_DATA(packed.padded_sums)
    p.times = <int32_t>((SHIFTED if p.image.x_signed and not p.kernel.widens else 0) - <uint32_t>zero_point)
    p.panels = packed.panels
    p.depthwise = <const int32_t *>cnp.PyArray_DATA(packed.memory) if packed.depthwise else NULL
    p.depthwise_quads = NULL
    if packed.quads is not None:
        p.depthwise_quads = <const int8_t *>cnp.PyArray_DATA(packed.quads)
    set_result(&p, out)
    run_convolution(&p, images, num_threads, (image, packed, out))
    return out

"""Convolution: src NCHW, weights OIHW or GOIHW, dst NCHW. Shapes are logical, whatever the order in memory."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.product import convolution as kernels
from qops.onednn import _checks as check
from qops.onednn import dot, output
from qops.onednn.attr import NO_ATTR, Attr, Scales
from qops.onednn.cast import to_f32
from qops.onednn.convolution_weights import Filters, PackedConvolutionWeights, Way, filters_of
from qops.onednn.destination import destination
from qops.onednn.dot import S32
from qops.onednn.machine import CONV_KERNELS, DEFAULT_VERSION, ConvKernel, machine
from qops.onednn.unrolled import unrolled_window
from qops.onednn.window import DENSE, Window

__all__ = ["convolution"]


def convolution(
    src: ArrayLike,
    weights: ArrayLike | PackedConvolutionWeights,
    bias: ArrayLike | None = None,
    *,
    window: Window = DENSE,
    dst_dt: str = "s32",
    attr: Attr = NO_ATTR,
    dst_in: ArrayLike | None = None,
    wq_scale: Scales | float | None = None,
    layout: str = "nhwc",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Convolve u8 or s8 images with s8 weights.

    ``acc = sum over taps and channels of x*w - src_zp*sum(w)``, padding counting as real zero (x = src_zp). Then, with
    one float32 rounding an operation::

        2.6:  f = (f32(acc) + bias)*oscale
        3.x:  f = f32(acc)*(src_scale*wei_scale) + bias, on 3.13 with AVX-512 or the reference kernel
              (f32(acc)*src_scale)*wei_scale + bias
        all:  post-ops; 3.x: f * f32(1/dst_scale); f + dst_zp; saturate, round half to even

    Products are paired along the channels of one tap, (0,1), (2,3), ... An s8 source is shifted by 128 and compensated
    by -128*sum(w). Where pairs saturate, its weights are halved first, ``w' = rne(w*0.5)``, and the scale is doubled:
    that cannot saturate, and costs the lowest bit of the weights. Depthwise products never saturate.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, C, H, W)
    weights : ndarray of int8 or float32, (O, C, KH, KW) or (G, O/G, C/G, KH, KW); or PackedConvolutionWeights
        What `pack_convolution_weights` made is packed once for many images, and knows its `wq_scale`.
    bias : ndarray of float32, int32, int8 or uint8, O values, optional
    window : Window, optional
        Stride, dilation, padding.
    dst_dt : {"s32", "f32", "u8", "s8"}, optional
    attr : Attr, optional
        2.6: oscale, mask 0 or 2; 3.x: src_scale, dst_scale, mask 0, wei_scale, mask 0 or 1 (3 with groups);
        src_zp, dst_zp; post_ops.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    wq_scale : Scales or float, optional
        Needed by float32 weights: the reorder quantizes them, times it in 2.6, divided by it in 3.x; mask 0 or 1
        (3 with groups).
    layout : {"nhwc", "nchw"}, optional
        Order of the images in memory; nchw goes to the reference kernel, which is exact, and on 3.13 really divides
        by dst_scale.
    isa, version, num_threads : optional
        See `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, (N, O, OH, OW), optional
        Where the result is written; may be `dst_in`, not share memory with another input. Any order in memory will do;
        quickest is that of results, one of which can be given again.

    Returns
    -------
    ndarray of `dst_dt`, (N, O, OH, OW)
        Stored as (N, OH, OW, O): the channels of a pixel lie together.

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version, a kernel that does not fit in the
        image, a missing `dst_in` or `wq_scale`, NaN weights, an unknown name, weights packed for another machine, an
        `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_x8s8s32x_conv_kernel.cpp, jit_avx512_core_x8s8s32x_conv_kernel.cpp, jit_brgemm_conv.cpp,
    src/cpu/ref_convolution_int8.cpp. Without AVX-512 groups whose inputs or outputs are no multiple of 4 go to the
    reference kernel. Sums above 2**24: kernels of one tap, without padding, compensate in float32 where pairs saturate;
    plain s32 is stored as it is only by kernels built on BRGEMM, for a u8 source without zero point. Not modelled: odd
    groups on 2.6 with AVX-512, which go to GEMM and pair across taps there; s8 sums above 2**24 of padded images that
    3.13 keeps exact with VNNI; an image stored nchw of one channel, and a zero point, in 3.13.

    **Hazards.** All weights 1, all sources 1: 75 where 5x5x3 are summed, and 0 where the weights are halved.

    >>> src, weights = np.ones((1, 3, 5, 5), np.int8), np.ones((1, 3, 5, 5), np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [75, 0]

    A u8 source saturates there instead:

    >>> src, weights = np.full((1, 2, 1, 1), 255, np.uint8), np.full((1, 2, 1, 1), 127, np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [64770, 32767]

    One channel alone makes no pairs, so cannot saturate; but 3.13 unrolls taps into channels without VNNI, and can:

    >>> grey, taps = np.full((1, 1, 7, 7), 255, np.uint8), np.zeros((1, 1, 3, 3), np.int8)
    >>> taps[0, 0, :2, 0] = 127
    >>> [int(convolution(grey, taps, isa=isa)[0, 0, 0, 0]) for isa in ("vnni", "avx2", "avx512")]
    [64770, 64770, 32767]

    Padding never does, but the image does though its codes stand for 0, and looks darker than the padding:

    >>> window, attr = Window(pad_l=(0, 1)), Attr(src_zp=255)
    >>> [convolution(src, weights, window=window, attr=attr, isa=isa).ravel().tolist() for isa in ("vnni", "avx2")]
    [[0, 0], [0, -32003]]

    The accumulator wraps, from channels*taps = 65794 on at full range.

    Examples
    --------
    >>> image = np.uint8([[0, 0, 9], [0, 5, 0], [1, 0, 0]]).reshape(1, 1, 3, 3)
    >>> edges = np.int8([[0, 1, 0], [1, -4, 1], [0, 1, 0]]).reshape(1, 1, 3, 3)
    >>> convolution(image, edges, window=Window(pad_l=(1, 1), pad_r=(1, 1)))[0, 0]
    array([[  0,  14, -36],
           [  6, -20,  14],
           [ -4,   6,   0]], dtype=int32)
    """
    m = machine(version, isa)
    image = check.array(src, "src", [np.uint8, np.int8], 4)
    filters = filters_of(weights, wq_scale, image, m)
    threads = check.integer(num_threads, "num_threads", 1)
    check.choice(layout, "layout", ("nhwc", "nchw"))
    check.instance(window, "window", Window)
    check.instance(attr, "attr", Attr)
    attr.only("oscale", "src_scale", "wei_scale", "dst_scale", "src_zp", "dst_zp", "post_ops")
    groups, outputs, _, kh, kw = filters.shape
    dims = (len(image), groups * outputs, *window.out_size((image.shape[2], image.shape[3]), (kh, kw)))
    check.dst_dt(dst_dt)
    dst = destination(dims, dst_dt, out, (image, filters.weights, bias), dst_in, has_sum=attr.has_sum)
    end = output.prepare(attr, m, dst, bias, wei_mask=filters.mask)
    kernel = CONV_KERNELS["ref"] if layout == "nchw" else filters.kernel(image, attr.src_zp is not None, window)
    way = filters.way(kernel, image, window)
    via_f32 = kernel.s32_via_f32 or image.dtype == np.int8 or attr.src_zp is not None
    is_sum = end.is_plain and not (via_f32 or way.halved)
    room = end.dst.out if is_sum else None
    result = _accumulate(image, filters, way, window, attr.src_zp or 0, kernel, threads, room)
    if not is_sum:
        result = end.finish(result, via_f32, way.halved, m.ref_scaling if kernel.is_ref else None)
    return result.transpose(0, 3, 1, 2) if out is None else out


def _accumulate(
    src: NDArray[Any],
    filters: Filters,
    way: Way,
    window: Window,
    src_zp: int,
    kernel: ConvKernel,
    num_threads: int,
    out: S32 | None,
) -> NDArray[Any]:
    """Images (N, C, H, W) -> compensated sums (N, OH, OW, O), s32 or f32."""
    panels, moves = filters.packed(way), unrolled_window(window, way.order)

    def convolve(image: NDArray[Any], out: S32 | None = None, pad_value: int = 0, zero_point: int = 0) -> S32:
        return kernels.convolve(
            filters.view(image, window, way),
            panels,
            out,
            window=moves,
            pad_value=pad_value,
            zero_point=zero_point,
            layout="nchw",
            num_threads=num_threads,
        )

    in_f32 = kernel.compensates_in_f32
    apart = in_f32 and src.dtype == np.int8  # else the kernel itself shifts and compensates an s8 source
    # Padding never saturates: it may stand in the products where 2*128*128 fits s16, but not beside a tap of the image.
    is_safe = not way.order and (-128 <= src_zp <= 127 if src.dtype == np.int8 else 0 <= src_zp <= 128)
    acc: NDArray[Any] = convolve(
        dot.shifted(src) if apart else src,
        out,
        pad_value=(src_zp if is_safe else 0) + (dot.SHIFT if apart else 0),
        zero_point=src_zp if is_safe and not in_f32 else 0,
    )
    if not in_f32 and (is_safe or not src_zp):
        return acc
    sums = panels.sums.astype(np.int64)
    if in_f32:
        acc = to_f32(acc)
    if apart:
        acc += to_f32(-dot.SHIFT * sums)
    if src_zp:
        if not is_safe:  # only the part of the window that lies on the image
            sums = convolve(np.ones((1, *src.shape[1:]), np.uint8)).astype(np.int64)
        acc = acc - to_f32(dot.wrap_s32(src_zp * sums)) if in_f32 else dot.wrap_s32(acc - src_zp * sums)
    return acc

"""Convolution: src NCHW, weights OIHW or GOIHW, dst NCHW. The order in memory may be another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
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

    ``acc = sum over taps and channels of x*w - src_zp*sum(w)``, where padding is real zero (x = src_zp). Then, each
    operation rounded to float32::

        2.6:  f = (f32(acc) + bias)*oscale
        3.x:  f = f32(acc)*(src_scale*wei_scale) + bias, on 3.13 with AVX-512 or the reference kernel
              (f32(acc)*src_scale)*wei_scale + bias
        all:  post-ops, a Sum as one fma; 3.x: f * f32(1/dst_scale); f + dst_zp; saturate, round half to even

    Channels (0,1), (2,3), ... of one tap form pairs. An s8 source is moved to u8 by adding 128, and -128*sum(w) takes
    that back. Where pairs saturate, oneDNN halves the weights of an s8 source, ``w' = rne(w*0.5)``, and doubles the
    scale: then no pair can saturate, but the lowest bit of the weights is lost. Depthwise products never saturate.

    Parameters
    ----------
    src : ndarray of uint8 or int8, (N, C, H, W)
        Images.
    weights : ndarray of int8 or float32, (O, C, KH, KW) or (G, O/G, C/G, KH, KW); or PackedConvolutionWeights
        `pack_convolution_weights` packs them once for many images; then `wq_scale` is given there.
    bias : ndarray of float32, int32, int8 or uint8, O values, optional
    window : Window, optional
        Stride, dilation, padding.
    dst_dt : {"s32", "f32", "u8", "s8"}, optional
        Type of the result.
    attr : Attr, optional
        2.6: oscale, mask 0 or 2; 3.x: src_scale, dst_scale, mask 0, wei_scale, mask 0 or 1 (3 with groups);
        src_zp, dst_zp; post_ops.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    wq_scale : Scales or float, optional
        Needed by float32 weights, which are quantized first: multiplied by it in 2.6, divided by it in 3.x; mask 0 or 1
        (3 with groups).
    layout : {"nhwc", "nchw"}, optional
        Order of the images in memory. Images stored nchw go to the reference kernel, which is exact. On 3.13 that
        divides by dst_scale and does not multiply by its reciprocal.
    isa, version, num_threads : optional
        See `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, (N, O, OH, OW), optional
        Where the result is written. It may be `dst_in`; it must not share memory with another input. It is written
        fastest if it is itself a result, as their channels lie together.

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
    src/cpu/ref_convolution_int8.cpp. On AVX2, groups whose inputs or outputs are no multiple of 4 go to the reference
    kernel. Sums above 2**24 may lose low bits: kernels of one tap without padding compensate in float32 where pairs
    saturate, and plain s32 keeps all bits only in kernels built on BRGEMM, for a u8 source without a zero point.

    Not modelled: such groups on 2.6 with AVX-512, where GEMM pairs channels of different taps; s8 sums above 2**24 of
    padded images, which 3.13 with VNNI keeps exact; on 3.13 an image of one channel, stored nchw, with a zero point.

    **Hazards.** A sum of 5*5*3 ones is 75 with VNNI. Halved weights of 1 are rounded to 0, and so is the sum:

    >>> src, weights = np.ones((1, 3, 5, 5), np.int8), np.ones((1, 3, 5, 5), np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [75, 0]

    For a u8 source the weights are not halved, and pairs saturate:

    >>> src, weights = np.full((1, 2, 1, 1), 255, np.uint8), np.full((1, 2, 1, 1), 127, np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [64770, 32767]

    An image of one channel has no pairs of channels, so nothing can saturate. But 3.13 with AVX-512 and without VNNI
    treats the taps as channels, and pairs of taps do saturate:

    >>> grey, taps = np.full((1, 1, 7, 7), 255, np.uint8), np.zeros((1, 1, 3, 3), np.int8)
    >>> taps[0, 0, :2, 0] = 127
    >>> [int(convolution(grey, taps, isa=isa)[0, 0, 0, 0]) for isa in ("vnni", "avx2", "avx512")]
    [64770, 64770, 32767]

    Padding never saturates. The image can, even if its codes stand for 0, and then it is darker than its padding:

    >>> window, attr = Window(pad_l=(0, 1)), Attr(src_zp=255)
    >>> [convolution(src, weights, window=window, attr=attr, isa=isa).ravel().tolist() for isa in ("vnni", "avx2")]
    [[0, 0], [0, -32003]]

    The accumulator wraps at 2**31: with the largest codes, from channels*taps = 65794 on.

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
    threads = check.int32(num_threads, "num_threads", 1)
    check.choice(layout, "layout", ("nhwc", "nchw"))
    check.instance(window, "window", Window)
    check.instance(attr, "attr", Attr)
    attr.only("oscale", "src_scale", "wei_scale", "dst_scale", "src_zp", "dst_zp", "post_ops")
    groups, outputs, _, kh, kw = filters.shape
    dims = (len(image), groups * outputs, *window.moves.out_size((image.shape[2], image.shape[3]), (kh, kw), "weights"))
    check.dst_dt(dst_dt)
    dst = destination(dims, dst_dt, out, (image, filters.weights, bias), dst_in, has_sum=attr.has_sum)
    end = output.prepare(attr, m, dst, bias, wei_mask=filters.mask)
    kernel = CONV_KERNELS["ref"] if layout == "nchw" else filters.kernel(image, attr.src_zp is not None, window)
    way = filters.way(kernel, image, window)
    sums = Sums(image, attr.src_zp or 0, filters, window, kernel, way, threads)
    via_f32 = kernel.s32_via_f32 or attr.src_zp is not None or image.dtype.kind == "i"
    reference = m.ref_scaling if kernel.is_ref else None
    is_plain = end.is_plain and not (via_f32 or way.halved)
    codes = None if is_plain else end.codes(way.halved, reference)
    if sums.is_direct and (is_plain or codes is not None):
        images = sums.images(image, sums.src_zp, sums.src_zp)
        finish = Finish(codes=codes, typenum=dst.typenum)
        if out is None or (out.flags.aligned and out is not src):
            place = None if out is None else out.transpose(0, 2, 3, 1)
            made = convolve(images, filters.packed(way), place, finish, num_threads=threads)
            return made.transpose(0, 3, 1, 2) if out is None else out
    if is_plain:
        result = end.dst.put(sums.compensated(end.dst.out if out is None or out.flags.aligned else None))
    else:
        result = end.finish(sums.compensated(), via_f32, way.halved, reference)
    return result.transpose(0, 3, 1, 2) if out is None else out


class Sums(NamedTuple):
    """The sums of a convolution, before scales and bias."""

    src: NDArray[Any]
    src_zp: int
    filters: Filters
    window: Window
    kernel: ConvKernel
    way: Way
    num_threads: int

    @property
    def is_direct(self) -> bool:
        """Whether the product gives these sums at once."""
        return self.is_safe and not self.kernel.compensates_in_f32

    @property
    def is_safe(self) -> bool:
        """Whether the product reads padding as codes.

        oneDNN's padding never saturates. So codes can stand for it where they are so small that no pair of them
        saturates (2*128*128 fits s16), and where no pair is half padding and half image.
        """
        low, high = (-dot.SHIFT, dot.SHIFT - 1) if self.src.dtype == np.int8 else (0, 2 * dot.SHIFT - 1)
        high = min(high, dot.SHIFT) if self.way.saturating else high
        return not self.way.order and low <= self.src_zp <= high

    def compensated(self, out: S32 | None = None) -> NDArray[Any]:
        """Give the sums (N, OH, OW, O), less what the shift of an s8 source and the zero point add: s32 or f32."""
        src, zero = self.src, self.src_zp
        panels, in_f32 = self.filters.packed(self.way), self.kernel.compensates_in_f32
        apart = in_f32 and src.dtype == np.int8  # else the kernel itself shifts and compensates an s8 source
        is_safe = self.is_safe
        pad = (zero if is_safe else 0) + (dot.SHIFT if apart else 0)
        image = dot.shifted(src) if apart else src
        acc: NDArray[Any] = convolve(
            self.images(image, pad, zero if is_safe and not in_f32 else 0), panels, out, num_threads=self.num_threads
        )
        if not in_f32 and (is_safe or not zero):
            return acc
        sums = panels.sums.astype(np.int64)
        if in_f32:
            acc = to_f32(acc)
        if apart:
            acc += to_f32(-dot.SHIFT * sums)
        if zero:
            if not is_safe:  # only the part of the window that lies on the image
                ones = self.images(np.ones((1, *src.shape[1:]), np.uint8))
                sums = convolve(ones, panels, num_threads=self.num_threads).astype(np.int64)
            acc = acc - to_f32(dot.wrap_s32(zero * sums)) if in_f32 else dot.wrap_s32(acc - zero * sums)
        return acc

    def images(self, x: NDArray[Any], pad: int = 0, zero: int = 0) -> Images:
        """Give what a product takes of x, padded with codes of `pad`: its sums are less `zero` times the weights'."""
        view = self.filters.view(x, self.window, self.way).transpose(0, 2, 3, 1)
        return Images(view, unrolled_window(self.window, self.way.order), pad, zero)

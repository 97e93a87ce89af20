"""Convolution: src NCHW, weights OIHW or GOIHW, dst NCHW. Shapes are logical, whatever the order in memory."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels import convolution as kernels
from qops.onednn import _checks as check
from qops.onednn import dot, output, reference
from qops.onednn.attr import NO_ATTR, Attr, Scales, as_scales
from qops.onednn.cast import ieee, store, to_f32
from qops.onednn.dot import S8, S32, S64
from qops.onednn.machine import CONV_KERNELS, DEFAULT_VERSION, ConvKernel, Machine, machine
from qops.onednn.window import DENSE, Window

__all__ = ["HALF", "ConvWeights", "convolution", "reorder_weights"]

HALF = np.float32(0.5)
"""What s8 convolution scales its weights by where pairs saturate: 2*255*64 = 32640 fits s16."""


def convolution(
    src: ArrayLike,
    weights: ArrayLike,
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
    weights : ndarray of int8 or float32, (O, C, KH, KW) or (G, O/G, C/G, KH, KW)
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

    Returns
    -------
    ndarray of `dst_dt`, (N, O, OH, OW)

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes or masks that do not fit, scales of another version, a kernel that does not fit in the
        image, a missing `dst_in` or `wq_scale`, NaN weights, an unknown name.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_x8s8s32x_conv_kernel.cpp, jit_avx512_core_x8s8s32x_conv_kernel.cpp, jit_brgemm_conv.cpp,
    src/cpu/ref_convolution_int8.cpp. Without AVX-512 groups whose inputs or outputs are no multiple of 4 go to the
    reference kernel. Sums above 2**24: kernels of one tap compensate in float32 where pairs saturate; plain s32 is
    stored as it is only by kernels built on BRGEMM, for a u8 source without zero point. Not modelled: odd groups on
    2.6 with AVX-512, which go to GEMM and pair across taps there.

    **Hazards.** All weights 1, all sources 1: 75 where 5x5x3 are summed, and 0 where the weights are halved.

    >>> src, weights = np.ones((1, 3, 5, 5), np.int8), np.ones((1, 3, 5, 5), np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [75, 0]

    A u8 source saturates there instead:

    >>> src, weights = np.full((1, 2, 1, 1), 255, np.uint8), np.full((1, 2, 1, 1), 127, np.int8)
    >>> [int(convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [64770, 32767]

    Padding never does, but the image does though its codes stand for 0, and looks darker than the padding:

    >>> window, attr = Window(pad_l=(0, 1)), Attr(src_zp=255)
    >>> [convolution(src, weights, window=window, attr=attr, isa=isa).ravel().tolist() for isa in ("vnni", "avx2")]
    [[0, 0], [0, -32003]]

    The accumulator wraps, from channels*taps = 65794 on at full range.
    """
    m = machine(version, isa)
    image = check.array(src, "src", [np.uint8, np.int8], 4)
    grouped, mask = _grouped(weights, image.shape[1])
    check.integer(num_threads, "num_threads", 1)
    check.choice(layout, "layout", ["nhwc", "nchw"])
    check.instance(window, "window", Window)
    check.instance(attr, "attr", Attr)
    attr.only("oscale", "src_scale", "wei_scale", "dst_scale", "src_zp", "dst_zp", "post_ops")
    batch, _, height, width = image.shape
    groups, outputs, _, kh, kw = grouped.shape
    dims = (batch, groups * outputs, *window.out_size((height, width), (kh, kw)))
    out = output.prepare(attr, m, dims, 1, mask, bias, dst_in, dst_dt)
    kernel = CONV_KERNELS["ref" if layout == "nchw" else _kind(image, grouped, attr, m)]
    halved = kernel.halves_s8 and m.saturates and image.dtype == np.int8
    packed = reorder_weights(grouped, wq_scale, m, halved=halved, mask=mask)
    acc = _accumulate(image, packed.codes, window, attr.src_zp or 0, kernel, m, num_threads)
    if kernel.is_ref:
        return reference.finish(acc, out, m, m.ref_scaling)
    is_compensated = image.dtype == np.int8 or attr.src_zp is not None
    return out.finish(acc, kernel.s32_via_f32 or is_compensated, packed.halved)


class ConvWeights(NamedTuple):
    """Weights as the kernel reads them."""

    codes: S8
    """(G, O, I, KH, KW)."""
    halved: bool
    """The codes are half of the weights; the accumulator must be doubled."""


@ieee
def reorder_weights(
    weights: NDArray[Any], wq_scale: Scales | float | None, m: Machine, *, halved: bool, mask: int = 1
) -> ConvWeights:
    """Reorder convolution weights (G, O, I, KH, KW): float32 to s8 if need be, and halved where pairs saturate.

    s8: ``w' = rne(w*0.5)``; float32: ``w' = rne(w*(s*0.5))``, s = wq_scale (2.6) or f32(1/wq_scale) (3.x).

    Notes
    -----
    **Hazards.** ``2*w' = w + d``, with d = 0 for even w, -1 where w mod 4 = 1, +1 where w mod 4 = 3:

    >>> w = np.int8([1, 2, 3, 127, -128]).reshape(1, 1, 5, 1, 1)
    >>> reorder_weights(w, None, machine("2.6", "avx2"), halved=True).codes.ravel()
    array([  0,   1,   2,  64, -64], dtype=int8)
    """
    factor = HALF if halved else np.float32(1)
    if weights.dtype == np.int8:
        if wq_scale is not None:
            raise ValueError(f"wq_scale: expected None for int8 weights, got {wq_scale!r}")
        return ConvWeights(store(to_f32(weights) * factor, "s8") if halved else weights, halved)
    if wq_scale is None:
        raise ValueError("wq_scale: expected the scale of float32 weights, got None")
    scale = output.per_channel("wq_scale", as_scales(wq_scale, "wq_scale"), weights.shape[0] * weights.shape[1], mask)
    if scale.size > 1:
        scale = scale.reshape(*weights.shape[:2], 1, 1, 1)
    scale = output.reciprocal(scale) if m.divides else scale
    return ConvWeights(store(weights * (scale * factor), "s8"), halved)


def _grouped(weights: ArrayLike, channels: int) -> tuple[NDArray[Any], int]:
    """Weights as (G, O, I, KH, KW), and the mask of scales that run along the output channels."""
    w = check.no_nan(check.array(weights, "weights", [np.int8, np.float32]), "weights")
    if w.ndim not in (4, 5):
        raise ValueError(f"weights: expected shape (O, I, KH, KW) or (G, O, I, KH, KW), got {w.shape}")
    mask = 1 if w.ndim == 4 else 3
    w = w[None] if w.ndim == 4 else w
    groups, _, inputs, kh, kw = w.shape
    if groups * inputs != channels or kh * kw == 0 or groups == 0:
        raise ValueError(f"weights: expected taps on the {channels} channels of src, got shape {w.shape}")
    return w, mask


def _kind(src: NDArray[Any], weights: NDArray[Any], attr: Attr, m: Machine) -> str:
    """Which kernel oneDNN picks for images stored nhwc."""
    groups, outputs, inputs, kh, kw = weights.shape
    if groups > 1:
        if outputs == inputs == 1:
            return "depthwise"
        return "ref" if outputs % m.group_block or inputs % m.group_block else m.conv_groups
    if kh == kw == 1:
        return m.conv_1x1
    if src.dtype == np.int8:
        return m.conv_s8
    return m.conv_u8 if attr.src_zp is None else m.conv_u8_zp


def _accumulate(
    src: NDArray[Any], codes: S8, window: Window, src_zp: int, kernel: ConvKernel, m: Machine, num_threads: int
) -> NDArray[Any]:
    """Images (N, G*I, H, W), codes (G, O, I, KH, KW) -> (N, G*O, OH, OW), s32, or f32 after an f32 compensation."""
    weights = codes.reshape(-1, *codes.shape[2:])
    # Padding never saturates: it may stand in the products where 2*128*128 fits s16.
    is_safe = np.iinfo(src.dtype).min <= src_zp <= min(128, np.iinfo(src.dtype).max)
    padding = src_zp if is_safe else 0
    apart = src.dtype == np.int8 and kernel.compensates_in_f32
    convolve = partial(_convolve, weights=weights, groups=len(codes), window=window, num_threads=num_threads)
    # An s8 image that is not shifted here is shifted, and compensated in s32, by the kernel.
    image, pad_value = (dot.shifted(src), padding + dot.SHIFT) if apart else (src, padding)
    acc: NDArray[Any] = convolve(image, pad_value=pad_value, saturating=m.saturates and not kernel.exact)
    if kernel.compensates_in_f32:
        acc = to_f32(acc)
    if apart:
        acc = acc + to_f32(dot.compensation(weights, axis=(1, 2, 3)))
    if src_zp:
        sums: S64 = weights.sum(axis=(1, 2, 3), dtype=np.int64)
        if not is_safe:  # only the part of the window that lies on the image
            sums = convolve(np.ones((1, *src.shape[1:]), np.uint8)).astype(np.int64)
        acc = acc - to_f32(src_zp * sums) if kernel.compensates_in_f32 else dot.wrap_s32(acc - src_zp * sums)
    return acc.transpose(0, 3, 1, 2)


def _convolve(
    image: NDArray[Any],
    weights: S8,
    groups: int,
    window: Window,
    pad_value: int = 0,
    saturating: bool = False,
    num_threads: int = 1,
) -> S32:
    """Give the kernel's sums, (N, OH, OW, O), of an image (N, C, H, W) and weights (O, I, KH, KW)."""
    (top, left), (bottom, right), (dy, dx) = window.pad_l, window.pad_r, window.dilation
    return kernels.convolve(
        image,
        weights,
        stride=window.stride,
        dilation=(dy + 1, dx + 1),
        padding=((top, bottom), (left, right)),
        pad_value=pad_value,
        layout="nchw",
        groups=groups,
        saturating=saturating,
        num_threads=num_threads,
    )

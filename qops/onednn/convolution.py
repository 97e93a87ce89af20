"""Convolution: src NCHW, weights OIHW or GOIHW, dst NCHW. The order in memory may be another."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn import output
from qops.onednn.attr import NO_ATTR, Attr, Scales, only
from qops.onednn.convolution_plan import Choice, Plan
from qops.onednn.convolution_weights import filters_of
from qops.onednn.machine import CONV_KERNELS, DEFAULT_VERSION, machine
from qops.onednn.unrolled import NARROW
from qops.onednn.weights import Product
from qops.onednn.window import DENSE, Window

__all__ = ["Convolution", "convolution"]

SOURCES = (np.uint8, np.int8)
"""The types of images."""


class Convolution(Product):
    """Prepared form of `convolution`: the weights are packed once, for many images of any size.

    The constructor takes and refuses what `convolution` does, and copies arrays. The op is called as
    ``op(src, out=None, num_threads=1, dst_in=None)``. Where pairs saturate, u8 and s8 images need other forms of the
    weights; the constructor packs all forms that the machine can need. The attribute `weights` gives what was given,
    (G, O/G, C/G, KH, KW), G = 1 without groups, read-only.

    Examples
    --------
    >>> op = qops.onednn.Convolution(
    ...     np.array([[[[1, 2]]]], np.int8), window=qops.onednn.Window(pad_l=(0, 1)), isa="avx2"
    ... )
    >>> op
    Convolution(np.int8([[[[1, 2]]]]), window=Window(pad_l=(0, 1)), isa='avx2')
    >>> op(np.array([[[[10, 20]]]], np.uint8)), op.shape_of((1, 1, 1, 2))
    (array([[[[20, 50]]]], dtype=int32), (1, 1, 1, 2))
    """

    _plans: dict[tuple[type, bool, bool], Plan]
    __slots__ = ("_end", "_filters", "_inputs", "_outputs", "_plans", "_taps")

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        window: Window = DENSE,
        dst_dt: str = "s32",
        attr: Attr = NO_ATTR,
        wq_scale: Scales | float | None = None,
        layout: str = "nhwc",
        isa: str = "vnni",
        version: str = DEFAULT_VERSION,
    ) -> None:
        weights, bias = check.own(weights, "weights"), check.own(bias, "bias")
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        m = machine(self.version, self.isa)
        self._filters = filters_of(self._arguments["weights"], self.wq_scale, m)
        check.choice(self.layout, "layout", ("nhwc", "nchw"))
        check.instance(self.window, "window", Window)
        only(self.attr, "oscale", "src_scale", "wei_scale", "dst_scale", "src_zp", "dst_zp", "post_ops")
        groups, outputs, inputs = self._filters.weights.shape[:3]
        self._inputs, self._outputs, self._taps = groups * inputs, groups * outputs, self._filters.taps
        self._end = output.prepare(self.attr, m, self.dst_dt, self.bias, self._outputs, wei_mask=self._filters.mask)
        self._plans = {} if once else self._all_plans()

    def _all_plans(self) -> dict[tuple[type, bool, bool], Plan]:
        """Give the plan of each type and form of images; equal plans are one object."""
        chosen = {key: self._choose(*key) for key in product(SOURCES, (True, False), (True, False))}
        panels = {way: self._filters.packed(way) for way in {way for _, _, way in chosen.values()}}
        made = {
            choice: Plan(self._end, self._taps, self.window, choice, panels[choice[2]])
            for choice in set(chosen.values())
        }
        return {key: made[choice] for key, choice in chosen.items()}

    def _choose(self, dtype: type, is_whole: bool, is_narrow: bool) -> Choice:
        """Tell which kernel oneDNN picks, and how it reads the weights.

        `is_whole`: the strides divide the height and width of the images. `is_narrow`: the result has few columns.
        """
        filters, attr, window = self._filters, self._end.attr, self.window
        kernel = CONV_KERNELS["ref"]
        if self.layout == "nhwc":
            kernel = filters.kernel(dtype, is_whole, attr.src_zp is not None, window)
        return dtype, kernel, filters.way(kernel, dtype, window, NARROW if is_narrow else NARROW + 1)

    @property
    def weights(self) -> NDArray[Any]:
        """The weights, (G, O/G, C/G, KH, KW), read-only."""
        return self._filters.weights.view()

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        down, across = self.window.moves.out_size((shape[2], shape[3]), self._taps, "weights")
        return shape[0], self._outputs, down, across

    def __call__(
        self, src: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1, dst_in: ArrayLike | None = None
    ) -> NDArray[Any]:
        """Give the destination; see `convolution`."""
        threads = check.int32(num_threads, "num_threads", 1)
        image = check.array(src, "src", check.CODES_8, 4)
        if image.shape[1] != self._inputs:
            raise self._filters.unfit(image)
        end, shape, (down, across) = self._end, self._shape(image.shape), self.window.stride
        key = image.dtype.type, image.shape[2] % down == image.shape[3] % across == 0, shape[3] <= NARROW
        plan = self._plans.get(key)
        if plan is None:  # the op is for a single call, which packs the weights only as it needs them
            choice = self._choose(*key)
            plan = Plan(end, self._taps, self.window, choice, self._filters.packed(choice[2]))
        if out is None and dst_in is None and plan.finish is not None:
            return plan.direct(image, None, threads).transpose(0, 3, 1, 2)
        dst = end.destination(shape, out, (image, self._filters.weights), dst_in).channels_last(1)
        made = plan.run(image, dst, out is not src, threads)
        return made.transpose(0, 3, 1, 2) if out is None else out


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
    weights : ndarray of int8 or float32, (O, C, KH, KW) or (G, O/G, C/G, KH, KW)
        For many images, `Convolution` packs them once.
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
        image, a missing `dst_in` or `wq_scale`, NaN weights, an unknown name, an `out` that
        does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_x8s8s32x_conv_kernel.cpp, jit_avx512_core_x8s8s32x_conv_kernel.cpp, jit_brgemm_conv.cpp,
    src/cpu/ref_convolution_int8.cpp. On AVX2, groups whose inputs or outputs are no multiple of 4 go to the reference
    kernel. Sums above 2**24 may lose low bits: kernels of one tap without padding compensate in float32 where pairs
    saturate, and plain s32 keeps all bits only in kernels built on BRGEMM, for a u8 source without a zero point.

    Not modelled: such groups on 2.6 with AVX-512, where GEMM pairs channels of different taps; s8 sums above 2**24 of
    padded images, which 3.13 with VNNI keeps exact; on 3.13 an image of one channel, stored nchw, with a zero point.
    Nor is a fault of 3.13: from the second group on, src_zp*sum(w) may be that of other filters, for some sizes of the
    layer. On VNNI it was seen in groups of one input and more than 16 outputs, on AMX with more inputs, too.

    **Hazards.** A sum of 5*5*3 ones is 75 with VNNI. Halved weights of 1 are rounded to 0, and so is the sum:

    >>> src, weights = np.ones((1, 3, 5, 5), np.int8), np.ones((1, 3, 5, 5), np.int8)
    >>> [int(qops.onednn.convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [75, 0]

    For a u8 source the weights are not halved, and pairs saturate:

    >>> src, weights = np.full((1, 2, 1, 1), 255, np.uint8), np.full((1, 2, 1, 1), 127, np.int8)
    >>> [int(qops.onednn.convolution(src, weights, isa=isa).item()) for isa in ("vnni", "avx2")]
    [64770, 32767]

    An image of one channel has no pairs of channels, so nothing can saturate. But 3.13 with AVX-512 and without VNNI
    treats the taps as channels, and pairs of taps do saturate:

    >>> grey, taps = np.full((1, 1, 7, 7), 255, np.uint8), np.zeros((1, 1, 3, 3), np.int8)
    >>> taps[0, 0, :2, 0] = 127
    >>> [int(qops.onednn.convolution(grey, taps, isa=isa)[0, 0, 0, 0]) for isa in ("vnni", "avx2", "avx512")]
    [64770, 64770, 32767]

    Padding never saturates. The image can, even if its codes stand for 0, and then it is darker than its padding:

    >>> window, attr = qops.onednn.Window(pad_l=(0, 1)), qops.onednn.Attr(src_zp=255)
    >>> [
    ...     qops.onednn.convolution(src, weights, window=window, attr=attr, isa=isa).ravel().tolist()
    ...     for isa in ("vnni", "avx2")
    ... ]
    [[0, 0], [0, -32003]]

    The accumulator wraps at 2**31: with the largest codes, from channels*taps = 65794 on.

    Examples
    --------
    >>> image = np.array([[0, 0, 9], [0, 5, 0], [1, 0, 0]], np.uint8).reshape(1, 1, 3, 3)
    >>> edges = np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]], np.int8).reshape(1, 1, 3, 3)
    >>> qops.onednn.convolution(image, edges, window=qops.onednn.Window(pad_l=(1, 1), pad_r=(1, 1)))[0, 0]
    array([[  0,  14, -36],
           [  6, -20,  14],
           [ -4,   6,   0]], dtype=int32)
    """
    return Convolution._once(locals())(src, out, num_threads, dst_in)

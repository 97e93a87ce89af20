"""Weights of convolutions: quantized and halved as oneDNN does it, and packed once for many images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.conv import weights as kernels
from qops.onednn import _checks as check
from qops.onednn import output
from qops.onednn.attr import Scales, as_scales
from qops.onednn.cast import store
from qops.onednn.dot import S8
from qops.onednn.machine import CONV_KERNELS, DEFAULT_VERSION, ConvKernel, Machine, machine
from qops.onednn.packed import packed_for
from qops.onednn.unrolled import Order, order_of, unrolled_image, unrolled_weights
from qops.onednn.window import Window

__all__ = [
    "HALF",
    "Filters",
    "PackedConvolutionWeights",
    "Way",
    "filters_of",
    "pack_convolution_weights",
    "reorder_weights",
]

HALF = np.float32(0.5)
"""The factor for weights of an s8 source where pairs saturate: 2*255*64 = 32640 fits s16."""


class Way(NamedTuple):
    """How a kernel reads weights."""

    saturating: bool
    """Pairs saturate. Those of halved s8 weights cannot, so they are multiplied exactly, which is as fast."""
    halved: bool
    """The codes are half of the weights, and the result must be doubled."""
    order: Order = ""
    """In which order taps are read as channels; see `qops.onednn.unrolled`."""


@dataclass(frozen=True, eq=False)
class Filters:
    """Checked weights of a convolution. They are packed each time a product needs them."""

    weights: NDArray[Any]
    """s8 or f32, (G, O, I, KH, KW)."""
    mask: int
    """The mask of scales, one for each output channel."""
    wq_scale: Scales | float | None
    machine: Machine

    @property
    def shape(self) -> tuple[int, ...]:
        """(G, O, I, KH, KW)."""
        return self.weights.shape

    @property
    def is_depthwise(self) -> bool:
        """True if each channel is a group of its own."""
        return self.shape[0] > 1 and self.shape[1] == self.shape[2] == 1

    def kernel(self, src: NDArray[Any], has_zp: bool, window: Window) -> ConvKernel:
        """Tell which kernel oneDNN picks for images (N, C, H, W) stored nhwc, with or without a zero point."""
        groups, outputs, inputs, kh, kw = self.shape
        m = self.machine
        if self.is_depthwise:
            return CONV_KERNELS["depthwise"]
        if groups > 1 and (outputs % 4 or inputs % 4 or inputs > m.group_inputs):
            return CONV_KERNELS[m.conv_groups]
        if kh == kw == 1 and not any((*window.pad_l, *window.pad_r)):
            single = CONV_KERNELS[m.conv_groups_1x1 if groups > 1 else m.conv_1x1]
            is_whole = not any(size % stride for size, stride in zip(src.shape[2:], window.stride, strict=True))
            if is_whole or not single.whole_strides:
                return single
        if groups > 1 or inputs < m.conv_inputs:
            return CONV_KERNELS["jit"]
        if src.dtype == np.int8:
            return CONV_KERNELS[m.conv_s8]
        return CONV_KERNELS[m.conv_u8_zp if has_zp else m.conv_u8]

    def way(self, kernel: ConvKernel, src: NDArray[Any], window: Window) -> Way:
        """Tell how `kernel` reads the weights for such images."""
        way = self._way(kernel, src.dtype)
        if not (way.saturating and self._unrolls and kernel is CONV_KERNELS["brg"]):
            return way
        return way._replace(order=order_of(self._taps, window, (src.shape[2], src.shape[3])))

    def _way(self, kernel: ConvKernel, src_dtype: DTypeLike) -> Way:
        saturates = self.machine.saturates
        halved = saturates and kernel.halves_s8 and src_dtype == np.int8
        is_safe = halved and self.weights.dtype == np.int8  # float32 weights can be above 64 even when halved
        return Way(saturates and not (kernel.exact or is_safe), halved)

    @property
    def _taps(self) -> tuple[int, int]:
        return self.shape[3], self.shape[4]

    @property
    def _unrolls(self) -> bool:
        return self.machine.conv_unrolls and self.shape[2] == 1

    def view(self, src: NDArray[Any], window: Window, way: Way) -> NDArray[Any]:
        """Give images in the layout that `way` reads."""
        return unrolled_image(src, self._taps, window, way.order) if way.order else src

    def packed(self, way: Way) -> kernels.PackedWeights:
        """Give the weights as the kernel reads them."""
        codes = reorder_weights(self.weights, self.wq_scale, self.machine, halved=way.halved, mask=self.mask)
        codes = unrolled_weights(codes, way.order) if way.order else codes
        return kernels.pack_weights(
            codes.reshape(len(codes) * codes.shape[1], *codes.shape[2:]), groups=len(codes), saturating=way.saturating
        )


@dataclass(frozen=True, eq=False, repr=False)
class PackedConvolutionWeights(Filters):
    """Convolution weights as the kernels read them; `pack_convolution_weights` makes it.

    Attributes
    ----------
    weights : ndarray of int8 or float32, (G, O/G, C/G, KH, KW), G = 1 without groups
        A copy of what was packed, read-only.
    machine : Machine
        The only one whose convolutions it may take part in.
    panels : mapping
        The packed weights for each way to read them. Where nothing saturates there is one way.
    """

    panels: Mapping[Way, kernels.PackedWeights]
    kept: list[Any] = field(default_factory=list, init=False)
    """What the last convolution knew before it looked at its images, for the next one; see `convolution.Call`."""

    def packed(self, way: Way) -> kernels.PackedWeights:
        """Give the weights as the kernel reads them.

        Parameters
        ----------
        way : Way
            How the kernel reads them.

        Returns
        -------
        PackedWeights

        Raises
        ------
        KeyError
            A way in which no kernel of this machine reads them.
        """
        return self.panels[way]

    def __repr__(self) -> str:
        m = self.machine
        return f"PackedConvolutionWeights({self.shape}, isa={m.isa!r}, version={m.version!r})"


def pack_convolution_weights(
    weights: ArrayLike,
    *,
    wq_scale: Scales | float | None = None,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
) -> PackedConvolutionWeights:
    """Pack the weights of a convolution once, for many images.

    `convolution` takes them in place of ``weights`` and ``wq_scale``. Its results have the same bits, for every source,
    window, layout and attribute.

    Parameters
    ----------
    weights : ndarray of int8 or float32, (O, C, KH, KW) or (G, O/G, C/G, KH, KW)
        They are copied.
    wq_scale : Scales or float, optional
        Needed by float32 weights; see `convolution`.
    isa, version : str, optional
        See `gemm_u8s8s32`. They decide what is done to weights, so a convolution must name the same. Where pairs
        saturate, three forms are kept: for u8 sources, for s8 sources, and for the reference kernel.

    Returns
    -------
    PackedConvolutionWeights

    Raises
    ------
    TypeError, ValueError
        Other dtypes or dimensions, no taps, a missing `wq_scale`, NaN weights, an unknown `isa` or `version`.

    Notes
    -----
    Source: src/cpu/reorder/cpu_reorder_comp.cpp, which this makes once, as well as the packing of qops.

    **Hazards.** Weights packed for one machine are refused by another:

    >>> packed = pack_convolution_weights(np.ones((1, 3, 5, 5), np.int8), isa="avx2")
    >>> packed
    PackedConvolutionWeights((1, 1, 3, 5, 5), isa='avx2', version='3.13')
    >>> from qops.onednn import convolution
    >>> src = np.ones((1, 3, 5, 5), np.int8)
    >>> convolution(src, packed, isa="avx2").item()
    0
    >>> convolution(src, packed)
    Traceback (most recent call last):
    ValueError: weights: packed for isa 'avx2' of version '3.13', expected isa 'vnni' of version '3.13'
    """
    m = machine(version, isa)
    grouped, mask = _grouped(weights)
    copy = grouped.copy()
    copy.flags.writeable = False
    given = Filters(copy, mask, wq_scale, m)
    used = ["depthwise" if given.is_depthwise else "jit", "ref"]
    ways = {given._way(CONV_KERNELS[name], dtype) for name in used for dtype in (np.uint8, np.int8)}
    if given._unrolls:
        ways |= {way._replace(order=order) for way in ways if way.saturating for order in ("rows", "columns")}
    return PackedConvolutionWeights(copy, mask, wq_scale, m, {way: given.packed(way) for way in ways})


def filters_of(
    weights: ArrayLike | PackedConvolutionWeights, wq_scale: Scales | float | None, src: NDArray[Any], m: Machine
) -> Filters:
    """Check the weights of a convolution of images (N, C, H, W)."""
    if isinstance(weights, PackedConvolutionWeights):
        if wq_scale is not None:
            raise ValueError(f"wq_scale: expected None for packed weights, got {wq_scale!r:.80}")
        filters: Filters = packed_for(weights, "weights", m)
    else:
        filters = Filters(*_grouped(weights), wq_scale, m)
    inputs, channels = filters.shape[0] * filters.shape[2], src.shape[1]
    if inputs != channels:
        given = filters.shape if filters.mask == 3 else filters.shape[1:]
        hint = " looks like NHWC, so give its transpose (0, 3, 1, 2)" if src.shape[3] == inputs else f" has {channels}"
        raise ValueError(f"weights: shape {given} is for {inputs} channels; src, NCHW, of shape {src.shape}{hint}")
    return filters


def _grouped(weights: ArrayLike) -> tuple[NDArray[Any], int]:
    """Give weights as (G, O, I, KH, KW), and the mask of scales for each output channel."""
    w = check.no_nan(check.array(weights, "weights", [np.int8, np.float32]), "weights")
    if w.ndim not in (4, 5):
        raise ValueError(f"weights: expected shape (O, I, KH, KW) or (G, O, I, KH, KW), got {w.shape}")
    mask = 1 if w.ndim == 4 else 3
    w = w[None] if w.ndim == 4 else w
    if 0 in (w.shape[0], *w.shape[3:]):
        raise ValueError(f"weights: expected at least one group and one tap, got shape {w.shape}")
    return w, mask


def reorder_weights(
    weights: NDArray[Any], wq_scale: Scales | float | None, m: Machine, *, halved: bool, mask: int = 1
) -> S8:
    """Make float32 weights (G, O, I, KH, KW) s8, and halve weights if `halved`.

    Halved s8 weights are ``w' = rne(w*0.5)``. Halved float32 weights are ``w' = rne(w*(s*0.5))``, where s is wq_scale
    in 2.6 and f32(1/wq_scale) in 3.x.

    Notes
    -----
    **Hazards.** Odd weights change: 2*w' is w - 1 where w mod 4 = 1, and w + 1 where w mod 4 = 3:

    >>> w = np.int8([1, 2, 3, 127, -128]).reshape(1, 1, 5, 1, 1)
    >>> reorder_weights(w, None, machine("2.6", "avx2"), halved=True).ravel()
    array([  0,   1,   2,  64, -64], dtype=int8)
    """
    if weights.dtype == np.int8:
        if wq_scale is not None:
            raise ValueError(f"wq_scale: expected None for int8 weights, got {wq_scale!r:.80}")
        return store(weights.astype(np.int32), "s8", scale=0.5) if halved else weights
    if wq_scale is None:
        raise ValueError("wq_scale: expected the scale of float32 weights, got None")
    scale = output.per_channel("wq_scale", as_scales(wq_scale, "wq_scale"), weights.shape[0] * weights.shape[1], mask)
    if scale.size > 1:
        scale = scale.reshape(*weights.shape[:2], 1, 1, 1)
    with np.errstate(all="ignore"):
        scale = output.reciprocal(scale) if m.divides else scale
        return store(weights * (scale * (HALF if halved else 1)), "s8")

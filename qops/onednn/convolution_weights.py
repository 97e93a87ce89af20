"""Weights of convolutions: which kernel of oneDNN takes them, quantized and halved as that kernel reads them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv import weights as kernels
from qops.checks import shown
from qops.onednn import _checks as check
from qops.onednn import output
from qops.onednn.attr import Scales, as_scales
from qops.onednn.cast import F32, store
from qops.onednn.dot import S8
from qops.onednn.machine import CONV_KERNELS, ConvKernel, Machine
from qops.onednn.unrolled import Order, order_of, unrolled_weights
from qops.onednn.window import Window

__all__ = ["HALF", "Filters", "Way", "filters_of", "reorder_weights"]

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


class Filters(NamedTuple):
    """Checked weights of a convolution."""

    weights: NDArray[Any]
    """s8 or f32, (G, O, I, KH, KW)."""
    mask: int
    """The mask of scales, one for each output channel."""
    factor: F32 | None
    """float32 weights are multiplied by it; it broadcasts against them. None for s8 weights."""
    machine: Machine

    @property
    def is_depthwise(self) -> bool:
        """True if each channel is a group of its own."""
        groups, _, inputs = self.weights.shape[:3]
        return groups > 1 and self.weights.shape[1] == inputs == 1

    @property
    def taps(self) -> tuple[int, int]:
        """Height and width of the kernel."""
        return self.weights.shape[3], self.weights.shape[4]

    def unfit(self, src: NDArray[Any]) -> ValueError:
        """Give the error of images (N, C, H, W) that have another number of channels."""
        inputs = self.weights.shape[0] * self.weights.shape[2]
        given = self.weights.shape if self.mask == 3 else self.weights.shape[1:]
        is_nhwc = src.shape[3] == inputs
        hint = " looks like NHWC, so give its transpose (0, 3, 1, 2)" if is_nhwc else f" has {src.shape[1]}"
        return bad_value("weights", f"shape {given} is for {inputs} channels; src, NCHW, of shape {src.shape}{hint}")

    def kernel(self, src_dtype: DTypeLike, is_whole: bool, has_zp: bool, window: Window) -> ConvKernel:
        """Tell which kernel oneDNN picks for images stored nhwc, with or without a zero point.

        `is_whole` tells whether the height and width of the images are multiples of the strides.
        """
        groups, outputs, inputs, kh, kw = self.weights.shape
        m = self.machine
        if self.is_depthwise:
            return CONV_KERNELS["depthwise"]
        if groups > 1 and (outputs % 4 or inputs % 4 or inputs > m.group_inputs):
            return CONV_KERNELS[m.conv_groups]
        if kh == kw == 1 and not any((*window.pad_l, *window.pad_r)):
            single = CONV_KERNELS[m.conv_groups_1x1 if groups > 1 else m.conv_1x1]
            if is_whole or not single.whole_strides:
                return single
        if groups > 1 or inputs < m.conv_inputs:
            return CONV_KERNELS["jit"]
        if src_dtype == np.int8:
            return CONV_KERNELS[m.conv_s8]
        return CONV_KERNELS[m.conv_u8_zp if has_zp else m.conv_u8]

    def way(self, kernel: ConvKernel, src_dtype: DTypeLike, window: Window, columns: int) -> Way:
        """Tell how `kernel` reads the weights, for a result of so many columns."""
        saturates = self.machine.saturates
        halved = saturates and kernel.halves_s8 and src_dtype == np.int8
        is_safe = halved and self.weights.dtype == np.int8  # float32 weights can be above 64 even when halved
        way = Way(saturates and not (kernel.exact or is_safe), halved)
        unrolls = self.machine.conv_unrolls and self.weights.shape[2] == 1 and kernel is CONV_KERNELS["brg"]
        return way._replace(order=order_of(self.taps, window, columns)) if way.saturating and unrolls else way

    def packed(self, way: Way) -> kernels.PackedWeights | None:
        """Give the weights as the kernel reads them; None if there are none."""
        if not self.weights.size:
            return None
        codes = reorder_weights(self.weights, self.factor, halved=way.halved)
        codes = unrolled_weights(codes, way.order) if way.order else codes
        return kernels.pack_weights(
            codes.reshape(len(codes) * codes.shape[1], *codes.shape[2:]), groups=len(codes), saturating=way.saturating
        )


def filters_of(weights: ArrayLike, wq_scale: Scales | float | None, m: Machine) -> Filters:
    """Check the weights of a convolution."""
    w = check.no_nan(check.array(weights, "weights", ["int8", "float32"]), "weights")
    if w.ndim not in (4, 5):
        raise bad_value("weights", f"expected shape (O, I, KH, KW) or (G, O, I, KH, KW), got {w.shape}")
    mask = 1 if w.ndim == 4 else 3
    w = w[None] if w.ndim == 4 else w
    if 0 in (w.shape[0], *w.shape[3:]):
        raise bad_value("weights", f"expected at least one group and one tap, got shape {w.shape}")
    if w.dtype == np.int8:
        if wq_scale is not None:
            raise bad_value("wq_scale", f"expected None for int8 weights, got {shown(wq_scale)}")
        return Filters(w, mask, None, m)
    if wq_scale is None:
        raise bad_value("wq_scale", "expected the scale of float32 weights, got None")
    scale = output.per_channel("wq_scale", as_scales(wq_scale, "wq_scale"), w.shape[0] * w.shape[1], mask)
    if scale.size > 1:
        scale = scale.reshape(*w.shape[:2], 1, 1, 1)
    with np.errstate(all="ignore"):
        return Filters(w, mask, output.reciprocal(scale) if m.divides else scale, m)


def reorder_weights(weights: NDArray[Any], factor: F32 | None, *, halved: bool) -> S8:
    """Make float32 weights (G, O, I, KH, KW) s8, and halve weights if `halved`.

    Halved s8 weights are ``w' = rne(w*0.5)``. Halved float32 weights are ``w' = rne(w*(s*0.5))``, where s is `factor`:
    wq_scale in 2.6, and f32(1/wq_scale) in 3.x.

    Notes
    -----
    Source: src/cpu/reorder/cpu_reorder_comp.cpp.

    **Hazards.** Odd weights change: 2*w' is w - 1 where w mod 4 = 1, and w + 1 where w mod 4 = 3:

    >>> from qops.onednn.convolution_weights import reorder_weights
    >>> w = np.array([1, 2, 3, 127, -128], np.int8).reshape(1, 1, 5, 1, 1)
    >>> reorder_weights(w, None, halved=True).ravel()
    array([  0,   1,   2,  64, -64], dtype=int8)
    """
    if factor is None:
        return store(weights.astype(np.int32), "s8", scales=0.5) if halved else weights
    with np.errstate(all="ignore"):
        return store(weights * (factor * (HALF if halved else 1)), "s8", names="weights, wq_scale")

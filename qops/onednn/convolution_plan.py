"""How one kernel of oneDNN convolves images of one type: everything that is known before the images."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import PackedWeights
from qops.checks import put
from qops.onednn import dot
from qops.onednn.cast import DTYPES, to_f32
from qops.onednn.convolution_weights import Way
from qops.onednn.destination import Destination
from qops.onednn.machine import ConvKernel
from qops.onednn.output import Output
from qops.onednn.unrolled import unrolled_image, unrolled_window
from qops.onednn.window import Window

__all__ = ["Choice", "Plan"]


Choice: TypeAlias = tuple[type, ConvKernel, Way]


class Plan:
    """A kernel, its packed weights, and what it does to the sums.

    `end`: the attribute and bias, checked. `choice`: the type of the images, the kernel for them, and how it reads the
    weights. `panels`: the weights, packed so; None if they have no elements, so that all sums are 0.
    """

    def __init__(
        self, end: Output, taps: tuple[int, int], window: Window, choice: Choice, panels: PackedWeights | None
    ) -> None:
        src_dtype, kernel, way = choice
        attr, m = end.attr, end.machine
        self.taps, self.window, self.kernel, self.way, self.panels = taps, window, kernel, way, panels
        self.epilogue = end.epilogue(doubled=way.halved, reference=m.ref_scaling if kernel.is_ref else None)
        self.via_f32 = kernel.s32_via_f32 or attr.src_zp is not None or src_dtype == np.int8
        self.src_zp = attr.src_zp or 0
        # oneDNN's padding never saturates. So codes can stand for it where they are so small that no pair of them
        # saturates (2*128*128 fits s16), and where no pair is half padding and half image.
        low, high = (-dot.SHIFT, dot.SHIFT - 1) if src_dtype == np.int8 else (0, 2 * dot.SHIFT - 1)
        high = min(high, dot.SHIFT) if way.saturating else high
        self.pads_with_codes = not way.order and low <= self.src_zp <= high
        self.finish: Finish | None = None  # what makes the result while the sums are made
        if panels is not None and self.pads_with_codes and not kernel.compensates_in_f32:
            if self.epilogue.is_plain and not self.via_f32:
                self.finish = Finish()
            elif self.epilogue.stage.is_finite and not attr.has_sum:
                self.finish = Finish(codes=self.epilogue.stage, typenum=np.dtype(DTYPES[end.dt]).num)

    def run(self, src: NDArray[Any], dst: Destination, is_apart: bool, num_threads: int) -> NDArray[Any]:
        """Convolve images (N, C, H, W) into a destination whose channels are last, and which may be the images."""
        if self.finish is None:
            sums = np.zeros(dst.shape, np.int32) if self.panels is None else self._sums(src, self.panels, num_threads)
            return self.epilogue.finish(sums, dst, self.via_f32)
        place = dst.out if dst.out is not None and is_apart and dst.out.flags.aligned else None
        return put(self.direct(src, place, num_threads), dst.out)

    def direct(self, src: NDArray[Any], out: NDArray[Any] | None, num_threads: int) -> NDArray[Any]:
        """Convolve images (N, C, H, W) at once into codes or sums (N, OH, OW, O), in `out` if it is given."""
        images = Images(src.transpose(0, 2, 3, 1), self.window.moves, self.src_zp, self.src_zp)
        return convolve(images, self.panels, out, self.finish, num_threads=num_threads)

    def _sums(self, src: NDArray[Any], panels: PackedWeights, num_threads: int) -> NDArray[Any]:
        """Give the sums (N, OH, OW, O), less what the shift of an s8 source and the zero point add: s32 or f32."""
        zero, is_safe, in_f32 = self.src_zp, self.pads_with_codes, self.kernel.compensates_in_f32
        apart = in_f32 and src.dtype == np.int8  # else the kernel itself shifts and compensates an s8 source
        pad = (zero if is_safe else 0) + (dot.SHIFT if apart else 0)
        images = self._images(dot.shifted(src) if apart else src, pad, zero if is_safe and not in_f32 else 0)
        acc: NDArray[Any] = convolve(images, panels, num_threads=num_threads)
        if not in_f32 and (is_safe or not zero):
            return acc
        sums = panels.sums.astype(np.int64)
        if in_f32:
            acc = to_f32(acc)
        if apart:
            acc += to_f32(-dot.SHIFT * sums)
        if zero:
            if not is_safe:  # only the part of the window that lies on the image
                ones = self._images(np.ones((1, *src.shape[1:]), np.uint8))
                sums = convolve(ones, panels, num_threads=num_threads).astype(np.int64)
            acc = acc - to_f32(dot.wrap_s32(zero * sums)) if in_f32 else dot.wrap_s32(acc - zero * sums)
        return acc

    def _images(self, x: NDArray[Any], pad: int = 0, zero: int = 0) -> Images:
        """Give what a product takes of x, padded with codes of `pad`: its sums are less `zero` times the weights'."""
        order = self.way.order
        view = unrolled_image(x, self.taps, self.window, order) if order else x
        return Images(view.transpose(0, 2, 3, 1), unrolled_window(self.window, order), pad, zero)

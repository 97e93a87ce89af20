"""`Convolution`, the base of CONV_2D and DEPTHWISE_CONV_2D: packed weights, windows over images NHWC, stages."""

from __future__ import annotations

from math import inf, prod
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Conv2D as Kernel
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops.checks import as_array, int32, integer, put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.losses import MOST_TAPS, LanePairs, Losses, Lossy, losses
from qops.tflite.weights import Rounding, WeightedOp, bias_of, fit_in_halves, in_blocks, scale_of
from qops.tflite.window import UnsizedWindow, wide_sums

__all__ = ["Convolution"]


class Parts(NamedTuple):
    """A convolution whose last output channels, its tail, have a rule of their own."""

    whole: Kernel
    """The kernel with the rule of whole blocks of channels; it makes all channels."""
    tail: Kernel
    """The kernel with the rule of the tail; it makes the groups that hold the tail."""
    first: int
    """The output channel that the tail begins at."""
    start: int
    """The output channel that its groups begin at."""
    channel: int
    """The channel of x that its groups begin at."""


class Convolution(WeightedOp):
    """The base of CONV_2D and DEPTHWISE_CONV_2D: packed weights, the window, the stages."""

    __slots__ = (
        *("_bias", "_channels", "_count", "_kernel", "_many", "_moves", "_packed", "_parts"),
        *("_single", "_size", "_stage", "_sums", "_wraps"),
    )
    _is_dense: ClassVar[bool] = True
    """Whether each result is a sum over several channels."""

    def _pack(self, given: SimpleNamespace, w: NDArray[Any], groups: int) -> None:
        """Check weights (O, H, W, I) and what belongs to them, pack them, and make the stage."""
        facts, self._count, self._size, self._channels = self._facts, len(w), w.shape[1:3], groups * w.shape[3]
        fit_in_halves(w, w[0].size, self._dtype)
        self._bias = bias_of(given.bias, self._dtype, len(w))
        w_zero = self._w_zero(given)
        self._zeros = given.x_zero_point, w_zero
        self._moves = UnsizedWindow(given.stride, given.dilation, given.padding)
        self._packed = pack_weights(w.transpose(0, 3, 1, 2), groups=groups, neighbours=given.dilation[1] == 1)
        derive = {"uint8": facts.u8_scale, "int8": facts.channel_scale}.get(given.w_type, "double")
        is_taken = self._dtype != np.int16 and given.w_type != "int4"  # XNNPACK leaves all else to the next kernels
        below = facts.scale_below if is_taken else inf
        w_scale = check.scales(given.w_scale, "w_scale", len(w))
        scale = scale_of(given, w_scale, self._dtype, derive if self._dtype != np.int16 else "double", below)
        y = given.y_zero_point, self._limits(given, is_taken, facts.checks_activation or not is_taken)
        rule, block = self._rule(given, groups)
        self._rounding = Rounding(rule, scale, *y)
        self._stage, self._kernel, self._parts = self._rounding.stage(), None, None
        window, same = Window(given.stride, given.dilation), given.padding == "SAME"
        zero, typenum = given.x_zero_point, self._dtype.num
        self._single: Any = None
        self._many = self._sums = None
        self._wraps = self._is_dense and self._dtype == np.int8 and self._rounding.may_wrap(facts.wraps_below)
        if self._dtype != np.int16:
            finish = Finish(w_zero, self._bias, self._stage, typenum)
            self._kernel = Kernel(self._packed, window, finish, zero, typenum, same=same)
            self._pack_columns(given, w, groups, window)
        if len(w) % block:
            self._rounding = self._rounding._replace(rule=in_blocks(rule, facts.tail, block))
            first, each = len(w) // block * block, len(w) // groups
            channel = first // each
            start = channel * each
            rest = pack_weights(w[start:].transpose(0, 3, 1, 2), groups=groups - channel)
            some = scale[start:] if isinstance(scale, np.ndarray) else scale
            bias = None if self._bias is None else self._bias[start:]
            finish = Finish(w_zero, bias, Rounding(facts.tail, some, *y).stage(), typenum)
            tail = Kernel(rest, window, finish, zero, typenum, same=same)
            self._parts, self._kernel = Parts(self._kernel, tail, first, start, channel), None

    def _pack_columns(self, given: SimpleNamespace, w: NDArray[Any], groups: int, window: Window) -> None:
        """Prepare calls that make one pixel, which may have a rule of their own, and sums that lose something."""
        facts, (rule, scale, *_), typenum = self._facts, self._rounding, self._dtype.num
        rest: dict[str, Any] = {"same": given.padding == "SAME"}
        zero, w_zero = self._zeros
        other = facts.one_column.get(rule) if groups == 1 and len(w) >= 4 and w[0].size >= 8 else None
        if other:
            finish = Finish(w_zero, self._bias, self._rounding._replace(rule=other).stage(), typenum)
            self._single = Kernel(self._packed, window, finish, zero, typenum, **rest)
        left, pairs = self._left_shifts().get(rule, ""), ""
        if facts.depthwise_pairs and self._dtype == np.int8 and len(w) == groups and w.shape[3] == 1:
            pairs = facts.depthwise_pairs if w[0].size <= MOST_TAPS else ""
        elif self._is_dense and rule in facts.rules_of_pairs:
            pairs = facts.pairs
        lossy = Lossy(w_zero, (self._dtype, zero), scale, left, LanePairs(pairs, self._size), groups)
        self._losses = losses(w.reshape(len(w), -1, w.shape[3]), lossy)
        self._lossy = lossy if left or pairs else None
        if self._losses is not None or self._wraps:
            self._sums = self._sums_kernel(given)
        if other or self._sums is not None:
            self._many, self._kernel = self._kernel, None

    def _sums_kernel(self, given: SimpleNamespace) -> Kernel:
        """Give the kernel that leaves the sums as they are."""
        (zero, w_zero), window = self._zeros, Window(given.stride, given.dilation)
        finish = Finish(w_zero, self._bias)
        return Kernel(self._packed, window, finish, zero, self._dtype.num, same=given.padding == "SAME")

    def _left_shifts(self) -> dict[str, str]:
        """Give what happens to sums that a shift to the left takes beyond int32, by the rule."""
        return self._facts.left_shift

    def _w_zero(self, given: SimpleNamespace) -> int:
        """Give the zero point of the weights: 0, but for uint8."""
        return integer(given.w_zero_point, "w_zero_point", 0, 255 if self._dtype == np.uint8 else 0)

    def _rule(self, given: SimpleNamespace, groups: int) -> tuple[str, int]:
        """Give the rule of whole blocks of output channels, and the size of a block; the tail has `facts.tail`."""
        raise NotImplementedError

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        window = self._moves.over(shape, self._size, self._channels)
        return (shape[0], *window.out_size(shape[1:3], self._size, "x, w"), self._count)

    @property
    def nbytes(self) -> int:
        """Bytes of the packed weights."""
        return int(self._packed.nbytes)

    def windows(self, shape: tuple[int, ...]) -> dict[str, int]:
        """Give, by name, how windows move over images of this shape: size, stride, dilation, padding."""
        return self._moves.integers(shape, self._size)

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Convolve `x` on so many threads, into `out` if it is given."""
        return self._convolved(x, out, num_threads)

    def _convolved(self, x: ArrayLike, out: NDArray[Any] | None, num_threads: int) -> NDArray[Any]:
        if self._is_single(np.shape(x)):
            return self._single(x, out, num_threads)
        if self._many is not None and self._sums is None:
            return self._many(x, out, num_threads)
        if self._parts is None:
            return self._of_sums(x, out, num_threads)
        whole, tail, first, start, channel = self._parts
        codes: NDArray[Any] = whole(x, out, num_threads)
        codes[..., first:] = tail(as_array(x, "x")[..., channel:], None, num_threads)[..., first - start :]
        return codes

    def _losses_of(self, w: NDArray[Any], lossy: Lossy) -> Losses | None:
        rows = w if self._is_dense else w.transpose(3, 1, 2, 0)
        return losses(rows.reshape(len(rows), -1, rows.shape[3]), lossy)

    def _left(self, found: Losses, sums: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        return found.of(sums, lambda: self._moves.taps(x, self._size, self._zeros[0]))

    def _is_single(self, shape: tuple[int, ...]) -> bool:
        return self._single is not None and prod(self._shape(shape)[:3]) == 1

    def _of_sums(self, x: ArrayLike, out: NDArray[Any] | None, num_threads: int) -> NDArray[Any]:
        """Convolve to sums first, those of codes of 16 bits and those that lose something; then make codes."""
        threads, data = int32(num_threads, "num_threads", 1), self._codes(x)
        window, shape = self._moves.over(data.shape, self._size, self._channels), self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        made = np.empty(shape, self._dtype)
        if self._sums is None:
            sums: NDArray[Any] = wide_sums(data, self._packed, window, self._bias, self._rounding.rule, threads)
        else:
            sums = self._sums(data, None, threads)
        sums = self.kept(sums, data)
        self._stage.run(sums, made)
        if self._wraps:
            self._rounding.wrap(sums, made)
        return put(made, out)

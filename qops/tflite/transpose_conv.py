"""TRANSPOSE_CONV: each pixel of an image adds its multiple of the weights OHWI to a larger image."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.axis import Axis
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve
from qops._kernels.conv.finish import Finish
from qops._kernels.conv.weights import pack_weights
from qops.checks import int32, integer, native, put, shown
from qops.tflite import _checks as check
from qops.tflite.losses import LanePairs, Losses, Lossy, losses, unsafe_pairs
from qops.tflite.weights import Rounding, WeightedOp, bias_of, fit_in_halves, in_blocks, scale_of, weights_of
from qops.tflite.window import UnsizedWindow, wide_sums

__all__ = ["TransposeConv", "transpose_conv"]

DENSE, INT32 = Window(), np.dtype(np.int32)
WINDOWS = UnsizedWindow((1, 1), (1, 1), "VALID")


class TransposeConv(WeightedOp):
    """The prepared form of `transpose_conv` of int8 or int16, called ``op(x, out=None, num_threads=1)``.

    The weights are packed once, for images of one size of the result.
    """

    __slots__ = (
        *("_bias", "_blocks", "_channels", "_images", "_packed", "_pairs", "_places", "_size", "_stage"),
        "_wraps",
    )
    _name = "TRANSPOSE_CONV"

    def __init__(
        self,
        output_shape: ArrayLike,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_scale: float,
        x_zero_point: int,
        w_scale: ArrayLike,
        y_scale: float,
        y_zero_point: int,
        w_zero_point: int = 0,
        stride: tuple[int, int] = (1, 1),
        padding: str = "VALID",
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        facts, w = self._facts, weights_of(given.w, "int8", 4, self._dtype)
        integer(given.w_zero_point, "w_zero_point", 0, 0)
        shape = native(given.output_shape, "output_shape", ("int32", "int64"))
        if shape.shape != (4,) or shape.min() < 0 or shape[3] != len(w):
            raise bad_value("output_shape", f"expected N, H, W, {len(w)}, got {shown(shape)}")
        self._size, self._channels, self._zeros = tuple(shape.tolist()), w.shape[3], (given.x_zero_point, 0)
        fit_in_halves(w, w[0].size, self._dtype)
        self._bias = bias_of(given.bias, self._dtype, len(w))
        if self._dtype == np.int16 and self._has_32 and not facts.transpose_bias32:
            raise bad_value("bias", f"{given.kernel} reads a bias of int16 data as int64, got int32")
        kernel, stride = w.shape[1:3], given.stride
        covers = kernel[0] >= stride[0] and kernel[1] >= stride[1]
        takes = covers or given.padding == "VALID"  # XNNPACK leaves others to the next kernels
        is_taken = takes and self._dtype == np.int8
        derive, below = (facts.channel_scale, facts.scale_below) if is_taken else ("double", inf)
        scale = scale_of(given, check.scales(given.w_scale, "w_scale", len(w)), self._dtype, derive, below)
        rule, block = self._rule(takes)
        y = given.y_zero_point, self._limits(given, takes)
        self._rounding = Rounding(rule, scale, *y)
        self._stage, self._blocks = self._rounding.stage(), None
        self._wraps = is_taken and self._rounding.may_wrap(facts.wraps_below)
        if len(w) % block:
            self._rounding = self._rounding._replace(rule=in_blocks(rule, facts.tail, block))
            self._blocks = self._rounding.requantize(self._dtype)
        axes = self._axes(given, w.shape)
        counts = tuple(axis.slack // axis.stride + 1 for axis in axes)  # below 0 if w is larger: then no image fits
        self._images = counts if facts.checks_output_shape else None
        self._places = kernel, stride, [axis.kernel - 1 - axis.before for axis in axes]
        self._packed = pack_weights(w[:, ::-1, ::-1].transpose(0, 3, 1, 2))
        self._pairs = facts.transpose_pairs if self._dtype == np.int8 else ""
        if self._pairs == "grid" and not covers:
            self._pairs = "all" if takes else "pixels"
        if self._pairs:
            self._lossy = Lossy(0, (self._dtype, 0), 1.0, "", LanePairs("tap"))
            self._losses = self._losses_of(w, self._lossy)

    def _axes(self, given: SimpleNamespace, shape: tuple[int, ...]) -> list[Axis]:
        """Give the axes of the convolution that takes the result to `x`."""
        each = zip(self._size[1:3], shape[1:3], given.stride, strict=True)
        if given.padding == "VALID":
            return [Axis(taps, stride).over(size) for size, taps, stride in each]
        return [Axis(taps, stride).same(size) for size, taps, stride in each]

    @property
    def _has_32(self) -> bool:
        return self._bias is not None and self._bias.dtype == np.int32

    def _rule(self, takes: bool) -> tuple[str, int]:
        """Give the rule of the codes, and how many channels it takes together."""
        facts = self._facts
        if self._dtype == np.int16:
            return (facts.transpose_bias32, facts.channel_block) if self._has_32 else ("tflite-int64acc", 1)
        return (facts.transpose, facts.transpose_block) if takes else (facts.transpose_beyond, facts.channel_block)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 4 or shape[3] != self._channels:
            raise bad_value("x", f"expected images (N, H, W, {self._channels}), got shape {shape}")
        if self._images not in (None, shape[1:3]):
            raise bad_value("x, output_shape", f"{self._size} is made of images of {self._images}, got shape {shape}")
        return (shape[0], *self._size[1:])

    @property
    def nbytes(self) -> int:
        """Bytes of the packed weights."""
        return int(self._packed.nbytes)

    @property
    def integers(self) -> dict[str, Any]:
        """The stride, and what padding cuts off the result at its top and at its left."""
        (kh, kw), (down, across), before = self._places
        pads = {"pad_top": kh - 1 - before[0], "pad_left": kw - 1 - before[1]}
        return {"stride_h": down, "stride_w": across, **pads}

    def _spread(self, x: NDArray[Any], between: int, around: int) -> NDArray[Any]:
        """Give an image whose windows are those of the result, with the pixels of `x` a stride apart.

        `around` is at places a whole number of strides from them, beyond the image, and `between` at all others.
        """
        kernel, stride, before = self._places
        size = [n + k - 1 for n, k in zip(self._size[1:3], kernel, strict=True)]
        wide = np.full((len(x), *size, self._channels), between, self._dtype)
        rows, columns = (slice(b % s, None, s) for b, s in zip(before, stride, strict=True))
        grid = wide[:, rows, columns]
        grid[:] = around
        top, left = (b // s for b, s in zip(before, stride, strict=True))
        places = grid[:, top:, left:]
        some = x[:, : places.shape[1], : places.shape[2]]
        places[:, : some.shape[1], : some.shape[2]] = some
        return wide

    def _losses_of(self, w: NDArray[Any], lossy: Lossy) -> Losses | None:
        return losses(w[:, ::-1, ::-1].reshape(len(w), -1, self._channels), lossy)

    @property
    def unsafe_pairs(self) -> tuple[int, int]:
        """How many pairs of products of some data leave 16 bits, and how many pairs there are; 0 of 0 in wide lanes."""
        if not self._pairs:
            return 0, 0
        down, across = self._places[0]
        return unsafe_pairs(self._losses, (self._size[3], down * across, self._channels), "tap")

    def _left(self, found: Losses, sums: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
        no_code = 0  # which is not the lowest one
        around = no_code if self._pairs == "pixels" else self._zeros[0]
        seen = self._spread(x, self._zeros[0] if self._pairs == "all" else no_code, around)
        return found.of(sums, lambda: WINDOWS.taps(seen, self._places[0], no_code))

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Give the result of `x` on so many threads, in `out` if it is given."""
        threads, data = int32(num_threads, "num_threads", 1), self._codes(x)
        shape = self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        wide = self._spread(data, self._zeros[0], self._zeros[0])
        if self._dtype != np.int16:
            images, first = (
                Images(wide, DENSE, self._zeros[0], self._zeros[0]),
                None if self._blocks or self._wraps or self._losses else self._stage,
            )
            finish = Finish(0, self._bias, first, self._dtype.num if first else INT32.num)
            if first:
                return convolve(images, self._packed, out, finish, num_threads=threads)
            sums: NDArray[Any] = self.kept(convolve(images, self._packed, None, finish, num_threads=threads), data)
        else:
            sums = wide_sums(wide, self._packed, DENSE, self._bias, self._rounding.rule, threads)
        made = np.empty(shape, self._dtype)
        if self._blocks:
            self._blocks(sums.astype(INT32), made)
        else:
            self._stage.run(sums, made)
        if self._wraps:
            self._rounding.wrap(sums, made)
        return put(made, out)


def transpose_conv(
    x: ArrayLike,
    output_shape: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: ArrayLike,
    y_scale: float,
    y_zero_point: int,
    w_zero_point: int = 0,
    stride: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    activation: str = "NONE",
    kernel: str = "reference",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add the weights OHWI, times each pixel of an image, to a larger image.

    Pixel (i, j) adds to the places from ``i * stride - before`` on. Sums become codes as in `conv_2d`, but the
    optimised kernels round as the reference does. XNNPACK leaves kernels that are smaller than the stride to them.
    On ARM without dot products both add the products of the channels k and k + 8 of a tap in 16 bits, as in `conv_2d`.
    XNNPACK counts the zero point around the image as data there.

    Parameters
    ----------
    x : ndarray of int8 or int16, (N, H, W, C)
        Codes.
    output_shape : array of int32, (4,)
        N, OH, OW and O of the result; it has as many images as `x`, whatever N is.
    w : ndarray of int8, (O, KH, KW, C)
        Weights.
    bias : ndarray, optional
        int32; for data of int16 int64 or int32. One value an output channel, of scale x_scale * w_scale.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_scale : float or 1-D array
        Real size of a code step of the weights: one, or one for each output channel.
    y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_zero_point : int
        It is 0.
    stride : (int, int)
        Vertical and horizontal distance of the windows.
    padding : {"VALID", "SAME"}
        That of the convolution which takes the result to `x`.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, num_threads, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, `output_shape`

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a kernel library that has no such
        op; a limit of the activation that int32 does not hold; images of which LiteRT makes another `output_shape`.

    Notes
    -----
    Sources: TFLite ``transpose_conv.cc``, ``integer_ops/transpose_conv.h``; XNNPACK ``qs8-igemm``.

    Examples
    --------
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0}
    >>> x, w = np.array([[[[1], [2]]]], np.int8), np.array([[[[1], [10]]]], np.int8)
    >>> qops.tflite.transpose_conv(x, np.array([1, 1, 4, 1], np.int32), w, stride=(1, 2), **how).ravel()
    array([ 1, 10,  2, 20], dtype=int8)

    **Hazard.** On ARM without dot products, two products of -128 by -128 that lie 8 codes apart make a sum 65536 too
    small; XNNPACK loses more around an image whose zero point is -128:

    >>> low, how = np.full((1, 1, 1, 16), -128, np.int8), how | {"x_zero_point": -128, "y_scale": 65536.0}
    >>> w, zero, size = low.repeat(3, 2), np.array([0], np.int32), np.array([1, 1, 3, 1], np.int32)
    >>> [
    ...     qops.tflite.transpose_conv(low, size, w, zero, **how, kernel=k).ravel().tolist()
    ...     for k in ("xnnpack_arm", "optimized_neon", "xnnpack_neon")
    ... ]
    [[0, 0, 0], [-8, -8, -8], [-24, -24, -24]]
    """
    return TransposeConv._on(locals(), x, out, num_threads)

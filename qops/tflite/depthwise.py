"""DEPTHWISE_CONV_2D: each channel convolved by itself, with weights 1HWO."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32, native, put
from qops.prepared import direct
from qops.tflite import _checks as check
from qops.tflite.arithmetic import double_high, quantized, shifted_up, wrap
from qops.tflite.convolution_base import Convolution
from qops.tflite.weights import weights_of

__all__ = ["DepthwiseConv2D", "depthwise_conv_2d"]


class DepthwiseConv2D(Convolution):
    """The prepared form of `depthwise_conv_2d` of int8, uint8 or int16, called ``op(x, out=None, num_threads=1)``.

    The weights are packed once, for images of any size.
    """

    __slots__ = ("_by", "_high")
    _name = "DEPTHWISE_CONV_2D"
    _is_dense = False

    def __init__(
        self,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_scale: float,
        x_zero_point: int,
        w_scale: ArrayLike,
        y_scale: float,
        y_zero_point: int,
        w_zero_point: int = 0,
        w_type: str = "int8",
        depth_multiplier: int = 1,
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        padding: str = "VALID",
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        w = weights_of(given.w, given.w_type, 4, self._dtype)
        each = int32(given.depth_multiplier, "depth_multiplier", 1)
        if len(w) != 1 or w.shape[3] % each:
            raise bad_value("w", f"expected (1, H, W, {each} times the channels of x), got shape {w.shape}")
        if given.bias is None and self._facts.depthwise_needs_bias and self._dtype != np.int16:
            raise bad_value("bias", f"{given.kernel} ends the process on a DEPTHWISE_CONV_2D without one")
        if given.bias is not None and self._dtype == np.int16:
            native(given.bias, "bias", ("int64",))
        self._pack(given, w.transpose(3, 1, 2, 0), w.shape[3] // each)
        self._by = None
        are_3x3 = w.shape[1:3] == (3, 3) and each == 1 and w.shape[3] % self._facts.channel_block == 0
        moves_on = given.dilation == (1, 1) and given.stride in ((1, 1), (2, 2))
        if self._rounding.rule in self._facts.shifts_3x3_last and are_3x3 and moves_on:
            by = np.array([quantized(one) for one in np.ravel(self._rounding.scale).tolist()]).T
            if (by[1] > 0).any():
                self._by, self._many, self._kernel = (by[0], by[1]), self._kernel, None
                self._high = self._sums_kernel(given)

    def _shifts_last(self, shape: tuple[int, ...]) -> bool:
        """Whether images of this shape go to the kernel of 3 by 3 taps that shifts to the left at the end."""
        (top, bottom), (left, right) = self._moves.over(shape, self._size, self._channels).padding
        is_line = 1 in shape[1:3] and shape[1] != shape[2]
        return top == left <= 1 and max(bottom, right) <= top and not (top and is_line)

    @direct
    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Convolve `x` on so many threads, into `out` if it is given."""
        if self._by is None or not self._shifts_last(np.shape(x)):
            return self._convolved(x, out, num_threads)
        data, (m, e), (_, _, zero, ends) = self._codes(x), self._by, self._rounding
        check.out(out, self._dtype, self._shape(data.shape), data)
        high = double_high(self._high(data, None, num_threads), m)
        near = np.where(e > 0, wrap(high << np.maximum(e, 0)), shifted_up(high, np.maximum(-e, 0)))
        return put(np.clip(near + zero, *ends).astype(self._dtype), out)

    def _w_zero(self, given: SimpleNamespace) -> int:
        if self._dtype == np.int8 and self._facts.ignores_w_zero_point:
            return 0 * check.zero_point(given.w_zero_point, "w_zero_point", self._dtype)
        return super()._w_zero(given)

    def _left_shifts(self) -> dict[str, str]:
        return self._facts.depthwise_left_shift

    def _rule(self, given: SimpleNamespace, groups: int) -> tuple[str, int]:
        facts = self._facts
        if self._dtype == np.int16:
            return "tflite-int64acc", 1
        if self._dtype == np.uint8:
            return facts.depthwise_u8, 1
        if given.w_type == "int4":
            if not facts.depthwise_int4:
                raise bad_value("kernel", f"{given.kernel} has no DEPTHWISE_CONV_2D of int4 weights")
            return facts.depthwise_int4, facts.channel_block
        return facts.depthwise, facts.depthwise_block


def depthwise_conv_2d(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_scale: float,
    x_zero_point: int,
    w_scale: ArrayLike,
    y_scale: float,
    y_zero_point: int,
    w_zero_point: int = 0,
    w_type: str = "int8",
    depth_multiplier: int = 1,
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    activation: str = "NONE",
    kernel: str = "reference",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Convolve each channel of images NHWC with filters of its own, 1HWO.

    Output channel ``c * depth_multiplier + m`` is made of channel c; the rest is as in `conv_2d`. The optimised kernels
    of int8 round the first ``O // 8 * 8`` channels half up twice, and the last ``O % 8`` as the reference does.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    w : ndarray of int8 or uint8, (1, KH, KW, C * depth_multiplier)
        Weights.
    bias : ndarray, optional
        int32; for data of int16 int64. One value an output channel, of scale x_scale * w_scale.
    x_scale, x_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_scale : float or 1-D array
        Real size of a code step of the weights: one, or one for each output channel.
    y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    w_zero_point : int
        The code of 0 of the weights. Of int8 TFLite does not read it; XNNPACK refuses all but 0.
    w_type : {"int8", "int4", "uint8"}
        Type of the weights. Those of int4 are an array of int8, from -8 to 7; those of uint8 go with data of uint8.
    depth_multiplier : int
        How many channels are made of one.
    stride : (int, int)
        Vertical and horizontal distance of the windows.
    dilation : (int, int)
        Distance of the taps of a window.
    padding : {"VALID", "SAME"}
        SAME gives ceil(size / stride) windows, an odd pixel of padding after the image; padding is real 0.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel, num_threads, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (N, OH, OW, C * depth_multiplier)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a kernel library that has no such
        op, or that needs a bias and gets none; a limit of the activation that int32 does not hold.

    Notes
    -----
    Sources: TFLite ``depthwise_conv.cc``, ``integer_ops/depthwise_conv.h``, ``optimized_ops.h``; XNNPACK
    ``qs8-qc8w-dwconv``.

    Examples
    --------
    >>> x, w = np.array([[[[1, 2], [3, 4]]]], np.int8), np.array([[[[1, -1]]]], np.int8)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 0}
    >>> qops.tflite.depthwise_conv_2d(x, w, np.array([0, 0], np.int32), **how).tolist()
    [[[[1, -2], [3, -4]]]]

    **Hazard.** On 64-bit ARM XNNPACK keeps the sum of two taps of a column of the window in 16 bits, for int8 and up to
    25 taps. Twice -128 by -128 makes it 65536 too small, on cores with dot products too:

    >>> low, zero = np.full((1, 2, 1, 1), -128, np.int8), np.array([0], np.int32)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 512.0, "y_zero_point": 0}
    >>> [qops.tflite.depthwise_conv_2d(low, low, zero, **how, kernel=k).item() for k in ("xnnpack", "xnnpack_arm")]
    [64, -64]
    """
    return DepthwiseConv2D._on(locals(), x, out, num_threads)

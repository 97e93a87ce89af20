"""CONV_2D: convolutions of images NHWC with weights OHWI."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32
from qops.tflite.convolution_base import Convolution
from qops.tflite.weights import rule_16, weights_of

__all__ = ["Conv2D", "conv_2d"]


class Conv2D(Convolution):
    """The prepared form of `conv_2d` of int8, uint8 or int16, called ``op(x, out=None, num_threads=1)``.

    The weights are packed once, for images of any size.

    Examples
    --------
    >>> how = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 1}
    >>> op = qops.tflite.Conv2D(np.array([[[[1]]]], np.int8), np.array([0], np.int32), **how)
    >>> op(np.array([[[[1], [3], [5]]]], np.int8)).ravel()
    array([2, 3, 4], dtype=int8)
    """

    __slots__ = ()
    _name = "CONV_2D"

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
        stride: tuple[int, int] = (1, 1),
        dilation: tuple[int, int] = (1, 1),
        padding: str = "VALID",
        groups: int = 1,
        activation: str = "NONE",
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        w = weights_of(given.w, given.w_type, 4, self._dtype)
        groups = int32(given.groups, "groups", 1)
        if len(w) % groups:
            raise bad_value("groups", f"expected a divisor of the {len(w)} output channels, got {groups}")
        if given.bias is None and self._facts.needs_bias:
            raise bad_value("bias", f"{given.kernel} takes no CONV_2D without one")
        self._pack(given, w, groups)

    def _rule(self, given: SimpleNamespace, groups: int) -> tuple[str, int]:
        facts = self._facts
        if self._dtype == np.int16:
            narrow = facts.tail if groups > 1 else facts.conv_bias32
            return rule_16(self._bias, facts.conv_no_bias, narrow, "tflite-int64acc"), 1
        if self._dtype == np.uint8:
            return facts.conv_groups_u8 if groups > 1 else facts.conv_u8, 1
        if given.w_type == "int4":
            return facts.tail if groups > 1 else facts.conv_int4, 1
        return facts.conv_groups if groups > 1 else facts.conv, 1


def conv_2d(
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
    stride: tuple[int, int] = (1, 1),
    dilation: tuple[int, int] = (1, 1),
    padding: str = "VALID",
    groups: int = 1,
    activation: str = "NONE",
    kernel: str = "reference",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Convolve images NHWC with weights OHWI, add a bias and make codes.

    ``y = clamp(round((sum of (x - x_zero_point) * (w - w_zero_point) + bias) * x_scale * w_scale / y_scale) +
    y_zero_point)``. The rounding is that of the kernel library: two steps, half up and half away, in the reference and
    TFLM; half up twice in the optimised kernels, but not with groups; in float32, half to even, in XNNPACK.
    Sums of int16 data have 48 bits with a bias of int64, and are int32, which wraps, with one of int32; without a bias
    the kernel library decides.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    w : ndarray of int8 or uint8, (O, KH, KW, C / groups)
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
        The code of 0 of the weights.
    w_type : {"int8", "int4", "uint8"}
        Type of the weights. Those of int4 are an array of int8, from -8 to 7; those of uint8 go with data of uint8.
    stride : (int, int)
        Vertical and horizontal distance of the windows.
    dilation : (int, int)
        Distance of the taps of a window.
    padding : {"VALID", "SAME"}
        SAME gives ceil(size / stride) windows, an odd pixel of padding after the image; padding is real 0.
    groups : int
        How many groups the channels are divided into.
    activation : {"NONE", "RELU", "RELU6", "RELU_N1_TO_1"}
        What the result is clamped to.
    kernel : {"reference", "optimized", "xnnpack", "xnnpack_avx2", "reference_arm", "optimized_arm", \
            "optimized_neon", "xnnpack_arm", "xnnpack_neon", "tflm", "tflm_until_2026_06", "single_rounding"}
        The kernel library whose results are reproduced, on x86 or on 64-bit ARM: "_avx2" is of x86 without AVX-512,
        "_arm" of cores with dot products, "_neon" of cores without. The reference is the same on both, and 32 operators
        are as on x86.
    num_threads : int
        How many threads share the work; the bits are the same.
    out : ndarray, optional
        Where the codes are written, of the type and shape of the result, apart from the inputs.

    Returns
    -------
    ndarray of the type of `x`, (N, OH, OW, O)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a kernel library that has no such
        op, or that needs a bias and gets none; a limit of the activation that int32 does not hold.

    Notes
    -----
    Sources: TFLite ``conv.cc``, ``integer_ops/conv.h``, ``conv_common.cc``; XNNPACK ``qs8-qc8w-igemm``.

    Examples
    --------
    >>> x, w, bias = np.array([[[[1], [3], [5]]]], np.int8), np.array([[[[1]]]], np.int8), np.array([0], np.int32)
    >>> how = {"x_scale": 0.5, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 1.0, "y_zero_point": 1}
    >>> qops.tflite.conv_2d(x, w, bias, **how).ravel()
    array([2, 3, 4], dtype=int8)

    **Hazard.** The same model gives other codes by another delegate, on ties here and by double rounding elsewhere:

    >>> [
    ...     qops.tflite.conv_2d(-x, w, bias, **how, kernel=k).ravel().tolist()
    ...     for k in ("reference", "optimized", "xnnpack")
    ... ]
    [[1, 0, -1], [1, 0, -1], [1, -1, -1]]

    **Hazard.** On 64-bit ARM the optimised kernels round a single pixel twice, and several pixels once:

    >>> how |= {"y_scale": 2.0, "y_zero_point": 0, "kernel": "optimized_arm"}
    >>> x, w, bias = np.ones((2, 1, 1, 8), np.int8), np.ones((4, 1, 1, 8), np.int8), np.full(4, -35, np.int32)
    >>> [qops.tflite.conv_2d(x[:n], w, bias, **how).ravel()[0].item() for n in (1, 2)]
    [-6, -7]

    **Hazard.** On ARM without dot products, two products of -128 by -128 that lie 8 codes apart make a sum 65536 too
    small:

    >>> low, zero = np.full((2, 1, 1, 16), -128, np.int8), np.zeros(4, np.int32)
    >>> how = {"x_scale": 1.0, "x_zero_point": 0, "w_scale": 1.0, "y_scale": 4096.0, "y_zero_point": 0}
    >>> [
    ...     qops.tflite.conv_2d(low, low[:1].repeat(4, 0), zero, **how, kernel=k).ravel()[0].item()
    ...     for k in ("xnnpack_arm", "xnnpack_neon")
    ... ]
    [64, -64]
    """
    return Conv2D._on(locals(), x, out, num_threads)

"""Layers of float data and int8 weights (dynamic-range quantization): data become codes row by row as the layer runs.

A row is what has a scale of its own: of FULLY_CONNECTED a row of the data, of convolutions an image; in XNNPACK of
CONV_2D with one tap and strides of 1 a pixel. Sums of products
are exact integers; what follows is float32 arithmetic, in the order of each kernel library.

    symmetric    scale = m / 127 of the largest magnitude m; codes half_away(x * f(127 / m)), zero point 0
    asymmetric   scale = (max - min) / 255 of a range that holds 0; codes half_away(f(x * f(1 / scale))) + zero point
    xnnpack      inverse = 255 / (max - min), scale = f(1 / inverse); codes half_even(f(x * inverse)) + zero point

Sources: TFLite ``fully_connected.cc``, ``conv.cc``, ``depthwise_conv.cc``, ``portable_tensor_utils.cc``,
``depthwiseconv_hybrid.h``; XNNPACK ``qd8-f32-qc8w``. Each was run: LiteRT 2.3.0 on x86 with AVX2. XNNPACK's kernels of
AVX-512 and VNNI have the same steps after the sums, a product and a fused product and sum; that was read.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.rules.scales import fma
from qops.tflite.arithmetic import F32, half_away

__all__ = [
    "HybridRow",
    "conv_2d_steps",
    "depthwise_conv_2d_steps",
    "finished_floats",
    "fully_connected_steps",
    "quantized_row",
]

Floats = NDArray[np.float32]


class HybridRow(NamedTuple):
    """Data of one scale: codes less their zero point, and the scale."""

    near: NDArray[np.int64]
    scale: np.float32


def quantized_row(x: Floats, how: str) -> HybridRow:
    """Give codes of one row, less their zero point, as one of the ways above makes them.

    Parameters
    ----------
    x : ndarray of float32
        One row or image, without NaN and infinities.
    how : {"symmetric", "asymmetric", "xnnpack"}

    Returns
    -------
    HybridRow
    """
    if how == "symmetric":
        most = np.max(np.abs(x), initial=F32(0))
        if most == 0:
            return HybridRow(np.zeros(x.shape, np.int64), F32(1))
        return HybridRow(np.clip(half_away(x * (F32(127) / most)), -127, 127).astype(np.int64), most / F32(127))
    low, high = np.min(x, initial=F32(0)), np.max(x, initial=F32(0))
    if low == high:
        return HybridRow(np.zeros(x.shape, np.int64), F32(1))
    if how == "xnnpack":
        inverse = F32(255) / (high - low)
        from_low, from_high = low * inverse, high * inverse
        from_sum = (F32(-128) + from_low) + (F32(127) + from_high)
        zero = int(np.rint(np.clip(F32(-128) - from_low if from_sum > 0 else F32(127) - from_high, -128, 127)))
        return HybridRow(np.clip(np.rint(x * inverse), -128 - zero, 127 - zero).astype(np.int64), F32(1) / inverse)
    step = float(high - low) / 255  # of a difference that is rounded to float32
    below, above = float(low) / step, float(high) / step
    from_end = -128 - below if 128 + abs(below) < 127 + abs(above) else 127 - above
    zero, scale = int(half_away(np.clip(from_end, -128, 127))), F32(step)
    return HybridRow(np.clip(half_away(x * (F32(1) / scale)), -128 - zero, 127 - zero).astype(np.int64), scale)


def finished_floats(sums: NDArray[np.int64], x_scale: Any, w_scale: Floats, bias: Floats, order: str) -> Floats:
    """Give sums of products as floats, in float32: each step is rounded, in an order of the kernel library.

    Parameters
    ----------
    sums : ndarray of int64
        The last axis has the output channels.
    x_scale : float32, or ndarray that broadcasts
        The scale of the data.
    w_scale, bias : ndarray of float32
        One number for each output channel, or one.
    order : {"scales", "weights", "data", "blocks of 4", "fma"}
        What sums are multiplied by first: the product of both scales; that of the weights; that of the data; in whole
        blocks of 4 channels that of the weights, and behind them that of the data. "fma": by that of the data, then a
        fused multiply-add of that of the weights and the bias.

    Returns
    -------
    ndarray of float32
    """
    values = sums.astype(np.float64).astype(F32)
    if order == "scales":
        return values * (x_scale * w_scale) + bias
    if order == "fma":
        by, start = (np.broadcast_to(part, sums.shape) for part in (w_scale, bias))
        return np.asarray(fma(values * x_scale, by, start))
    made = values * w_scale * x_scale + bias
    if order == "weights":
        return made
    whole = sums.shape[-1] // 4 * 4 if order == "blocks of 4" else 0
    made[..., whole:] = (values * x_scale * w_scale + bias)[..., whole:]
    return made


def fully_connected_steps(kernel: str, is_by_channel: bool, is_asymmetric: bool) -> tuple[str, str]:
    """Give how FULLY_CONNECTED makes codes of its data, and in which order it multiplies.

    Parameters
    ----------
    kernel : str
        The kernel library.
    is_by_channel : bool
        Whether the weights have a scale for each output channel.
    is_asymmetric : bool
        The option ``asymmetric_quantize_inputs`` of FULLY_CONNECTED.

    Returns
    -------
    (str, str)
        What `quantized_row` and `finished_floats` take.

    Raises
    ------
    ValueError
        A kernel library whose steps are not known.
    """
    _check(kernel)
    if kernel == "xnnpack":
        return "xnnpack", "fma"
    return "asymmetric" if is_asymmetric else "symmetric", "scales"


def conv_2d_steps(kernel: str, is_by_channel: bool, is_asymmetric: bool, groups: int = 1) -> tuple[str, str]:
    """Give the steps of CONV_2D; see `fully_connected_steps`.

    LiteRT has one kernel for several groups, the reference one, which reads a scale for each output channel.
    """
    _check(kernel)
    if kernel == "xnnpack":
        return "xnnpack", "fma"
    if groups > 1:
        if not is_by_channel:
            raise ValueError(f"it is a hybrid layer of {groups} groups with one scale of weights, which LiteRT refuses")
        return "asymmetric", "weights"
    if not is_by_channel:
        return "symmetric", "scales"
    return "asymmetric", "weights" if kernel == "reference" else "scales"


def depthwise_conv_2d_steps(kernel: str, is_by_channel: bool, is_asymmetric: bool) -> tuple[str, str]:
    """Give the steps of DEPTHWISE_CONV_2D, whose weights have a scale for each channel; see `fully_connected_steps`."""
    _check(kernel)
    if not is_by_channel:
        raise ValueError("it is a hybrid layer whose weights have one scale: LiteRT reads one for each channel")
    return "asymmetric", "scales" if kernel == "reference" else "blocks of 4"


def _check(kernel: str) -> None:
    if kernel not in ("reference", "optimized", "xnnpack"):
        raise ValueError(f"it is a hybrid layer (float data, int8 weights), whose arithmetic in {kernel} is not known")

"""nnlib's depthwise convolution into int32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import convolve_in_zeros
from qops._kernels.conv.weights import pack_weights
from qops._kernels.nnlib.pooling import moving
from qops._kernels.stage.mul import product_max
from qops.checks import U8, integers, into, operands, put
from qops.nnlib.quantize_number import quantize_int
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_depthwise_conv2d_8x8to32"]


def quantized_depthwise_conv2d_8x8to32(
    x: TensorLike, w: TensorLike, stride: tuple[int, int], padding: str, *, out: NDArray[np.int32] | None = None
) -> QTensor:
    """QuantizedDepthwiseConv2d_8x8to32: the sums of ``(x - zx) * (w - zw)`` of each channel, modulo 2**32.

    Output channel ``c * M + m`` has the sums of channel c of `x` with filter m of channel c. The zeros are
    `quantize_int` of 0, which need not be codes. Pixels of padding add nothing to a sum. The output range is
    ``max = 2**31 * step_x * step_w``, ``min = -max``.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    w : uint8 tensor
        Filters (KH, KW, C, M): M for each channel.
    stride, padding, out
        As `quantized_conv2d_8x8to32` takes them.

    Returns
    -------
    QTensor
        int32 codes of shape (N, OH, OW, C * M).

    Raises
    ------
    TypeError, ValueError
        What `quantized_conv2d_8x8to32` refuses.

    Notes
    -----
    Source: ``depthwiseconv2d_execute_ref``, ``op_depthwiseconv.c``.

    **Hazards.** This op takes filters of any size; `depthwise_supernode`, to which nnlib fuses it with a bias and a
    requantization, does not:

    >>> x, w = (np.full((1, 4, 4, 1), 9, np.uint8), 0.0, 255.0), (np.full((1, 1, 1, 1), 2, np.uint8), 0.0, 255.0)
    >>> qops.nnlib.quantized_depthwise_conv2d_8x8to32(x, w, (3, 3), "VALID").data.ravel().tolist()
    [18, 18, 18, 18]
    >>> bias = np.array([0], np.int32), -1.0, 1.0
    >>> qops.nnlib.depthwise_supernode(x, w, bias, (3, 3), "VALID")
    Traceback (most recent call last):
    ...
    ValueError: w: expected filters at least 2 high, got shape (1, 1, 1, 1)

    Examples
    --------
    >>> x = np.array([[1, 10], [2, 20]], np.uint8).reshape(1, 2, 1, 2), 0.0, 255.0
    >>> w = np.array([[1, 2, 1, 2], [1, 1, 1, 1]], np.uint8).reshape(2, 1, 2, 2), 0.0, 255.0
    >>> qops.nnlib.quantized_depthwise_conv2d_8x8to32(x, w, (1, 1), "VALID").data.ravel().tolist()
    [3, 4, 30, 40]
    """
    strides = integers(stride, "stride", 2, 1)
    (image, x_min, x_max), (filters, w_min, w_max) = operands(x, w, "x", "w", U8)
    for name, array, axes in (("x", image, "(N, H, W, C)"), ("w", filters, "(KH, KW, C, M)")):
        if array.ndim != 4 or array.size == 0:
            raise bad_value(name, f"expected {axes}, each at least 1, got shape {array.shape}")
    if image.shape[3] != filters.shape[2]:
        raise bad_value("w", f"expected filters of {image.shape[3]} channels, as x has, got shape {filters.shape}")
    window = moving(image, filters.shape[:2], strides, padding, "w")
    top = product_max(x_min, x_max, w_min, w_max, "x, w")
    height, width, channels, each = filters.shape
    size = window.out_size(image.shape[1:3], (height, width))
    place = into(out, (len(image), *size, channels * each), [image, filters])
    packed = pack_weights(filters.transpose(2, 3, 0, 1).reshape(channels * each, 1, height, width), groups=channels)
    zeros = quantize_int(0.0, x_min, x_max), quantize_int(0.0, w_min, w_max)
    return tensor(put(convolve_in_zeros(image, packed, *zeros, window, place), out), -top, top)

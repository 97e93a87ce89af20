"""nnlib's quantized convolution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import convolve_in_zeros
from qops._kernels.nnlib.pooling import moving
from qops._kernels.stage.mul import product_max
from qops.checks import U8, integers, into, operands, put
from qops.nnlib.quantize_number import quantize_int
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_conv2d_8x8to32"]


def quantized_conv2d_8x8to32(
    x: TensorLike, w: TensorLike, stride: tuple[int, int], padding: str, *, out: NDArray[np.int32] | None = None
) -> QTensor:
    """QuantizedConv2d_8x8to32: the sums of ``(x - zx) * (w - zw)`` over each window, modulo 2**32.

    The zeros are `quantize_int` of 0, which need not be codes. Pixels of padding add nothing to a sum. The output range
    is ``max = 2**31 * step_x * step_w``, ``min = -max``.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    w : uint8 tensor
        Filters (KH, KW, C, OC).
    stride : (int, int)
        How many pixels a window moves, down and across: at least 1.
    padding : {"VALID", "SAME", "SAME_CAFFE"}
        ``VALID``: windows lie within the image. ``SAME``: the image is padded so that there are ``ceil(H / stride)``
        windows down, and as many across; an odd pixel of padding goes after the image. ``SAME_CAFFE``: the odd pixel
        goes before the image.
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of shape (N, OH, OW, OC).

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); filters larger than the image, for ``VALID``; an output range beyond
        float32.

    Notes
    -----
    Source: ``conv2d_execute_ref``, ``op_conv2d.c``, the path in plain C.

    **Hazards.** A zero that lies between two codes is rounded to one of them. One beyond the codes is kept here, while
    `quantized_matmul_8x8to32` cuts it to a code:

    >>> two, one = (np.array([1], np.uint8), 1.0, 256.0), (np.array([1], np.uint8), 0.0, 255.0)  # 2 * 1
    >>> x, w = ((codes.reshape(1, 1, 1, 1), lo, hi) for codes, lo, hi in (two, one))
    >>> (
    ...     qops.nnlib.quantized_conv2d_8x8to32(x, w, (1, 1), "VALID").data.item(),
    ...     qops.nnlib.quantized_matmul_8x8to32(x, w).data.item(),
    ... )
    (2, 1)

    Examples
    --------
    >>> x, w = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), np.ones((2, 2, 1, 1), np.uint8)
    >>> for padding in ("VALID", "SAME", "SAME_CAFFE"):
    ...     qops.nnlib.quantized_conv2d_8x8to32((x, 0.0, 255.0), (w, 0.0, 255.0), (2, 2), padding).data.ravel().tolist()
    [8]
    [8, 7, 13, 8]
    [0, 3, 9, 24]
    """
    strides = integers(stride, "stride", 2, 1)
    (image, x_min, x_max), (filters, w_min, w_max) = operands(x, w, "x", "w", U8)
    for name, array, axes in (("x", image, "(N, H, W, C)"), ("w", filters, "(KH, KW, C, OC)")):
        if array.ndim != 4 or array.size == 0:
            raise bad_value(name, f"expected {axes}, each at least 1, got shape {array.shape}")
    if image.shape[3] != filters.shape[2]:
        raise bad_value("w", f"expected filters of {image.shape[3]} channels, as x has, got shape {filters.shape}")
    window = moving(image, filters.shape[:2], strides, padding, "w")
    top = product_max(x_min, x_max, w_min, w_max, "x, w")
    size = window.out_size(image.shape[1:3], filters.shape[:2])
    place = into(out, (len(image), *size, filters.shape[3]), [image, filters])
    zeros = quantize_int(0.0, x_min, x_max), quantize_int(0.0, w_min, w_max)
    sums = convolve_in_zeros(image, filters.transpose(3, 2, 0, 1), *zeros, window, place)
    return tensor(put(sums, out), -top, top)

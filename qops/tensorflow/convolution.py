"""QuantizedConv2D: uint8 images and filters, to int32."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.conv.convolution import Images, convolve, convolve_in_zeros
from qops._kernels.conv.finish import Finish
from qops._kernels.tensorflow.mul import offset, range_of_products
from qops._kernels.tensorflow.window import four
from qops.checks import into, put
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, operands
from qops.tensorflow.window import placed

__all__ = ["quantized_conv2d"]


def quantized_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int] = (1, 1, 1, 1),
    *,
    out: NDArray[np.int32] | None = None,
) -> QTensor:
    """Convolve uint8 images into int32 codes: the sums of ``(x - zero(x)) * (w - zero(w))``, modulo 2**32.

    The zeros are those of `quantized_mul`, not clamped to codes. The step of the result is the product of both steps,
    in float32; ``max`` is 2**31 of its steps, and ``min = -max``. Padding is the low 8 bits of zero(x). It adds nothing
    to a sum if zero(x) is a code, or below 0. If zero(x) is above 255, it does (see Hazards).

    Parameters
    ----------
    input : (data, min, max)
        uint8 images (N, H, W, C); the range in any order.
    filter : (data, min, max)
        uint8 filters (KH, KW, C, OC); the range in any order.
    strides : sequence of four int
        ``(1, s, s, 1)``.
    padding : str
        ``VALID``: none. ``SAME``: there are ceil(size / s) windows; half of the pixels that they lack, rounded down, is
        put in front.
    dilations : sequence of four int
        All 1.
    out : ndarray of int32, optional
        Where the codes are written; of shape (N, OH, OW, OC).

    Returns
    -------
    QTensor
        int32 codes of shape (N, OH, OW, OC), ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor (``must be rank 4``, ``must have the same depth``); a range that is not
        finite, or whose step is below the normal float32; a product of steps beyond float32; strides, padding or
        dilations other than above, in TensorFlow's words; no elements; an `out` that does not fit or overlaps an input.
        No filters, and filters larger than the images with VALID, which end TensorFlow's process.

    Notes
    -----
    Source: TensorFlow, ``quantized_conv_ops.cc``, ``quantization_utils.h``; gemmlowp. An int8 filter is not modelled:
    TensorFlow's plain kernel for it does nothing and gives no result.

    **Hazards.** The zero of a range below 0 is above 255, and its low 8 bits are another code, here that of -1.004. The
    two outer windows see one pixel of padding and two pixels of -1, so their sums should be -2:

    >>> x = np.full((1, 1, 3, 1), 255, np.uint8), -2.0, -1.0
    >>> w = np.full((1, 3, 1, 1), 255, np.uint8), 0.0, 1.0
    >>> t = qops.tensorflow.quantized_conv2d(x, w, (1, 1, 1, 1), "SAME")
    >>> np.round(t.data.ravel() * t.scale, 2)
    array([-3., -3., -3.])

    SAME with a stride that is longer than the filter begins inside the image, so that the first pixel is not read here.
    VALID may do the same from a stride of 4 on.

    >>> x, w = np.array([1, 2, 3, 4, 5, 6], np.uint8).reshape(1, 1, 6, 1), np.ones((1, 1, 1, 1), np.uint8)
    >>> qops.tensorflow.quantized_conv2d((x, 0.0, 255.0), (w, 0.0, 255.0), (1, 3, 3, 1), "SAME").data.ravel()
    array([2, 5], dtype=int32)

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w = np.ones((2, 2, 1, 1), np.uint8), 0.0, 255.0
    >>> for padding in ("VALID", "SAME"):
    ...     qops.tensorflow.quantized_conv2d(x, w, (1, 2, 2, 1), padding).data.ravel().tolist()
    [8]
    [8, 7, 13, 8]
    """
    x, w = operands(STEPS, ("quint8",), input=input, filter=filter)
    image, filters = x[0], w[0]
    for name, data in (("input", image), ("filter", filters)):
        if data.ndim != 4:
            raise bad_value(name, f"must be rank 4 but is rank {data.ndim}")
    if image.shape[3] != filters.shape[2]:
        raise bad_value("filter", f"must have the same depth as input: {image.shape[3]} vs {filters.shape[2]}")
    for name, data in (("input", image), ("filter", filters)):
        if data.size == 0:
            raise bad_value(name, f"Shapes dimension cannot be 0, got shape {data.shape}")
    stride = _stride(strides, dilations)
    kernel = filters.shape[0], filters.shape[1]
    seen, window = placed(image, kernel, stride, padding)
    if padding == "VALID" and (kernel[0] > image.shape[1] or kernel[1] > image.shape[2]):
        raise bad_value("filter", f"{kernel} does not fit in images of {image.shape[1:3]}; TensorFlow's process ends")
    top = range_of_products(x, w, "input, filter")
    size = window.out_size(seen.shape[1:3], kernel)
    place = into(out, (len(image), *size, filters.shape[3]), [image, filters])
    zero, w_zero = offset(*x[1:]), offset(*w[1:])
    weights = filters.transpose(3, 2, 0, 1)
    if zero < 0:
        sums = convolve_in_zeros(seen, weights, zero, w_zero, window)
    else:
        sums = convolve(Images(seen, window, zero & 255, zero), weights, place, Finish(w_zero))
    return tensor(put(sums, out), -top, top)


def _stride(strides: Sequence[int], dilations: Sequence[int]) -> tuple[int, int]:
    """Give the stride down and across; ValueError, in TensorFlow's words, for what it does not support."""
    steps = four(strides, "strides")
    if steps[0] != 1 or steps[3] != 1:
        raise bad_value(
            "strides",
            f"Current implementation does not yet support strides in the batch and depth dimensions, got {steps}",
        )
    if steps[1] != steps[2]:
        raise bad_value(
            "strides",
            f"Current implementation only supports equal length strides in the row and column dimensions, got {steps}",
        )
    if four(dilations, "dilations") != (1, 1, 1, 1):
        raise bad_value(
            "dilations",
            "Current implementation only supports dilated rate as 1 in the row and column dimensions, "
            f"got {tuple(dilations)}",
        )
    return steps[1], steps[2]

"""max_pool, avg_pool: the largest and the mean code of each window of 8-bit images."""

from __future__ import annotations

from typing import Any, Never

from numpy.typing import NDArray

from qops import codes as _codes
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.pool.pooling import largest, means
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import U8, operand, shown
from qops.qtensor import QTensor, TensorLike, tensor
from qops.window import Padding, TwoInts, padding_of, pair

__all__ = ["BOUND_AVG_POOL", "avg_pool", "max_pool"]

BOUND_AVG_POOL = 0.5 + 2**-15
"""Largest error of `avg_pool` in LSB. Up to 65535 pixels in a window it is 0.5; above, float32 rounds the quotient."""


_S8 = _codes.TABLE["s8"].dtype.num
_MOST = 2**23
"""The most pixels of a window whose sum int32 holds: 255 * 2**23 < 2**31."""


@refusing_unknown
def max_pool(
    t: TensorLike,
    kernel: int | TwoInts | None,
    *,
    stride: int | TwoInts | None = None,
    padding: Padding = 0,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Give the largest value of each window of images.

    ``y[n, i, j, c] = max(t[n, i * sh + k - top, j * sw + l - left, c])`` over k and l, of the pixels that are on the
    image. Padding never counts, even if all values are below 0. **Error: none**, as the range stays.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int8 images (N, H, W, C).
    kernel : int or (int, int) or None
        Height and width of the window, from 1 on; None: the whole image.
    stride : int or (int, int), optional
        How far the window moves, down and across, from 1 on; by default as far as the kernel is large.
    padding : {"valid", "same"} or int or (int, int) or ((int, int), (int, int)), optional
        "valid": none. "same": ``ceil(size / stride)`` outputs; an odd pixel of padding goes after the image. Numbers:
        the pixels on each side; above and below, left and right; or each of these four. They are less than `kernel`.
    out : ndarray, optional
        Where the codes are written; of the type of the data and of shape (N, OH, OW, C).

    Returns
    -------
    QTensor
        Codes of the type and range of `t`, of shape (N, OH, OW, C).

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, an axis of length 0, a kernel, stride or padding other than above, a kernel
        that does not fit in the padded image, an ``out`` that does not fit or overlaps the data.

    See Also
    --------
    qops.nnlib.quantized_max_pool_8, qops.tensorflow.quantized_max_pool, qops.onednn.pooling : what those systems
        compute.

    Examples
    --------
    >>> t = np.array([[1, 5, 2], [7, 0, 3], [4, 6, 8]], np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> qops.max_pool(t, 2, stride=1).data.ravel().tolist()
    [7, 5, 7, 8]
    >>> qops.max_pool(t, 2, padding="same").data.ravel().tolist()
    [7, 3, 6, 8]
    """
    if unknown:
        raise unknown_keyword(max_pool, unknown)
    image, lo, hi, size, window = _placed(t, kernel, stride, padding)
    return tensor(largest(image, size, window, out), lo, hi)


@refusing_unknown
def avg_pool(
    t: TensorLike,
    kernel: int | TwoInts | None,
    *,
    stride: int | TwoInts | None = None,
    padding: Padding = 0,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> QTensor:
    """Give the mean of each window of images, rounded to a code once, half to even.

    ``c = round_half_even(sum of codes / number of pixels)``. The range stays, and as values are a linear function of
    codes, the mean of the codes is the code of the mean. Padding does not count, neither in the sum nor in the number.
    **Error: at most 0.5 LSB** for windows of up to 65535 pixels, and ``0.5 + 2**-15`` (`BOUND_AVG_POOL`) above.

    Parameters
    ----------
    t : (data, min, max)
        uint8 or int8 images (N, H, W, C).
    kernel : int or (int, int) or None
        Height and width of the window, from 1 on, at most 2**23 pixels; None: the whole image.
    stride, padding
        As `max_pool` takes them.
    out : ndarray, optional
        Where the codes are written; of the type of the data and of shape (N, OH, OW, C).

    Returns
    -------
    QTensor
        Codes of the type and range of `t`, of shape (N, OH, OW, C).

    Raises
    ------
    TypeError, ValueError
        What `max_pool` refuses, and a kernel of more than 2**23 pixels.

    See Also
    --------
    qops.rules.average_pool : what TFLite, onnxruntime, torch and others compute, also into another range.
    qops.nnlib.quantized_avg_pool_8, qops.tensorflow.quantized_avg_pool, qops.onednn.pooling : what those systems
        compute.

    Examples
    --------
    >>> t = np.array([[1, 5, 2], [7, 0, 3], [4, 6, 8]], np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> qops.avg_pool(t, None).data.item()  # of all pixels
    4
    >>> qops.avg_pool(t, 2, padding="same").data.ravel().tolist()  # of 13 / 4, 5 / 2, 10 / 2 and 8
    [3, 2, 5, 8]
    """
    if unknown:
        raise unknown_keyword(avg_pool, unknown)
    image, lo, hi, size, window = _placed(t, kernel, stride, padding)
    if size[0] * size[1] > _MOST:
        raise bad_value("kernel", f"expected at most {_MOST} pixels, got {size}")
    return tensor(means(image, size, window, "quotient", out=out), lo, hi)


def _placed(
    t: TensorLike, kernel: int | TwoInts | None, stride: int | TwoInts | None, padding: Padding
) -> tuple[NDArray[Any], float, float, TwoInts, Window]:
    """Check the arguments of a pool; give the images, their range, the size of the window, and how it moves."""
    size = None if kernel is None else pair(kernel, "kernel", 1)
    strides = None if stride is None else pair(stride, "stride", 1)
    around = padding_of(padding)
    image, lo, hi = operand(t, "t", U8, _S8)
    if image.ndim != 4 or 0 in image.shape:
        raise bad_value("t", f"expected (N, H, W, C), each at least 1, got shape {image.shape}")
    size = size or image.shape[1:3]
    strides = strides or size
    if isinstance(around, str):
        return image, lo, hi, size, Window.named(around, image.shape[1:3], size, strides)
    if any(max(pads) >= length for pads, length in zip(around, size, strict=True)):
        raise bad_value("padding", f"expected less than the kernel, {size}, got {shown(padding)}")
    return image, lo, hi, size, Window(strides, (1, 1), around)

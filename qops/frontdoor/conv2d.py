"""conv2d: the convolution of 8-bit images with 8-bit filters, whatever their ranges, into int32 codes."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve, window_sums
from qops._kernels.gemm.gemm import product
from qops.frontdoor.matmul import BOUND_MATMUL, Centred, Terms, centred, highest, scaled
from qops.qtensor import S32, QTensor, TensorLike, check_out, int32

__all__ = ["BOUND_CONV2D", "conv2d"]

BOUND_CONV2D = BOUND_MATMUL
"""Largest error of `conv2d` against the exact sum of products, in output LSB: that of `matmul`."""

_ROOM = 1 << 22
"""Bytes of cut windows whose filters are summed up at a time."""

Pair: TypeAlias = tuple[int, int]
Padding: TypeAlias = str | tuple[Pair, Pair]


def conv2d(
    x: TensorLike,
    w: TensorLike,
    *,
    stride: Pair = (1, 1),
    dilation: Pair = (1, 1),
    padding: Padding = "VALID",
    out: NDArray[np.int32] | None = None,
    num_threads: int = 1,
) -> QTensor:
    """Convolve images of uint8 or int8 codes: int32 codes of the exact sums of products, rounded once.

    ``y[n, i, j, o] = sum(x[n, i * sh + k * dh - top, j * sw + l * dw - left, c] * w[k, l, c, o])`` over k, l and c, of
    real values, with the arithmetic and the output range of `matmul` for K = KH * KW * C. What is padded has the value
    0, not that of some code. **Error: at most** ``0.5 + 2**-16`` output LSB (`BOUND_CONV2D`), for every pair of ranges,
    those that exclude 0, or have it between two codes, as well.

    Parameters
    ----------
    x : (data, min, max)
        uint8 or int8 images (N, H, W, C).
    w : (data, min, max)
        uint8 or int8 filters (KH, KW, C, O); KH * KW * C at most 131071.
    stride, dilation : (int, int), optional
        Down and across, from 1 on.
    padding : {"VALID", "SAME"} or ((int, int), (int, int)), optional
        None; as many windows as there are strides in the image, an odd pixel of padding behind it; or the pixels above,
        below, left and right.
    out : ndarray of int32, optional
        Where the codes are written; of shape (N, OH, OW, O).
    num_threads : int, optional
        How many threads share the work; the bits are the same.

    Returns
    -------
    QTensor
        int32 codes of shape (N, OH, OW, O), ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not fit, no
        channels, strides, dilations or pixels that are no such integers, another padding, filters that do not fit in
        the padded image, an ``out`` that does not fit or overlaps an input, an output range beyond float32.

    See Also
    --------
    qops.nnlib.quantized_conv2d_8x8to32, qops.tensorflow.quantized_conv2d : what those systems compute.

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w = np.int8([[1, 1], [1, -1]]).reshape(2, 2, 1, 1), -128.0, 127.0
    >>> t = conv2d(x, w, stride=(2, 2), padding="SAME")
    >>> t.data.ravel().tolist(), t.scale  # 0 + 1 + 3 - 4, 2 + 5, 6 + 7, 8
    ([0, 7, 13, 8], 1.0)
    """
    image, filters = centred(x, "x"), centred(w, "w")
    num_threads = int32(num_threads, "num_threads", 1)
    for name, operand, axes in (("x", image, "(N, H, W, C)"), ("w", filters, "(KH, KW, C, O)")):
        if operand.codes.ndim != 4 or 0 in operand.codes.shape:
            raise ValueError(f"{name}: expected {axes}, each at least 1, got shape {operand.codes.shape}")
    if image.codes.shape[3] != filters.codes.shape[2]:
        shapes = f"{image.codes.shape} is (N, H, W, C), and {filters.codes.shape} is (KH, KW, C, O)"
        raise ValueError(f"w: expected filters of {image.codes.shape[3]} channels, as x has: {shapes}")
    kernel, size = filters.codes.shape[:2], image.codes.shape[1:3]
    window = _window(size, kernel, stride, dilation, padding)
    places = window.out_size(size, kernel)
    top = highest(image, filters, kernel[0] * kernel[1] * image.codes.shape[3], "x, w")
    shape = (len(image.codes), *places, filters.codes.shape[3])
    if out is not None:
        check_out(out, S32, shape, [image.given, filters.given])
    sums = convolve(Images(image.codes, window), _oihw(filters.codes), num_threads=num_threads)
    return scaled(sums, image, filters, top, _terms(image, filters, window), out, shape)


def _oihw(filters: NDArray[np.int8]) -> NDArray[np.int8]:
    return filters.transpose(3, 2, 0, 1)


def _terms(image: Centred, filters: Centred, window: Window) -> Terms:
    """Padding is no code, so a sum of codes leaves it out, and sums of filters only take what lies within the image."""
    n, height, width, c = image.codes.shape
    kernel = filters.codes.shape[0], filters.codes.shape[1]
    (down, of_row), (across, of_column) = window.cuts((height, width), kernel)
    rows = np.zeros(n * len(of_row) * len(of_column), np.int32)
    if filters.base:
        rows = window_sums(Images(image.codes, window), kernel).reshape(-1)
    matrix = filters.codes.reshape(-1, filters.codes.shape[3])
    tall, wide = down.astype(np.uint8), across.astype(np.uint8)
    some = max(1, _ROOM // (len(across) * len(matrix)))
    taps = (tall[i : i + some, None, :, None] * wide[:, None] for i in range(0, len(down), some))
    columns = [product(each.reshape(-1, kernel[0] * kernel[1]).repeat(c, 1), matrix) for each in taps]
    counts = np.multiply.outer(down.sum(1), across.sum(1)).reshape(-1) * c
    which = of_row[:, None] * len(across) + of_column
    return Terms(rows, np.concatenate(columns), counts, which.reshape(-1))


def _pair(values: object, name: str, least: int) -> Pair:
    """Two integers."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise TypeError(f"{name}: expected two integers, got {values!r:.80}")
    return int32(values[0], name, least), int32(values[1], name, least)


def _window(size: tuple[int, ...], kernel: tuple[int, ...], stride: Pair, dilation: Pair, padding: Padding) -> Window:
    """How the filters move over images of this size."""
    steps, gaps = _pair(stride, "stride", 1), _pair(dilation, "dilation", 1)
    if not isinstance(padding, str):
        if not isinstance(padding, tuple | list) or len(padding) != 2:
            raise TypeError(f"padding: expected 'SAME', 'VALID' or two pairs of integers, got {padding!r:.80}")
        window = Window(steps, gaps, (_pair(padding[0], "padding", 0), _pair(padding[1], "padding", 0)))
    elif padding not in ("SAME", "VALID"):
        raise ValueError(f"padding: expected 'SAME', 'VALID' or two pairs of integers, got {padding!r:.80}")
    else:
        window = Window.named(str(padding), (size[0], size[1]), (kernel[0], kernel[1]), steps, gaps)
    room = [n + sum(pads) for n, pads in zip(size, window.padding, strict=True)]
    if any(span > n for span, n in zip(window.span((kernel[0], kernel[1])), room, strict=True)):
        raise ValueError(f"w: filters of {tuple(kernel)} do not fit in padded images of {tuple(room)}")
    return window

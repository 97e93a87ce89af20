"""conv2d: the convolution of 8-bit images with 8-bit filters, whatever their ranges, into int32 codes."""

from __future__ import annotations

from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.numbers import shown
from qops._kernels.arrays.window import Window
from qops._kernels.conv.convolution import Images, convolve, window_sums
from qops._kernels.conv.weights import pack_weights
from qops.frontdoor.matmul import BOUND_MATMUL, Terms, centred, check_length, highest, scaled
from qops.prepared import Prepared
from qops.qtensor import S32, QTensor, TensorLike, check_out, int32, unshared

__all__ = ["BOUND_CONV2D", "Conv2D", "conv2d"]

BOUND_CONV2D = BOUND_MATMUL
"""Largest error of `conv2d` against the exact sum of products, in output LSB: that of `matmul`."""

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
    real values, with the arithmetic and the output range of `matmul` for K = KH * KW * C. Padding is real 0, even if
    that is not on a code. **Error: at most** ``0.5 + 2**-16`` output LSB (`BOUND_CONV2D`), for every pair of ranges,
    also those that exclude 0 or have it between two codes.

    Parameters
    ----------
    x : (data, min, max)
        uint8 or int8 images (N, H, W, C).
    w : (data, min, max)
        uint8 or int8 filters (KH, KW, C, O); KH * KW * C at most 131071.
    stride, dilation : (int, int), optional
        Down and across, from 1 on.
    padding : {"VALID", "SAME"} or ((int, int), (int, int)), optional
        "VALID": no padding. "SAME": ``ceil(size / stride)`` outputs; an odd pixel of padding goes after the image. Two
        pairs: the pixels above and below, left and right.
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
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not fit, an
        axis of length 0, a stride, dilation or padding other than above, filters that do not fit in the padded image,
        an ``out`` that does not fit or overlaps an input, an output range beyond float32.

    See Also
    --------
    Conv2D : the same with filters that are packed once, for many images.
    qops.nnlib.quantized_conv2d_8x8to32, qops.tensorflow.quantized_conv2d : what those systems compute.

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0
    >>> w = np.int8([[1, 1], [1, -1]]).reshape(2, 2, 1, 1), -128.0, 127.0
    >>> t = conv2d(x, w, stride=(2, 2), padding="SAME")
    >>> t.data.ravel().tolist(), t.scale  # 0 + 1 + 3 - 4, 2 + 5, 6 + 7, 8
    ([0, 7, 13, 8], 1.0)
    """
    return Conv2D(w, stride=stride, dilation=dilation, padding=padding)(x, unshared(out, w), num_threads)


class Conv2D(Prepared):
    """Prepared form of `conv2d`: the filters are packed once, for many images.

    Called as ``op(x, out=None, num_threads=1)``, it gives what `conv2d` gives with the same arguments. Each `x` may
    have its own type, range, number of images, and height and width.

    Parameters
    ----------
    w : (data, min, max)
        As `conv2d` takes it. The codes are copied.
    stride, dilation, padding
        As `conv2d` takes them.

    Attributes
    ----------
    w : QTensor
        The filters. Their codes are read-only.
    stride, dilation : (int, int)
        As they were given.
    padding : str or ((int, int), (int, int))
        As it was given.

    Raises
    ------
    TypeError, ValueError
        Filters, a stride, a dilation or a padding that `conv2d` refuses.

    Examples
    --------
    >>> op = Conv2D((np.int8([[1, 1], [1, -1]]).reshape(2, 2, 1, 1), -128.0, 127.0), stride=(2, 2), padding="SAME")
    >>> op((np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1), 0.0, 255.0)).data.ravel().tolist()
    [0, 7, 13, 8]
    >>> op.shape_of((1, 224, 224, 1))
    (1, 112, 112, 1)
    """

    __slots__ = ("_line", "_packed", "_taps", "dilation", "padding", "stride", "w")

    w: QTensor
    stride: Pair
    dilation: Pair
    padding: Padding

    def __init__(
        self, w: TensorLike, *, stride: Pair = (1, 1), dilation: Pair = (1, 1), padding: Padding = "VALID"
    ) -> None:
        filters = centred(w, "w")
        self.stride, self.dilation = _pair(stride, "stride", 1), _pair(dilation, "dilation", 1)
        self.padding = _padding(padding)
        if filters.codes.ndim != 4 or 0 in filters.codes.shape:
            raise ValueError(f"w: expected (KH, KW, C, O), each at least 1, got shape {filters.codes.shape}")
        check_length(prod(filters.codes.shape[:3]), "w")
        self.w, self._line = filters.kept(), filters.line
        self._packed = pack_weights(filters.codes.transpose(3, 2, 0, 1))
        self._taps = filters.codes.sum(2, np.int32)
        self._keep(self.w, self.stride, self.dilation, self.padding)

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C).

        Returns
        -------
        tuple of int
            (N, OH, OW, O).
        """
        return self._placed(shape)[1]

    def __call__(self, x: TensorLike, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> QTensor:
        """Convolve the images `x` with the filters, as `conv2d` does."""
        image = centred(x, "x")
        num_threads = int32(num_threads, "num_threads", 1)
        window, shape = self._placed(image.codes.shape)
        top = highest(image.line, self._line, prod(self.w.shape[:3]), "x, w")
        if out is not None:
            check_out(out, S32, shape, [image.given])
        images, kernel = Images(image.codes, window), self.w.shape[:2]
        sums = convolve(images, self._packed, num_threads=num_threads)
        terms = self._terms(image.codes.shape, window)
        rows = window_sums(images, kernel).reshape(-1) if self._line.base else np.zeros(sums.size // shape[3], np.int32)
        return scaled(sums, image.line, self._line, top, rows, terms, out, shape)

    def _placed(self, shape: tuple[int, ...]) -> tuple[Window, tuple[int, ...]]:
        """Give the window over images of this shape, and the shape of the result."""
        kernel, channels = self.w.shape[:2], self.w.shape[2]
        if len(shape) != 4 or 0 in shape:
            raise ValueError(f"x: expected (N, H, W, C), each at least 1, got shape {shape}")
        if shape[3] != channels:
            shapes = f"{shape} is (N, H, W, C), and {self.w.shape} is (KH, KW, C, O)"
            raise ValueError(f"x: expected images of {channels} channels, as w has: {shapes}")
        size = shape[1:3]
        if isinstance(self.padding, str):
            window = Window.named(self.padding, size, kernel, self.stride, self.dilation)
        else:
            window = Window(self.stride, self.dilation, self.padding)
        room = tuple(n + sum(pads) for n, pads in zip(size, window.padding, strict=True))
        if any(span > n for span, n in zip(window.span(kernel), room, strict=True)):
            raise ValueError(
                f"x: padded images of {room} have no room for filters of {kernel}, dilation {self.dilation}"
            )
        return window, (shape[0], *window.out_size(size, kernel), self.w.shape[3])

    def _terms(self, shape: tuple[int, ...], window: Window) -> Terms:
        """Give the sums of the filters for each cut. Padding adds nothing, so only taps inside the image count."""
        (down, of_row), (across, of_column) = window.cuts(shape[1:3], self.w.shape[:2])
        kh, kw, o = self._taps.shape
        rows = (down.astype(np.int32) @ self._taps.reshape(kh, kw * o)).reshape(len(down), kw, o)
        columns = across.astype(np.int32) @ rows  # (ways to cut at the top and bottom, at the left and right, O)
        counts = np.multiply.outer(down.sum(1), across.sum(1)).reshape(-1) * shape[3]
        which = of_row[:, None] * len(across) + of_column
        return Terms(columns.reshape(-1, o), counts, which.reshape(-1))


def _pair(values: object, name: str, least: int) -> Pair:
    """Check two integers."""
    if not isinstance(values, tuple | list) or len(values) != 2:
        raise TypeError(f"{name}: expected two integers, got {shown(values)}")
    return int32(values[0], name, least), int32(values[1], name, least)


def _padding(padding: Padding) -> Padding:
    """Check the padding."""
    text = f"padding: expected 'SAME', 'VALID' or two pairs of integers, got {shown(padding)}"
    if isinstance(padding, str):
        if padding not in ("SAME", "VALID"):
            raise ValueError(text)
        return str(padding)
    if not isinstance(padding, tuple | list) or len(padding) != 2:
        raise TypeError(text)
    return _pair(padding[0], "padding", 0), _pair(padding[1], "padding", 0)

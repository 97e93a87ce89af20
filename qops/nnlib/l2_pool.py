"""nnlib's L2 pool: the root of the mean of squares of each window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.nnlib.pooling import moving
from qops._kernels.nnlib.ranges import f32, level
from qops._kernels.pool.pooling import totals
from qops.checks import U8, check_out, integers, operand, put
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_l2_pool_8"]

ROOT_OF_HALF = 23170  # 2**15 / sqrt(2)
SEGMENTS = np.array(
    [
        (23170, 11582, -2767), (23884, 11237, -2533), (24576, 10920, -2330), (25249, 10629, -2153),
        (25905, 10360, -1998), (26545, 10111, -1860), (27170, 9879, -1737), (27780, 9662, -1627),
        (28378, 9458, -1529), (28963, 9267, -1440), (29537, 9087, -1359), (30099, 8917, -1286),
        (30652, 8757, -1218), (31194, 8605, -1157), (31727, 8460, -1101), (32251, 8322, -1049),
    ],
    np.int64,
)  # fmt: skip
"""Root of a number from 1/2 to 1: in each 32nd of it, the coefficients of 1, x and x**2."""
HIGHEST = 255


def quantized_l2_pool_8(
    x: TensorLike,
    window: tuple[int, int],
    stride: tuple[int, int],
    padding: str,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedL2Pool_8: the root of the mean of squares of each window, without pixels of padding.

    ::

        mean = (sum((x - zx)**2) * ((65536 // count + 1) >> 1) + 0x4000) >> 15       c = root(mean)

    zx is `quantize_uint8` of 0. The root is made of a polynomial of second degree in each of 16 segments, with
    coefficients of 16 bits, and rounded half up. The range is ``(0, 255 * step)``, whatever the data.

    Parameters
    ----------
    x, window, stride, padding, out
        As `quantized_max_pool_8` takes them.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, C).

    Raises
    ------
    TypeError, ValueError
        As `quantized_max_pool_8`.

    Notes
    -----
    Source: ``l2pool_execute_ref``, ``op_l2pool.c``; ``op_sqrth_8.h``.

    **Hazards.** Where windows do not reach the end of an image by two pixels or more, all of them are shifted by half
    as much, as C divides:

    >>> x = np.array([10, 20, 30], np.uint8).reshape(1, 1, 3, 1), 0.0, 255.0
    >>> for pool in (qops.nnlib.quantized_max_pool_8, qops.nnlib.quantized_l2_pool_8):
    ...     pool(x, (1, 1), (1, 3), "VALID").data.item()
    10
    20

    Examples
    --------
    >>> x = np.array([3, 4, 6, 8, 12, 5, 0, 0], np.uint8).reshape(1, 1, 8, 1), 0.0, 255.0
    >>> qops.nnlib.quantized_l2_pool_8(x, (1, 2), (1, 2), "VALID").data.ravel().tolist()
    [4, 7, 9, 0]
    """
    strides, taps = integers(stride, "stride", 2, 1), integers(window, "window", 2, 1)
    image, lo, hi = operand(x, "x", U8)
    if image.ndim != 4 or image.size == 0:
        raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {image.shape}")
    size = moving(image, taps, strides, padding, "window").out_size(image.shape[1:3], taps)
    if out is not None:
        check_out(out, U8, (len(image), *size, image.shape[3]), [image])
    zero = quantize_uint8(0.0, lo, hi)
    squares = (image.astype(np.int32) - zero) ** 2
    axes = [_placed(*axis) for axis in zip(image.shape[1:3], taps, strides, size, strict=True)]
    cut, pads = zip(*axes, strict=True)
    move = Window(strides, (1, 1), pads)
    sums = totals(np.ascontiguousarray(squares[:, cut[0] :, cut[1] :]), taps, move)
    counts = totals(np.ones((1, *(n - c for n, c in zip(image.shape[1:3], cut, strict=True)), 1), np.int32), taps, move)
    means = (sums.astype(np.int64) * ((65536 // counts.astype(np.int64) + 1) >> 1) + 0x4000).astype(np.int32) >> 15
    return tensor(put(_root((means & 0xFFFF).astype(np.int64)), out), 0.0, f32(HIGHEST * level(lo, hi)[1]))


def _placed(length: int, taps: int, stride: int, places: int) -> tuple[int, tuple[int, int]]:
    """Give how many pixels the first window begins after the edge, or the padding before and after the image."""
    spare = (places - 1) * stride + taps - length
    before = int(spare / 2)  # as C divides
    after = spare - before if before >= 0 else 0
    return max(-before, 0), (max(before, 0), max(after, 0))


def _root(x: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Give ``sqrt(x)`` of numbers of 16 bits: the root of x * 2**n from 1/2 on, by segments, shifted back."""
    shift = 16 - np.frexp(x.astype(np.float64))[1]
    mantissa = x << shift
    part, rest = SEGMENTS[(mantissa >> 11) & 15], mantissa & 0x7FF
    y = _times(part[..., 2], rest) + part[..., 1]
    y = _times(y, rest) + part[..., 0]
    y = np.where(shift & 1, _times(y, np.int64(ROOT_OF_HALF)), y) >> (shift >> 1)
    return np.where(x == 0, 0, np.minimum((y + 64) >> 7, HIGHEST)).astype(np.uint8)


def _times(x: NDArray[np.int64], y: NDArray[np.int64] | np.int64) -> NDArray[np.int64]:
    return (x * y + 0x4000) >> 15

"""nnlib's ResizeBilinear and ResizeNearestNeighbor of uint8 images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import resize as kernels
from qops.checks import U8, flag, integers, into, operand, put
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_resize_bilinear_8", "resize_nearest_neighbor_8"]


def quantized_resize_bilinear_8(
    x: TensorLike,
    size: tuple[int, int],
    *,
    align_corners: bool = False,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedResizeBilinear_8: interpolate between the four neighbours, in one of three arithmetics.

    The sample i is at ``i * in / out``, or at ``i * (in - 1) / (out - 1)`` with `align_corners`. Images keep their
    codes if their size stays. Otherwise, where there are more than two channels, or the new width is no power of two:

    * Exactly twice the size, without `align_corners`: ``(a + b) >> 1`` between columns, then between rows, but
      ``(a + b + 1) >> 1`` between rows from column ``8 * ((W - 1) // 4)`` of the result on.
    * Other sizes, with weights u of 7 bits and v of 15::

          left, right = (128 - u) * upper + u * lower, for both columns
          c = sat_u8(left + q15(right - left, v) + 64 >> 7)

    Up to two channels, and a power of two:

    * Two or four times the size, without `align_corners`: exact weights, ``half_up(sum / times**2)``.
    * Other sizes: ``trunc(v + 0.5)`` of float32, ``a + (b - a) * fraction`` between columns, then between rows.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    size : (int, int)
        The new height and width, at least 1.
    align_corners : bool, optional
        Whether the first and the last pixels stay in their places.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of shape (N, height, width, C), in the range of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); with at most two channels and a width that is a power of two: images
        of one column to four times the size, for which nnlib reads what is in memory behind; `align_corners` to a
        height or width of 1, for which it divides by 0; `align_corners` from a width of 1, 4, 16 and so on to four
        times that width and less than 384 codes a row. These run on a kernel of their own, with weights of
        columns cut to 7 bits and of rows rounded to 15, as its source reads; no run of it is recorded.

    Notes
    -----
    Source: ``resize_bilinear_d32_execute``, ``op_resizebilinear_d32.c``; ``resizebilinear_qu8_execute``,
    ``op_resizebilinear.c``.

    **Hazards.** Twice the size has a seam: an image without differences between columns gets some.

    >>> x = np.tile(np.array([[0], [1]], np.uint8).reshape(1, 2, 1, 1), (1, 1, 6, 3))
    >>> qops.nnlib.quantized_resize_bilinear_8((x, 0.0, 255.0), (4, 12)).data[0, :, :, 0]
    array([[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
           [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]], dtype=uint8)

    The number of channels picks the arithmetic, so the same image as two channels and as three gets other codes:

    >>> x = np.array([[0, 9], [0, 0]], np.uint8).reshape(1, 2, 2, 1)
    >>> for channels in (2, 3):
    ...     t = qops.nnlib.quantized_resize_bilinear_8((np.tile(x, channels), 0.0, 255.0), (4, 4))
    ...     t.data[0, 0, :, 0]
    array([0, 5, 9, 9], dtype=uint8)
    array([0, 4, 9, 9], dtype=uint8)

    Pixels are taken to lie at their corners: the last row and column are repeated, and the image moves by half a pixel.

    Examples
    --------
    >>> x = np.array([0, 100, 200], np.uint8).reshape(1, 1, 3, 1)
    >>> for align_corners in (False, True):
    ...     t = qops.nnlib.quantized_resize_bilinear_8((x, 0.0, 255.0), (1, 5), align_corners=align_corners)
    ...     t.data.ravel().tolist()
    [0, 60, 120, 180, 200]
    [0, 50, 100, 150, 200]
    """
    corners = flag(align_corners, "align_corners")
    codes, lo, hi, wanted = _images(x, size)
    shape = (codes.shape[0], *wanted, codes.shape[3])
    arithmetic = _arithmetic(codes.shape, wanted, corners)
    place = into(out, shape, [codes], U8)
    made = np.empty(shape, np.uint8) if place is None else place
    if arithmetic == "copy":
        made[...] = codes
    else:
        kernels.resize(np.require(codes, np.uint8, "C"), arithmetic, corners, made)
    return tensor(put(made, out), lo, hi)


def resize_nearest_neighbor_8(
    x: TensorLike,
    size: tuple[int, int],
    *,
    align_corners: bool = False,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """ResizeNearestNeighbor_8: the pixel at ``trunc(i * (in / out))``, in float32.

    With `align_corners` it is ``min(half_away(i * scale), in - 1)``, and the scale is ``(in - 1) / (out - 1)`` if both
    the new height and width are above 1, otherwise in / out, for both.

    Parameters
    ----------
    x, size, align_corners, out
        As `quantized_resize_bilinear_8` takes them.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, height, width, C), in the range of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``resizenear_8_execute``, ``op_resizenear.c``.

    **Hazards.** With `align_corners`, a new height of 1 changes how columns are chosen:

    >>> x = np.arange(5, dtype=np.uint8).reshape(1, 1, 5, 1)
    >>> for height in (1, 2):
    ...     t = qops.nnlib.resize_nearest_neighbor_8((x, 0.0, 1.0), (height, 3), align_corners=True)
    ...     t.data[0, 0].ravel().tolist()
    [0, 2, 3]
    [0, 2, 4]

    Examples
    --------
    >>> for align_corners in (False, True):
    ...     t = qops.nnlib.resize_nearest_neighbor_8((x, 0.0, 1.0), (2, 3), align_corners=align_corners)
    ...     t.data[0, 0].ravel().tolist()
    [0, 1, 3]
    [0, 2, 4]
    """
    corners = flag(align_corners, "align_corners")
    codes, lo, hi, wanted = _images(x, size)
    shape = (codes.shape[0], *wanted, codes.shape[3])
    place = into(out, shape, [codes], U8)
    made = np.empty(shape, np.uint8) if place is None else place
    moves = [np.empty(n, np.intp) for n in wanted]
    for old, new, move in zip(codes.shape[1:3], wanted, moves, strict=True):
        kernels.nearest(old, new, corners, corners and min(wanted) > 1, move)
    made[...] = codes[:, moves[0][:, np.newaxis], moves[1]]
    return tensor(put(made, out), lo, hi)


def _images(x: TensorLike, size: tuple[int, int]) -> tuple[NDArray[Any], float, float, tuple[int, int]]:
    height, width = integers(size, "size", 2, 1)
    codes, lo, hi = operand(x, "x", U8)
    if codes.ndim != 4 or codes.size == 0:
        raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {codes.shape}")
    return codes, lo, hi, (height, width)


def _arithmetic(shape: tuple[int, ...], size: tuple[int, int], corners: bool) -> str:
    """Give the name of the arithmetic that nnlib chooses."""
    _, height, width, channels = shape
    times = size[0] // height if size == (size[0] // height * height, size[0] // height * width) else 0
    if size == (height, width):
        return "copy"
    if channels > 2 or size[1] & (size[1] - 1):
        return "doubled" if times == 2 and not corners else "weighted"
    if times in (2, 4) and not corners:
        if times == 4 and width == 1:
            raise bad_value("x", f"images of one column, of which nnlib reads what is in memory behind, to {size}")
        return "exact"
    if corners and size[1] == 4 * width and (width - 1) % 3 == 0 and width * channels < 384:
        raise bad_value(
            "align_corners",
            f"from a width of {width} to {size[1]}, images of up to 2 channels run on a "
            "kernel of their own, of which no run is recorded",
        )
    if corners and 1 in size:
        raise bad_value("align_corners", f"the original divides by 0 for a size of {size}")
    return "float"

"""QuantizedResizeBilinear: images of codes, or of float32, of another size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.tensorflow.resize_bilinear import resize
from qops.checks import as_array, flag, int32, into, parts, put, shown
from qops.qtensor import TensorLike
from qops.tensorflow._checks import ends, passed_on, shape_text

__all__ = ["quantized_resize_bilinear"]

KINDS = {"uint8": (np.int32, 7), "int32": (np.int64, 30), "float32": (np.float32, 0)}
"""The type in which the results for each type are computed, and how many bits the weights have."""
F32 = np.float32


def quantized_resize_bilinear(
    images: TensorLike,
    size: Sequence[int],
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    *,
    out: NDArray[Any] | None = None,
) -> Any:
    """Resize images by bilinear interpolation, codes in integers. The range does not change.

    Row or column i of the result lies at this place, in float32, with each operation rounded::

        i * (size_in / size_out)                     or, with align_corners, i * ((size_in - 1) / (size_out - 1))
        (i + 0.5) * (size_in / size_out) - 0.5       with half_pixel_centers

    between the pixels lower (at least 0) and upper (at most the last). The weight w is the fraction of the place,
    truncated to R bits, 7 for uint8 and 30 for int32. Divisions truncate::

        top    = top_left * 2**R + (top_right - top_left) * w_x    and bottom likewise
        result = (top + (bottom - top) / 2**R * w_y + 2**(R - 1)) / 2**R

    float32 images are computed with the fractions themselves as weights, each operation rounded.

    Parameters
    ----------
    images : (data, min, max)
        uint8, int32 or float32 images (N, H, W, C); the range in any order.
    size : sequence of two int
        Height and width of the result.
    align_corners : bool
        Whether the first and last pixels of the result lie on those of the images.
    half_pixel_centers : bool
        Whether places are those of the centres of pixels. May be combined with `align_corners`.
    out : ndarray of the type of the images, optional
        Where the result is written; of shape (N, height, width, C).

    Returns
    -------
    QTensor, or for float32 a plain tuple
        Data of shape (N, height, width, C), and the range given.

    Raises
    ------
    TypeError, ValueError
        Images that are not such a tensor (``must be 4-dimensional``, ``must be of non-zero size``, ``must have at least
        one channel``); no images, for which TensorFlow gives no range; a size that is not two integers above 0
        (``output dimensions must be positive``); an `out` that does not fit or overlaps the images.

    Notes
    -----
    Source: TensorFlow, ``quantized_resize_bilinear_op.cc``, ``image_resizer_state.h``.

    **Hazards.** The difference of two rows loses its fraction before it is weighted, that of two columns does not. So a
    picture and its transpose give different results:

    >>> x = np.array([[22, 220], [5, 138]], np.uint8).reshape(1, 2, 2, 1)
    >>> for picture in (x, x.transpose(0, 2, 1, 3)):
    ...     qops.tensorflow.quantized_resize_bilinear((picture, 0.0, 1.0), (3, 3)).data[0, 1, 1].item()
    114
    113

    int32 codes are read as float32, and the highest codes wrap, unless the size stays the same:

    >>> q = np.full((1, 1, 1, 1), 2**31 - 1, np.int32), -1.0, 1.0
    >>> [qops.tensorflow.quantized_resize_bilinear(q, size).data[0, 0, 0].item() for size in ((1, 1), (1, 2))]
    [2147483647, -2147483648]

    Examples
    --------
    >>> x = np.array([0, 100, 200], np.uint8).reshape(1, 1, 3, 1)
    >>> for options in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
    ...     qops.tensorflow.quantized_resize_bilinear((x, 0.0, 1.0), (1, 5), **options).data.ravel().tolist()
    [0, 59, 120, 180, 200]
    [0, 50, 100, 150, 200]
    [0, 40, 100, 159, 200]
    """
    values, lo, hi = parts(images, "images")
    low, high = ends(lo, hi, "images min", "images max")
    corners, centers = flag(align_corners, "align_corners"), flag(half_pixel_centers, "half_pixel_centers")
    height, width = _size(size)
    x = as_array(values, "images")
    kind = x.dtype.newbyteorder("=")
    if kind.name not in KINDS:
        raise bad_type("images", f"expected uint8, int32 or float32 data, got {x.dtype}")
    if x.ndim != 4:
        raise bad_value("images", f"input must be 4-dimensional{shape_text(x.shape)}")
    if 0 in x.shape[1:3]:
        raise bad_value("images", f"input image must be of non-zero size, got shape {x.shape}")
    if x.shape[3] == 0:
        raise bad_value("images", f"image must have at least one channel, got shape {x.shape}")
    if len(x) == 0:
        raise bad_value("images", f"has no images, for which TensorFlow gives no range, shape {x.shape}")
    shape = (len(x), height, width, x.shape[3])
    place = into(out, shape, [x], kind.num)
    made = np.empty(shape, kind) if place is None else place
    if x.shape == shape:
        made[...] = x
    else:
        down, across = (
            _moves(n, m, corners, centers, kind.name) for n, m in zip(x.shape[1:3], shape[1:3], strict=True)
        )
        resize(np.require(x, kind, ["C", "A"]), down, across, made)
    result = put(made, out)
    return (result, low, high) if kind == F32 else passed_on(result, low, high)


def _size(size: Sequence[int]) -> tuple[int, int]:
    if not isinstance(size, tuple | list) and not (isinstance(size, np.ndarray) and size.ndim):
        raise bad_type("size", f"expected two integers, got {shown(size)}")
    if len(size) != 2:
        raise bad_value("size", f"shape_t must have two elements, got {len(size)}")
    height, width = (int32(n, "size") for n in size)
    if min(height, width) <= 0:
        raise bad_value("size", f"output dimensions must be positive, got {height}, {width}")
    return height, width


def _moves(
    size: int, wanted: int, corners: bool, centers: bool, kind: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Give the lower and upper pixel, and the weight of the upper one, for each row or column of the result."""
    scale = F32(size - 1) / F32(wanted - 1) if corners and wanted > 1 else F32(size) / F32(wanted)
    i = np.arange(wanted).astype(F32)
    at = (i + F32(0.5)) * scale - F32(0.5) if centers else i * scale
    below = np.floor(at)
    upper = np.minimum(np.ceil(at), size - 1).astype(np.int64)
    lower = np.minimum(np.maximum(below, 0).astype(np.int64), upper)
    dtype, bits = KINDS[kind]
    return lower, upper, ((at - below) * F32(2**bits)).astype(dtype)

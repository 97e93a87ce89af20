"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR: images NHWC of another height and width."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import put
from qops.tflite import _checks as check
from qops.tflite.arithmetic import F32, Codes, half_away, multiply_add
from qops.tflite.op import PreparedOp

__all__ = ["ResizeBilinear", "ResizeNearestNeighbor", "resize_bilinear", "resize_nearest_neighbor"]


class Places(NamedTuple):
    """Along one axis: the pixels before and after each place, and how far it lies behind the first."""

    lower: Codes
    upper: Codes
    fraction: NDArray[Any]


def _weights(down: Places, across: Places) -> tuple[NDArray[Any], NDArray[Any]]:
    """Give how far each place lies below and to the right, along their axes."""
    return down.fraction[:, np.newaxis, np.newaxis], across.fraction[:, np.newaxis]


class Resize(PreparedOp):
    """The base of both ops."""

    __slots__ = ("_aligns", "_centers", "_size")

    def __init__(
        self,
        size: ArrayLike,
        *,
        align_corners: bool = False,
        half_pixel_centers: bool = False,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        size = given.size.tolist() if isinstance(given.size, np.ndarray) else given.size
        self._size = check.pair(size, "size")
        self._aligns, self._centers = given.align_corners, given.half_pixel_centers

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 4 or 0 in shape[1:3]:
            raise bad_value("x", f"expected images (N, H, W, C), got shape {shape}")
        return (shape[0], *self._size, shape[3])

    def places(self, shape: tuple[int, ...]) -> tuple[Any, Any]:
        """Give what each row of the result is made of, and each column, for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C).

        Returns
        -------
        two ndarrays of int64, or two tuples of ndarrays
            The nearest pixels; of the bilinear op the pixel before each place, the one behind it, and how far the place
            lies behind the first.
        """
        down, across = (self._along(n, count) for n, count in zip(shape[1:3], self._size, strict=True))
        return down, across

    def _along(self, size: int, count: int) -> Any:
        """Give the places of so many results along an axis of so many pixels."""
        raise NotImplementedError

    def _resized(self, data: NDArray[Any]) -> NDArray[Any]:
        raise NotImplementedError

    def _ratio(self, size: int, count: int) -> np.float32:
        """Give how many pixels lie between two places."""
        return F32(size - 1) / F32(count - 1) if self._aligns and count > 1 else F32(size) / F32(count)

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Resize `x`, into `out` if it is given."""
        data = self._codes(x)
        shape = self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        if 0 in shape:  # the other sizes may be enormous
            return put(np.empty(shape, self._dtype), out)
        return put(self._resized(data), out)


class ResizeNearestNeighbor(Resize):
    """The prepared form of `resize_nearest_neighbor` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "RESIZE_NEAREST_NEIGHBOR"

    def _resized(self, data: NDArray[Any]) -> NDArray[Any]:
        down, across = self.places(data.shape)
        return data[:, down][:, :, across]

    def _along(self, size: int, count: int) -> Codes:
        at = np.arange(count, dtype=F32) + F32(0.5 if self._centers else 0)
        at = at * self._ratio(size, count)
        return np.clip((half_away if self._aligns else np.floor)(at).astype(np.int64), 0, size - 1)


class ResizeBilinear(Resize):
    """The prepared form of `resize_bilinear` of int8, uint8 or int16, called ``op(x, out=None)``."""

    __slots__ = ()
    _name = "RESIZE_BILINEAR"

    def _fill(self, given: SimpleNamespace) -> None:
        super()._fill(given)
        if self._aligns and self._centers:
            raise bad_value("half_pixel_centers", "expected False with align_corners, got True")

    @property
    def arithmetic(self) -> str:
        """How weights are held: in "10 bits" or "11 bits", or as "floats"."""
        if self._facts.bilinear_bits == 11 and self._dtype.itemsize == 1:
            return "11 bits"
        return "floats" if self._dtype == np.uint8 else "10 bits"

    def _along(self, size: int, count: int) -> Places:
        if self.arithmetic == "10 bits":
            return self._in_integers(size, count)
        axis = self._in_floats(size, count)
        if self.arithmetic == "floats":
            return axis
        return axis._replace(fraction=np.rint(np.maximum(axis.fraction, 0) * F32(2048)).astype(np.int64))

    def _resized(self, data: NDArray[Any]) -> NDArray[Any]:
        places, how = self.places(data.shape), self.arithmetic
        if how == "floats":
            return self._of_floats(data.astype(F32), *places)
        return (self._in_11_bits if how == "11 bits" else self._in_10_bits)(data.astype(np.int64), *places)

    @staticmethod
    def _corners(x: NDArray[Any], down: Places, across: Places) -> list[NDArray[Any]]:
        """Give the four pixels of each place: above and below on the left, above and below on the right."""
        rows = x[:, down.lower], x[:, down.upper]
        return [row[:, :, side] for side in (across.lower, across.upper) for row in rows]

    def _in_integers(self, size: int, count: int) -> Places:
        if self._aligns and count > 1:
            scale = ((size - 1) * 1024 + (count - 1) // 2) // (count - 1)
        else:
            scale = (size * 1024 + count // 2) // count
        at = np.arange(count) * scale + (scale // 2 - 512 if self._centers else 0)
        lower = np.maximum(at >> 10, 0)
        return Places(lower, np.clip((at + 1023) >> 10, 0, size - 1), at - 1024 * lower)

    def _in_floats(self, size: int, count: int) -> Places:
        at, ratio = np.arange(count, dtype=F32), self._ratio(size, count)
        fuses = self._facts.fuses
        at = multiply_add(at + F32(0.5), ratio, F32(-0.5), fuses) if self._centers else at * ratio
        lower = np.maximum(np.floor(at), 0).astype(np.int64)
        upper = np.clip(np.ceil(at).astype(np.int64), 0, size - 1)
        return Places(lower, upper, at - lower.astype(F32))

    def _in_10_bits(self, x: Codes, *places: Places) -> NDArray[Any]:
        v, h = _weights(*places)
        weights = (1024 - v) * (1024 - h), v * (1024 - h), (1024 - v) * h, v * h
        total = sum(pixel * weight for pixel, weight in zip(self._corners(x, *places), weights, strict=True))
        made = np.sign(total) * ((np.abs(total) + 2**19) >> 20)
        return np.clip(made, *check.ends(self._dtype)).astype(self._dtype)

    def _of_floats(self, x: NDArray[np.float32], *places: Places) -> NDArray[Any]:
        v, h = _weights(*places)
        u, g = F32(1) - v, F32(1) - h
        a, b, c, d = self._corners(x, *places)
        if self._facts.bilinear_weights:
            first, *rest = (c, u * h), (a, u * g), (b, v * g), (d, v * h)
        else:
            first, *rest = (b * v, g), (a * u, g), (c * u, h), (d * v, h)
        total = first[0] * first[1]
        for pixel, weight in rest:
            total = multiply_add(pixel, weight, total, self._facts.fuses)
        return np.trunc(total + F32(0.5)).astype(self._dtype)

    def _in_11_bits(self, x: Codes, *places: Places) -> NDArray[Any]:
        v, h = _weights(*places)
        a, b, c, d = self._corners(x, *places)
        above, below = a * 2048 + (c - a) * h, b * 2048 + (d - b) * h
        return ((above * 2048 + (below - above) * v + 2**21) >> 22).astype(self._dtype)


def resize_bilinear(
    x: ArrayLike,
    size: ArrayLike,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Resize images by linear interpolation.

    Positions and weights have 10 bits behind the point; uint8 is computed in float32. XNNPACK rounds weights of 8 bits
    to 11 bits.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    size : (int, int)
        Height and width of the result.
    align_corners : bool
        Whether the outermost pixels of both images lie on each other.
    half_pixel_centers : bool
        Whether a pixel lies half a step behind its edge.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (N, height, width, C)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers, a size below 1, an `out` that does not fit; a kernel library that has no such
        op; both modes at once.

    Notes
    -----
    Sources: TFLite ``resize_bilinear.cc``, ``reference/resize_bilinear.h``; XNNPACK ``s8-ibilinear``.

    Examples
    --------
    >>> qops.tflite.resize_bilinear(np.array([[[[0], [90]]]], np.int8), (1, 4)).ravel()
    array([ 0, 45, 90, 90], dtype=int8)
    """
    return ResizeBilinear._on(locals(), x, out)


def resize_nearest_neighbor(
    x: ArrayLike,
    size: ArrayLike,
    *,
    align_corners: bool = False,
    half_pixel_centers: bool = False,
    kernel: str = "reference",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Resize images by copying the nearest pixel.

    Positions are float32, rounded down, or half away with `align_corners`.

    Parameters
    ----------
    x : ndarray of int8, uint8 or int16, (N, H, W, C)
        Codes.
    size : (int, int)
        Height and width of the result.
    align_corners : bool
        Whether the outermost pixels of both images lie on each other.
    half_pixel_centers : bool
        Whether a pixel lies half a step behind its edge.
    kernel, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `x`, (N, height, width, C)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers, a size below 1, an `out` that does not fit; a kernel library that has no such
        op.

    Notes
    -----
    Sources: TFLite ``resize_nearest_neighbor.cc``, ``reference/resize_nearest_neighbor.h``.

    Examples
    --------
    >>> qops.tflite.resize_nearest_neighbor(np.array([[[[0], [90]]]], np.int8), (1, 4)).ravel()
    array([ 0,  0, 90, 90], dtype=int8)
    """
    return ResizeNearestNeighbor._on(locals(), x, out)

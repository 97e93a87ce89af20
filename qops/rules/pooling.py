"""Average pooling by a rule's name: images of 8-bit codes, NHWC, stride 1, no padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.numbers import shown
from qops.checks import as_array, check_out, integer, number
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.rules.averages import AVERAGE_POOL, Windows
from qops.rules.names import rule_named

__all__ = ["AveragePool", "average_pool"]

_MOST_CODES = 2**21
"""Codes of the largest window for which the reciprocal of 31 bits gives every mean."""


def average_pool(
    x: ArrayLike,
    rule: str,
    *,
    kernel: tuple[int, int],
    zero_point: int,
    x_scale: float = 1.0,
    y_scale: float | None = None,
    y_zero_point: int | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Average windows of an image by the rule of a real system, to the bit.

    In real numbers the result is the mean of ``x_scale * (x - zero_point)`` over each window. `AVERAGE_POOL` has the
    formula that each rule computes for it.

    Parameters
    ----------
    x : ndarray of uint8 or int8, (N, H, W, C)
        Codes.
    rule : str
        A name in `AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window; stride 1, no padding.
    zero_point : int
        Code of real 0 of `x`.
    x_scale : float
        Real size of a code step of `x`; read by torch-qnnpack and the rules that rescale.
    y_scale, y_zero_point : float, int, optional
        Those of the result, for the rules that rescale; those of `x` if not given.
    out : ndarray of the dtype of `x`, optional
        Where the codes are written; (N, H - KH + 1, W - KW + 1, C).

    Returns
    -------
    ndarray of the dtype of `x`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, another dtype or number of axes, a kernel that does not fit, a scale that is not above
        0, a zero point that is no code, scale or zero point of y for a rule that keeps those of x, an `out` that does
        not fit or overlaps `x`.

    Notes
    -----
    Sources: TFLite ``pooling.h``, CMSIS-NN ``arm_avgpool_s8.c``, torch ``AveragePool2d``, onnxruntime
    ``qlavgpool.cpp``.

    **Hazards.** TFLite rounds away from the stored 0, so the same picture in s8 and in u8 gives other results:

    >>> pixels = np.uint8([[[[101], [102]]]])
    >>> as_u8 = qops.rules.average_pool(pixels, "away-stored", kernel=(1, 2), zero_point=128)
    >>> as_s8 = qops.rules.average_pool((pixels - 128).astype(np.int8), "away-stored", kernel=(1, 2), zero_point=0)
    >>> as_u8.item(), as_s8.item() + 128
    (102, 101)

    torch rounds ties by the layout of its memory and, if that is channels_last, by the number of the channel:

    >>> pixels = np.uint8([[[[6] * 17, [7] * 17]]])  # a zero point of 1: 5.5 + 1
    >>> found = qops.rules.average_pool(pixels, "torch-nhwc", kernel=(1, 2), zero_point=1)
    >>> found[..., 0].item(), found[..., 16].item()
    (7, 6)

    Examples
    --------
    >>> qops.rules.average_pool(np.uint8([[[[1], [2], [4]]]]), "torch-nchw", kernel=(1, 2), zero_point=0).ravel()
    array([2, 3], dtype=uint8)
    """
    image = _codes(x)
    op = AveragePool(
        rule,
        kernel=kernel,
        zero_point=zero_point,
        x_scale=x_scale,
        y_scale=y_scale,
        y_zero_point=y_zero_point,
        dtype=image.dtype,
    )
    return op(image, out=out)


class AveragePool(Prepared):
    """Prepared form of `average_pool`: a rule with its numbers, for windows of one size and codes of one type.

    Called as ``op(x, out=None)``, it gives what `average_pool` gives with the same arguments. Each `x` may have its own
    number of images, height, width and number of channels.

    Parameters
    ----------
    rule, kernel, zero_point, x_scale, y_scale, y_zero_point
        As `average_pool` takes them.
    dtype : data type, optional
        Type of the codes, uint8 or int8.

    Attributes
    ----------
    rule : str
        The name in `AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window.
    dtype : numpy.dtype
        Type of the codes.

    Raises
    ------
    TypeError, ValueError
        What `average_pool` refuses; `x` of another type than `dtype`.

    Examples
    --------
    >>> op = qops.rules.AveragePool("torch-nchw", kernel=(1, 2), zero_point=0)
    >>> op(np.uint8([[[[1], [2], [4]]]])).ravel()
    array([2, 3], dtype=uint8)
    >>> op.shape_of((1, 224, 224, 3))
    (1, 224, 223, 3)
    """

    __slots__ = ("_pooled", "_whole", "dtype", "kernel", "rule")

    rule: str
    kernel: tuple[int, int]
    dtype: np.dtype[Any]

    def __init__(
        self,
        rule: str,
        *,
        kernel: tuple[int, int],
        zero_point: int,
        x_scale: float = 1.0,
        y_scale: float | None = None,
        y_zero_point: int | None = None,
        dtype: DTypeLike = "uint8",
    ) -> None:
        self.rule, codes = rule_named(rule, AVERAGE_POOL), of_dtype(dtype)
        row = AVERAGE_POOL[self.rule]
        if codes.name not in ("u8", "s8"):
            raise TypeError(f"dtype: expected uint8 or int8, got {codes.dtype}")
        self.kernel, self.dtype = _kernel(kernel), codes.dtype
        zero = integer(zero_point, "zero_point", codes.lowest, codes.highest)
        scale = _above_0(x_scale, "x_scale")
        if not row.rescales and (y_scale is not None or y_zero_point is not None):
            raise ValueError(f"y_scale, y_zero_point: {rule} keeps those of x")
        y = scale if y_scale is None else _above_0(y_scale, "y_scale")
        y_zero = zero if y_zero_point is None else integer(y_zero_point, "y_zero_point", codes.lowest, codes.highest)
        windows = Windows(self.kernel, scale, zero, y, y_zero, codes.lowest, codes.highest)
        self._pooled = row.made(windows)
        self._whole = AVERAGE_POOL[row.whole].made(windows) if row.whole else self._pooled
        kept = (None if y_scale is None else y), (None if y_zero_point is None else y_zero)
        self._keep(self.rule, self.kernel, zero, scale, *kept, "uint8" if codes.name == "u8" else "int8")

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C).

        Returns
        -------
        tuple of int
            (N, H - KH + 1, W - KW + 1, C).

        Raises
        ------
        ValueError
            Another number of axes, images smaller than a window.
        """
        if len(shape) != 4:
            raise ValueError(f"x: expected 4 dimensions, NHWC, got shape {shape}")
        if shape[1] < self.kernel[0] or shape[2] < self.kernel[1]:
            raise ValueError(f"x, kernel: windows of {self.kernel} do not fit in images of shape {shape}")
        return shape[0], shape[1] - self.kernel[0] + 1, shape[2] - self.kernel[1] + 1, shape[3]

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the means of the windows of `x`, in `out` if it is given."""
        image = _codes(x)
        if image.dtype != self.dtype:
            raise TypeError(f"x: expected {self.dtype} data, got {image.dtype}")
        shape = self.shape_of(image.shape)
        if out is not None:
            check_out(out, image.dtype.num, shape, [image])
        return (self._whole if image.shape[1:3] == self.kernel else self._pooled)(image, out)


def _codes(x: ArrayLike) -> NDArray[Any]:
    image = as_array(x, "x")
    if image.dtype not in (np.uint8, np.int8):
        raise TypeError(f"x: expected uint8 or int8 data, got {image.dtype}")
    return image


def _above_0(value: Any, name: str) -> float:
    found = number(value, name)
    if not found > 0:
        raise ValueError(f"{name}: expected a number above 0, got {found}")
    return found


def _kernel(kernel: Any) -> tuple[int, int]:
    if not isinstance(kernel, tuple | list) or len(kernel) != 2:
        raise TypeError(f"kernel: expected (height, width), got {shown(kernel)}")
    taps = integer(kernel[0], "kernel", 1, _MOST_CODES), integer(kernel[1], "kernel", 1, _MOST_CODES)
    if taps[0] * taps[1] > _MOST_CODES:
        raise ValueError(f"kernel: expected windows of at most {_MOST_CODES} codes, got {taps[0]} by {taps[1]}")
    return taps

"""Average pooling by a rule's name: images of codes, NHWC, and windows that move over them."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.arrays.window import Window
from qops._kernels.stage.binary import check_type
from qops._kernels.stage.given import row_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, check_out, flag, integer, number
from qops.codes import of_dtype
from qops.prepared import Prepared
from qops.rules.averages import AVERAGE_POOL, Pooled, PoolRule, Windows
from qops.rules.pool_windows import cut_windows, kernel_of, moves_of
from qops.window import Padding, TwoInts, pair

__all__ = ["AveragePool", "average_pool"]

_NONE = (0, 0), (0, 0)  # padding


@refusing_unknown
def average_pool(
    x: ArrayLike,
    rule: str,
    *,
    kernel: tuple[int, int],
    zero_point: int,
    x_scale: float = 1.0,
    y_scale: float | None = None,
    y_zero_point: int | None = None,
    stride: int | TwoInts = 1,
    padding: Padding = "valid",
    count_padding: bool | None = None,
    qmin: int | None = None,
    qmax: int | None = None,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Average windows of an image by the rule of a real system, to the bit.

    In real numbers the result is the mean of ``x_scale * (x - zero_point)`` over each window. `AVERAGE_POOL` has the
    formula that each rule computes for it. A window that lies partly on padding has the mean of its taps on the image;
    or, if padding counts, their sum over the number of all its taps.

    Parameters
    ----------
    x : ndarray of uint8 or int8, (N, H, W, C)
        Codes; int16 by away-stored.
    rule : str
        A name in `AVERAGE_POOL`.
    kernel : (int, int)
        Height and width of a window; at most 2**21 codes, of int16 2**14.
    zero_point : int
        Code of real 0 of `x`.
    x_scale : float
        Real size of a code step of `x`; read by torch-qnnpack and the rules that rescale.
    y_scale, y_zero_point : float, int, optional
        Scale and zero point of the result, for the rules that rescale; if not given, it has those of `x`.
    stride : int or (int, int)
        How far the window moves, down and across.
    padding : {"valid", "same"} or int or (int, int) or ((int, int), (int, int))
        "valid": none. "same": ``ceil(size / stride)`` outputs; an odd pixel of padding goes after the image. Numbers:
        the pixels on each side; above and below, left and right; or each of these four. They are less than `kernel`.
    count_padding : bool, optional
        Whether taps on padding count, as torch's ``count_include_pad`` and ONNX's; by default only where
        `PoolRule.counts` has nothing else.
    qmin, qmax : int, optional
        Lowest and highest code that the result is clamped to, as by a fused activation; the ends of the type if not
        given.
    out : ndarray of the dtype of `x`, optional
        Where the codes are written; (N, OH, OW, C).

    Returns
    -------
    ndarray of the dtype of `x`, (N, OH, OW, C)

    Raises
    ------
    TypeError, ValueError
        A rule that is not known, another dtype or number of axes, a kernel that does not fit, padding as large as the
        kernel, a scale that is not above 0, a zero point that is no code, scale or zero point of y for a rule that
        keeps those of x, a count that the systems of the rule do not have, an `out` that does not fit or overlaps `x`.

    Notes
    -----
    Sources: TFLite ``pooling.h``, CMSIS-NN ``arm_avgpool_s8.c``, torch ``AveragePool2d``, onnxruntime
    ``qlavgpool.cpp``.

    **Hazards.** TFLite rounds away from the stored 0, so the same picture in s8 and in u8 gives other results:

    >>> pixels = np.array([[[[101], [102]]]], np.uint8)
    >>> as_u8 = qops.rules.average_pool(pixels, "away-stored", kernel=(1, 2), zero_point=128)
    >>> as_s8 = qops.rules.average_pool((pixels - 128).astype(np.int8), "away-stored", kernel=(1, 2), zero_point=0)
    >>> as_u8.item(), as_s8.item() + 128
    (102, 101)

    torch rounds ties by the layout of its memory and, if that is channels_last, by the number of the channel:

    >>> pixels = np.array([[[[6] * 17, [7] * 17]]], np.uint8)  # a zero point of 1: 5.5 + 1
    >>> found = qops.rules.average_pool(pixels, "torch-nhwc", kernel=(1, 2), zero_point=1)
    >>> found[..., 0].item(), found[..., 16].item()
    (7, 6)

    Examples
    --------
    >>> qops.rules.average_pool(
    ...     np.array([[[[1], [2], [4]]]], np.uint8), "torch-nchw", kernel=(1, 2), zero_point=0
    ... ).ravel()
    array([2, 3], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(average_pool, unknown)
    image = as_array(x, "x")
    check_type(image.dtype, "x", rule, AVERAGE_POOL)
    dtype = image.dtype
    return AveragePool._once(locals())(image, out)


class AveragePool(Prepared):
    """Prepared form of `average_pool`: a rule with its numbers, for windows of one size and codes of one type.

    Called as ``op(x, out=None)``, it gives what `average_pool` gives with the same arguments. Each `x` may have its own
    number of images, height, width and number of channels.

    Parameters
    ----------
    rule, kernel, zero_point, x_scale, y_scale, y_zero_point, stride, padding, count_padding, qmin, qmax
        As `average_pool` takes them.
    dtype : data type, optional
        Type of the codes: uint8 or int8, int16 by away-stored.

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
        What `average_pool` refuses, for images of any size; `x` of another type than `dtype`.

    Examples
    --------
    >>> op = qops.rules.AveragePool("torch-nchw", kernel=(1, 2), zero_point=0)
    >>> op(np.array([[[[1], [2], [4]]]], np.uint8)).ravel()
    array([2, 3], dtype=uint8)
    >>> op.shape_of((1, 224, 224, 3))
    (1, 224, 223, 3)
    """

    __slots__ = ("_counts_padding", "_moves", "_pools", "_rows", "_windows")

    def __init__(
        self,
        rule: str,
        *,
        kernel: tuple[int, int],
        zero_point: int,
        x_scale: float = 1.0,
        y_scale: float | None = None,
        y_zero_point: int | None = None,
        stride: int | TwoInts = 1,
        padding: Padding = "valid",
        count_padding: bool | None = None,
        dtype: DTypeLike = "uint8",
        qmin: int | None = None,
        qmax: int | None = None,
    ) -> None:
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        given = self._arguments
        rule, of_y, zero_of_y = given["rule"], given["y_scale"], given["y_zero_point"]
        row, codes = row_named(rule, AVERAGE_POOL), of_dtype(given["dtype"])
        if not once:  # the function has checked that of x
            check_type(codes.dtype, "dtype", rule, AVERAGE_POOL)
        low, high = codes.lowest, codes.highest
        kernel, x_zero = kernel_of(given["kernel"], codes.dtype), integer(given["zero_point"], "zero_point", low, high)
        x_scale = _above_0(given["x_scale"], "x_scale")
        if not row.rescales and (of_y is not None or zero_of_y is not None):
            raise bad_value("y_scale, y_zero_point", f"{rule} keeps those of x")
        y_scale = x_scale if of_y is None else _above_0(of_y, "y_scale")
        y_zero = x_zero if zero_of_y is None else integer(zero_of_y, "y_zero_point", low, high)
        lo = low if given["qmin"] is None else integer(given["qmin"], "qmin", low, high)
        hi = high if given["qmax"] is None else integer(given["qmax"], "qmax", lo, high)
        stride, self._counts_padding = pair(given["stride"], "stride", 1), _counts(given["count_padding"], rule, row)
        self._moves = moves_of(kernel, stride, given["padding"])
        self._rows = row, AVERAGE_POOL[row.whole] if row.whole else row
        self._windows = Windows(kernel, stride, x_scale, x_zero, y_scale, y_zero, codes, lo, hi)
        self._pools = None if once else [each.made(self._windows) for each in self._rows]
        if not once:
            checked = {"kernel": kernel, "zero_point": x_zero, "x_scale": x_scale, "dtype": codes.dtype}
            checked |= {} if of_y is None else {"y_scale": y_scale}
            checked |= {} if zero_of_y is None else {"y_zero_point": y_zero}
            self._keep({**given, **checked})

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for images of a shape.

        Parameters
        ----------
        shape : tuple of int
            (N, H, W, C).

        Returns
        -------
        tuple of int
            (N, OH, OW, C).

        Raises
        ------
        ValueError
            Another number of axes, images smaller than a window.
        """
        return self._moved(shape)[1]

    def _moved(self, shape: tuple[int, ...]) -> tuple[Window, tuple[int, ...]]:
        """How windows move over images of a shape, and the shape of the result."""
        if len(shape) != 4:
            raise bad_value("x", f"expected 4 dimensions, NHWC, got shape {shape}")
        kernel = self._windows.kernel
        window = self._moves or Window.named("SAME", shape[1:3], kernel, self._windows.stride)
        return window, (shape[0], *window.out_size(shape[1:3], kernel, "x, kernel"), shape[3])

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the means of the windows of `x`, in `out` if it is given."""
        image, kernel, stride = as_array(x, "x"), self._windows.kernel, self._windows.stride
        if image.dtype != self._windows.codes.dtype:
            check_type(image.dtype, "x", None, AVERAGE_POOL)
            raise bad_type("x", f"expected {self.dtype} data, got {image.dtype}")
        window, shape = self._moved(image.shape)
        if out is not None:
            check_out(out, image.dtype.num, shape, [image])
        if window.padding == _NONE:
            return self._pool(image.shape[1:3] == kernel)(image, out)
        if self._counts_padding:  # a tap on padding is a real 0
            return self._pool(False)(window.padded(image, self._windows.x_zero_point, 1), out)
        made = np.empty(shape, image.dtype) if out is None else out
        for cut, pixels, places in cut_windows(window, image.shape[1:3], kernel, stride):
            made[:, *places] = self._rows[0].made(self._windows._replace(kernel=cut))(image[:, *pixels], None)
        return made

    def _pool(self, is_whole: bool) -> Pooled:
        """What pools images, by the rule of windows as large as the image or not; a single call makes one of them."""
        return self._pools[is_whole] if self._pools else self._rows[is_whole].made(self._windows)


def _counts(count_padding: bool | None, rule: str, row: PoolRule) -> bool:
    """Whether taps on padding count."""
    counts = row.counts
    if count_padding is None:
        return counts == "all"
    if flag(count_padding, "count_padding") and "all" not in counts:
        raise bad_value("count_padding", f"{rule} counts taps on the image only, got {count_padding}")
    if not count_padding and "image" not in counts:
        raise bad_value("count_padding", f"{rule} counts all taps, got {count_padding}")
    return count_padding


def _above_0(value: Any, name: str) -> float:
    found = number(value, name)
    if not found > 0:
        raise bad_value(name, f"expected a number above 0, got {found}")
    return found

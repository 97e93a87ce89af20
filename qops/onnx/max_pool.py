"""MaxPool on codes of 8 bits: the largest of each window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.checks import put
from qops.onnx import _checks as check
from qops.onnx.by_type import codes
from qops.onnx.pool_window import PoolWindow, taps
from qops.prepared import Prepared

__all__ = ["MaxPool", "max_pool"]


class MaxPool(Prepared):
    """The prepared form of `max_pool`: its window, for images of any size.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `max_pool`.

    Examples
    --------
    >>> op = qops.onnx.MaxPool(kernel_shape=[2], strides=[2])
    >>> op, op(np.array([[[3, 1, 4, 1]]], np.uint8))
    (MaxPool(kernel_shape=(2,), strides=(2,)), array([[[3, 4]]], dtype=uint8))
    """

    __slots__ = ("_window",)

    def __init__(
        self,
        *,
        kernel_shape: Sequence[int],
        auto_pad: str = "NOTSET",
        ceil_mode: int = 0,
        dilations: Sequence[int] | None = None,
        pads: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> None:
        self._make(locals())

    def _prepare(self, once: bool) -> None:
        self._window = PoolWindow.of(self._arguments)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        return (*shape[:2], *(axis.positions for axis in self._window.axes(shape[2:], "X")))

    def __call__(self, X: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the largest codes of the windows of `X`, in `out` if it is given."""
        x = codes(X, "X")
        axes = self._window.axes(x.shape[2:], "X")
        shape = (*x.shape[:2], *(axis.positions for axis in axes))
        check.out(out, x.dtype, shape, x)
        made = np.full(shape, np.iinfo(x.dtype).min, x.dtype)
        for of_result, of_image in taps(axes):
            part = made[of_result]
            np.maximum(part, x[of_image], out=part)
        return put(made, out)


def max_pool(
    X: ArrayLike,
    *,
    kernel_shape: Sequence[int],
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the largest code of each window: MaxPool of the standard, on 8 bits.

    Scale and zero point stay as they are; padding is never the largest. All runtimes give the same bits.

    Parameters
    ----------
    X : ndarray of uint8 or int8, (N, C, D1, ..., Dn)
    kernel_shape : sequence of int
        The sizes of a window, one a spatial axis.
    auto_pad : {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}
        How padding is found; "NOTSET" takes `pads`.
    ceil_mode : {0, 1}
        1: a last window that is partly behind the padded image counts, if it begins in it.
    dilations : sequence of int, optional
        The distance between taps, one a spatial axis; 1 by default.
    pads : sequence of int, optional
        Pixels in front of each spatial axis, then behind each; 0 by default.
    strides : sequence of int, optional
        The distance between windows, one a spatial axis; 1 by default.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, (N, C, ...)

    Raises
    ------
    TypeError, ValueError
        Other types, attributes that do not fit the image, padding as large as a window.

    Notes
    -----
    Source: onnx, ``reference/ops/op_max_pool.py``; onnxruntime, ``core/providers/cpu/nn/pool.cc``. The second result of
    the standard, places of the largest, is left out.

    Examples
    --------
    >>> qops.onnx.max_pool(np.array([[[[1, -5], [7, 2]]]], np.int8), kernel_shape=[2, 2], pads=[0, 1, 0, 0])
    array([[[[7, 7]]]], dtype=int8)
    """
    return MaxPool._once(locals())(X, out)

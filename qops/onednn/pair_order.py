"""Rows of codes as fbgemm and onnxruntime form pairs of them: from tap to tap or channel to channel, with padding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import shown
from qops.onednn import _checks as check
from qops.onednn.window import DENSE, Window

__all__ = ["ORDERS", "PairOrder", "padded_rows", "rows_of", "weights_in_order"]


class PairOrder(NamedTuple):
    """How codes under a window follow each other, and the types whose products saturate in pairs."""

    channels_last: bool
    src: str
    weights: str

    def saturates(self, src: str, weights: str) -> bool:
        """Whether the products of these types saturate; those of others are exact."""
        return (src, weights) == (self.src, self.weights)


ORDERS = {
    "channels of a tap": PairOrder(True, "uint8", "int8"),
    "taps, channels": PairOrder(True, "uint8", "int8"),
    "channels, taps": PairOrder(False, "int8", "uint8"),
}
"""The orders of oneDNN; of fbgemm and onnxruntime's QLinearConv; and of its ConvInteger, where weights are unsigned."""


def rows_of(weights: NDArray[Any], channels_last: bool = True) -> NDArray[Any]:
    """Give weights (OC, IC), (O, C, KH, KW) or (G, O, C, KH, KW) as a row of taps and channels for each output.

    Examples
    --------
    >>> from qops.onednn.pair_order import rows_of
    >>> w = np.array([[[[1, 2]], [[3, 4]]]], np.int8)
    >>> rows_of(w), rows_of(w, channels_last=False)
    (array([[1, 3, 2, 4]], dtype=int8), array([[1, 2, 3, 4]], dtype=int8))
    """
    if weights.ndim == 2:
        return weights
    inputs, kh, kw = weights.shape[-3:]
    return (np.moveaxis(weights, -3, -1) if channels_last else weights).reshape(-1, kh * kw * inputs)


def padded_rows(
    src: NDArray[Any], weights: NDArray[Any], window: Window, zero_point: int, channels_last: bool = True
) -> NDArray[Any]:
    """Give what is under the window, a row of taps and channels for each of its places: (groups, places, K).

    Raises
    ------
    ValueError
        Shapes that do not fit, or a window for an inner product.
    """
    if weights.ndim == 2:
        if window != DENSE:
            raise bad_value("window", f"expected none for an inner product, got {shown(window)}")
        if src.shape[1] != weights.shape[1]:
            raise bad_value("src, weights", f"shapes {src.shape} and {weights.shape} do not fit")
        return src[np.newaxis]
    groups = len(weights) if weights.ndim == 5 else 1
    inputs, kh, kw = weights.shape[-3:]
    if src.shape[1] != groups * inputs:
        raise bad_value("src, weights", f"shapes {src.shape} and {weights.shape} do not fit")
    oh, ow = window.moves.out_size(src.shape[2:], (kh, kw), "weights")
    taps = window.moves.taps(src, (kh, kw), fill=zero_point).reshape(len(src), groups, inputs, oh, ow, kh, kw)
    order = (1, 0, 3, 4, 5, 6, 2) if channels_last else (1, 0, 3, 4, 2, 5, 6)
    return taps.transpose(order).reshape(groups, len(src) * oh * ow, kh * kw * inputs)


def weights_in_order(x: ArrayLike, order: str) -> NDArray[Any]:
    """Give weights as they are: of an inner product, of filters, or of groups of filters.

    Raises
    ------
    TypeError, ValueError
        Other dtypes or shapes than the systems with this order have.
    """
    is_conv = not ORDERS[order].channels_last
    w = check.array(x, "weights", ["int8", "uint8"] if is_conv else ["int8"])
    if w.ndim not in ((4, 5) if is_conv else (2, 4, 5)):
        shapes = "(O, C, KH, KW)" if is_conv else "(OC, IC), (O, C, KH, KW)"
        raise bad_value("weights", f"expected shape {shapes} or (G, O, C, KH, KW), got {w.shape}")
    return w

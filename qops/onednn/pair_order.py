"""Rows of codes as fbgemm and onnxruntime form pairs of them: the channels of one tap after the other, with padding."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import shown
from qops.onednn.dot import S8
from qops.onednn.window import DENSE, Window

__all__ = ["TAPS", "padded_rows", "rows_of"]

TAPS = ("channels of a tap", "taps, channels")
"""The orders of codes under a window: that of oneDNN, and that of fbgemm and onnxruntime."""


def rows_of(weights: S8) -> S8:
    """Give weights (OC, IC), (O, C, KH, KW) or (G, O, C, KH, KW) as a row of taps and channels for each output.

    Examples
    --------
    >>> from qops.onednn.pair_order import rows_of
    >>> rows_of(np.array([[[[1, 2]], [[3, 4]]]], np.int8))
    array([[1, 3, 2, 4]], dtype=int8)
    """
    if weights.ndim == 2:
        return weights
    inputs, kh, kw = weights.shape[-3:]
    return np.moveaxis(weights, -3, -1).reshape(-1, kh * kw * inputs)


def padded_rows(src: NDArray[Any], weights: S8, window: Window, zero_point: int) -> NDArray[Any]:
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
    return taps.transpose(1, 0, 3, 4, 5, 6, 2).reshape(groups, len(src) * oh * ow, kh * kw * inputs)

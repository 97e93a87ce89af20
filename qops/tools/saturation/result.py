"""The result of a layer with the sums that a machine has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops.models.lanes.sums import Sums
from qops.tools.saturation.seen import Found

__all__ = ["result_there"]


def result_there(op: Any, sums: Sums, found: Found, x: NDArray[Any], y: NDArray[Any], requantize: Any) -> Any:
    """Give the result of a layer with the sums that the machine has.

    Parameters
    ----------
    op : Prepared
        The layer.
    sums : Sums
        What it adds.
    found : Found
        Its sums, and what each loses.
    x, y : ndarray
        Its data, and its exact result.
    requantize : Requantize or None
        What takes its sums to codes.

    Returns
    -------
    ndarray or None
        None if it is not known how the layer goes on from its sums.
    """
    if not found.seen.wrong:
        return y
    last = sums.last or not sums.is_convolution
    lost, acc = (sums.placed(part, y, last) for part in (found.lost, found.acc))
    moved = ((acc - lost + 2**31) & (2**32 - 1)) - 2**31
    if requantize is not None:
        made = requantize(moved.astype(np.int32) if sums.x_type != "s16" else acc - lost).astype(y.dtype)
    elif y.dtype == np.int32:
        made = moved.astype(np.int32)
    elif isinstance(op, onnx.MatMulIntegerToFloat | onnx.DynamicQuantizeMatMul | onnx.QGemm):
        made = _floats(op, moved, x)
    else:
        return None
    return np.where(lost != 0, made, y)


def _floats(op: Any, acc: NDArray[np.int64], x: NDArray[Any]) -> NDArray[np.float32]:
    factor = np.asarray(op.factor, np.float32)
    if isinstance(op, onnx.DynamicQuantizeMatMul):
        factor = np.float32(onnx.dynamic_quantize_linear(x, runtime="ort").y_scale) * factor
    made = acc.astype(np.float32) * factor
    return made if isinstance(op, onnx.QGemm) or op.bias is None else made + np.asarray(op.bias, np.float32)

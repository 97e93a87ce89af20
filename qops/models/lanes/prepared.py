"""What prepared layers of ONNX and TFLite multiply and add."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from qops import onnx, tflite
from qops.models.lanes.sums import NO_MOVES, Sums, convolution, matrix, type_of

__all__ = ["MADE", "of_prepared"]


def _of_onnx_convolution(op: Any, x_type: str) -> Sums:
    attributes = {name: getattr(op, name) for name in NO_MOVES}
    zeros = op.x_zero_point, op.w_zero_point
    found = convolution(op, np.asarray(op.w), x_type, zeros, getattr(op, "B", None), attributes, False)
    return replace(found, is_weights_first=isinstance(op, onnx.ConvInteger))


def _of_onnx_matrix(op: Any, x_type: str) -> Sums:
    is_gemm = isinstance(op, onnx.QGemm)
    b = np.asarray(op.b if isinstance(op, onnx.QLinearMatMul) else op.B)
    b = b[:, np.newaxis] if b.ndim == 1 else b
    if b.ndim > 2 or (is_gemm and op.transA):
        raise ValueError("a batch of weights, or data that are transposed, are not read")
    w = b if is_gemm and op.transB else b.T
    bias = op.C if is_gemm else None
    found = matrix(op, w, x_type, op.a_zero_point, op.b_zero_point, bias)
    return replace(found, any_zero=isinstance(op, onnx.DynamicQuantizeMatMul))


def _of_tflite(op: Any, x_type: str) -> Sums:
    w, zeros = np.asarray(op.w), (op.x_zero_point, op.w_zero_point)
    bias, x_type = op.bias, type_of(op.dtype)
    is_wide = x_type == "s16" and bias is not None and np.asarray(bias).dtype.itemsize == 8
    if w.ndim == 2:
        return replace(matrix(op, w, x_type, *zeros, bias), is_wide=is_wide)
    depthwise = isinstance(op, tflite.DepthwiseConv2D)
    filters = w[0].transpose(2, 0, 1)[:, np.newaxis] if depthwise else w.transpose(0, 3, 1, 2)
    group = w.shape[3] // op.depth_multiplier if depthwise else op.groups
    auto_pad = {"SAME": "SAME_UPPER", "VALID": "VALID"}[op.padding]
    moves = {**NO_MOVES, "auto_pad": auto_pad, "strides": op.stride, "dilations": op.dilation, "group": group}
    return replace(convolution(op, filters, x_type, zeros, bias, moves, True), is_wide=is_wide)


MADE: dict[type, Callable[[Any, str], Sums]] = {
    onnx.QLinearConv: _of_onnx_convolution,
    onnx.ConvInteger: _of_onnx_convolution,
    onnx.QLinearMatMul: _of_onnx_matrix,
    onnx.MatMulInteger: _of_onnx_matrix,
    onnx.QGemm: _of_onnx_matrix,
    onnx.MatMulIntegerToFloat: _of_onnx_matrix,
    onnx.DynamicQuantizeMatMul: _of_onnx_matrix,
    tflite.Conv2D: _of_tflite,
    tflite.DepthwiseConv2D: _of_tflite,
    tflite.FullyConnected: _of_tflite,
}
"""Prepared layers, and what reads their sums. The second argument is the type of the data where the layer has none."""


def of_prepared(op: Any, x_type: str) -> Sums | None:
    """Give what a prepared layer adds.

    Parameters
    ----------
    op : Prepared
        A layer.
    x_type : str
        The type of its data, if the layer takes more than one.

    Returns
    -------
    Sums or None
        None for an op that is no layer of products with weights.

    Raises
    ------
    ValueError
        A form of the layer that is not read.
    """
    make = MADE.get(type(op))
    return None if make is None else make(op, x_type)

"""Input positions of ONNX's quantized operators: data, scale, zero point, bias."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.tensor import Tensor

__all__ = ["SPECS", "QuantizedInput", "Spec", "constant", "spec_of", "with_scales"]


class QuantizedInput(NamedTuple):
    """Places of a tensor of codes, its scale and its zero point among the inputs; the axis of scales of channels."""

    tensor: int
    scale: int
    zero_point: int
    axis: int | None = None


class Spec(NamedTuple):
    """A quantized operator.

    Attributes
    ----------
    of : tuple of QuantizedInput
        Its operands.
    y : tuple of int or None
        Where scale and zero point of the result stand.
    real : str
        The operator that it is in real numbers; "" if it has none.
    bias : int or None
        Where a bias stands whose scale is the product of those of both operands.
    """

    of: tuple[QuantizedInput, ...]
    y: tuple[int, int] | None = None
    real: str = ""
    bias: int | None = None


_BINARY = QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5)
SPECS = {
    "QuantizeLinear": Spec((), (1, 2)),
    "DequantizeLinear": Spec((QuantizedInput(0, 1, 2),)),
    "QLinearConv": Spec((QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, 0)), (6, 7), "Conv", 8),
    "QLinearMatMul": Spec((QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, -1)), (6, 7), "MatMul"),
    "QLinearAdd": Spec(_BINARY, (6, 7), "Add"),
    "QLinearMul": Spec(_BINARY, (6, 7), "Mul"),
    "QLinearAveragePool": Spec((QuantizedInput(0, 1, 2),), (3, 4), "AveragePool"),
    "QLinearGlobalAveragePool": Spec((QuantizedInput(0, 1, 2),), (3, 4), "GlobalAveragePool"),
    "QLinearSigmoid": Spec((QuantizedInput(0, 1, 2),), (3, 4), "Sigmoid"),
    "QLinearLeakyRelu": Spec((QuantizedInput(0, 1, 2),), (3, 4), "LeakyRelu"),
    "QLinearSoftmax": Spec((QuantizedInput(0, 1, 2),), (3, 4), "Softmax"),
    "QGemm": Spec((QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, -1)), (7, 8), "Gemm", 6),
    "MatMulIntegerToFloat": Spec((QuantizedInput(0, 2, 4), QuantizedInput(1, 3, 5, -1)), None, "MatMul"),
    "DynamicQuantizeMatMul": Spec((QuantizedInput(1, 2, 3, -1),)),
}
"""The operators whose inputs stand in fixed places."""


def spec_of(node: Node) -> Spec | None:
    """Give what a node is; None if it says nothing of scales.

    Parameters
    ----------
    node : Node

    Returns
    -------
    Spec or None
    """
    if node.kind == "QLinearConcat":
        count = (len(node.inputs) - 2) // 3
        return Spec(tuple(QuantizedInput(2 + 3 * i, 3 + 3 * i, 4 + 3 * i) for i in range(count)), (0, 1), "Concat")
    found = SPECS.get(node.kind)
    if node.kind == "DequantizeLinear":
        return Spec((QuantizedInput(0, 1, 2, node.get("axis", 1)),))
    if node.kind == "QGemm" and node.get("transB", 0):
        return SPECS["QGemm"]._replace(of=(QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5, 0)))
    return found


def constant(tensors: dict[str, Tensor], node: Node, place: int) -> NDArray[Any] | None:
    """Give the constant that an input is; None if it is none, or is left out.

    Parameters
    ----------
    tensors : dict of str to Tensor
    node : Node
    place : int
        Among the node's inputs.

    Returns
    -------
    ndarray or None
    """
    name = node.inputs[place] if place < len(node.inputs) else ""
    return tensors[name].data if name in tensors else None


def with_scales(tensor: Tensor, scale: Any, zero: Any, axis: int | None) -> Tensor:
    """Give a tensor with scale and zero point, if they are such as a `Tensor` has.

    Parameters
    ----------
    tensor : Tensor
    scale, zero : ndarray or None
        Constants of the file; a zero point may be left out.
    axis : int or None
        The axis of scales of channels.

    Returns
    -------
    Tensor
        The same one, if it has a scale already, or if there is none that fits.
    """
    if tensor.scale is not None or scale is None or scale.dtype.kind != "f":
        return tensor
    each = np.asarray(scale, np.float32).reshape(() if scale.size == 1 else scale.shape)
    zeros = np.zeros(each.shape, np.int64) if zero is None else zero.astype(np.int64)
    zeros = zeros.reshape(()) if zeros.size == 1 else zeros
    if each.ndim == 0 and zeros.ndim == 0:
        return replace(tensor, scale=each, zero_point=zeros)
    rank = len(tensor.shape)
    if axis is None or each.ndim > 1 or zeros.ndim > 1 or not -rank <= axis < rank:
        return tensor
    sizes = {each.size, zeros.size} - {1}
    if sizes != {tensor.shape[axis]}:
        return tensor
    count = (tensor.shape[axis] or 0,)
    each, zeros = np.broadcast_to(each, count).copy(), np.broadcast_to(zeros, count).copy()
    return replace(tensor, scale=each, zero_point=zeros, axis=axis % rank)

"""Input positions of ONNX's quantized operators: data, scale, zero point, bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.tensor import Tensor

__all__ = ["QuantizedInput", "Spec", "constant", "with_scales"]


class QuantizedInput(NamedTuple):
    """Places of a tensor of codes, its scale and its zero point among the inputs; the axis of scales of channels."""

    tensor: int
    scale: int | None
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
    addend : int or None
        Where a bias of float32 stands, which is added to a result of float32.
    """

    of: tuple[QuantizedInput, ...]
    y: tuple[int, int] | None = None
    real: str = ""
    bias: int | None = None
    addend: int | None = None

    def placed(self, operands: Sequence[str], numbers: Sequence[str], bias: str) -> tuple[str, ...]:
        """Give the inputs of a node in their order.

        Parameters
        ----------
        operands : sequence of str
            The names of each operand, its scale and its zero point.
        numbers : sequence of str
            Those of scale and zero point of the result; empty if it has none.
        bias : str
            That of the bias; "" if there is none.

        Returns
        -------
        tuple of str
        """
        places = [place for one in self.of for place in (one.tensor, one.scale, one.zero_point) if place is not None]
        found = dict(zip(places, operands, strict=True)) | dict(zip(self.y or (), numbers, strict=False))
        if self.bias is not None and (bias or self.bias == len(operands)):
            found[self.bias] = bias
        return tuple(found[place] for place in sorted(found))

    @property
    def has_weights(self) -> bool:
        """Whether the second operand holds weights, whose scales may be one for each output channel."""
        return len(self.of) > 1 and self.of[1].axis is not None

    @property
    def channels(self) -> tuple[int, ...]:
        """Which inputs may hold one number for each output channel, of an operator of data and weights."""
        weights = self.of[1]
        places = weights.scale, weights.zero_point, self.bias, self.addend
        return tuple(place for place in places if place is not None)


def constant(tensors: dict[str, Tensor], node: Node, place: int | None) -> NDArray[Any] | None:
    """Give the constant that an input is; None if it is none, or is left out.

    Parameters
    ----------
    tensors : dict of str to Tensor
    node : Node
    place : int or None
        Among the node's inputs; None if it has no such input.

    Returns
    -------
    ndarray or None
    """
    name = "" if place is None or place >= len(node.inputs) else node.inputs[place]
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
        `tensor` itself if it has a scale already, or if there is none that fits.
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

"""What operators that are cut down to one element share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from numpy.typing import NDArray

from qops.models.cut import Index
from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator

__all__ = ["CutOperator", "arrays_of", "of_channel", "with_data"]


class CutOperator(NamedTuple):
    """A smaller operator, what it reads, and where in its result the element is."""

    operator: Operator
    inputs: list[NDArray[Any] | None]
    shapes: list[Index]
    place: Index
    how: str


def with_data(tensor: Tensor | None, data: NDArray[Any], channel: int | None = None) -> Tensor:
    """Give a constant with other data, and of its scales the one of a channel."""
    assert tensor is not None
    scale, zero, axis = tensor.scale, tensor.zero_point, tensor.axis
    if axis is not None and channel is not None and scale is not None and zero is not None:
        scale, zero, axis = scale[channel].reshape(()), zero[channel].reshape(()), None
    return replace(tensor, shape=data.shape, data=data, scale=scale, zero_point=zero, axis=axis)


def of_channel(operator: Operator, w: NDArray[Any], biases: Sequence[Any], o: int) -> list[Tensor | None]:
    """Give the inputs of a layer with some weights of one output channel, and its bias."""
    each = zip(operator.inputs[2:], biases, strict=True)
    rest = [None if t is None else with_data(t, bias[o : o + 1], o) for t, bias in each]
    return [operator.inputs[0], with_data(operator.inputs[1], w, o), *rest]


def arrays_of(operator: Operator, x: NDArray[Any]) -> list[NDArray[Any] | None]:
    """Give `x` and the constants."""
    return [x, *(None if t is None else t.data for t in operator.inputs[1:])]

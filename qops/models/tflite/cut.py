"""What operators that are cut down to one element share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator

__all__ = ["Cut", "Index", "arrays_of", "needed", "of_channel", "sized", "with_data"]


Index = tuple[int, ...]


class Cut(NamedTuple):
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


def needed(x: NDArray[Any], x_zero: int, w: NDArray[Any], w_zero: int) -> list[NDArray[np.intp]]:
    """Give, of each axis, the places at which not all products are 0; one at least."""
    counts = (x != x_zero) & (w != w_zero)
    found = []
    for axis in range(x.ndim):
        some = np.flatnonzero(counts.any(tuple(i for i in range(x.ndim) if i != axis)))
        found.append(some if some.size else np.array([0]))
    return found


def sized(what: str, before: Index, after: Index) -> str:
    """Give in words what one element is made of, of the shapes before and after the cut."""
    had, has = (" x ".join(map(str, shape)) for shape in (before, after))
    return f"one {what}: of {had} inputs those {has} remain whose products with the weights are not all 0"


def of_channel(operator: Operator, w: NDArray[Any], biases: Sequence[Any], o: int) -> list[Tensor | None]:
    """Give the inputs of a layer with some weights of one output channel, and its bias."""
    each = zip(operator.inputs[2:], biases, strict=True)
    rest = [None if t is None else with_data(t, bias[o : o + 1], o) for t, bias in each]
    return [operator.inputs[0], with_data(operator.inputs[1], w, o), *rest]


def arrays_of(operator: Operator, x: NDArray[Any]) -> list[NDArray[Any] | None]:
    """Give `x` and the constants."""
    return [x, *(None if t is None else t.data for t in operator.inputs[1:])]

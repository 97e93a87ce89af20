"""What ports get wrong in the operands of a layer of sums: filters mirrored or transposed, bytes of the other sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models import Layer
from qops.tools.debug.places import channel_axis

__all__ = ["Fault", "data_faults", "weight_faults"]

_IMAGE = 4  # axes of a batch of images, or of the weights of a convolution


class Fault(NamedTuple):
    """One fault in words, the sums that it makes, and the numbers of `qops.explain` that it changes."""

    words: str
    sums: NDArray[np.int64]
    numbers: dict[str, Any]


def weight_faults(layer: Layer, x: NDArray[Any]) -> Iterator[Fault]:
    """Give faults of the weights, with the sums that they make; see `faults_of`."""
    assert layer.sums is not None
    w = layer.weights
    if w is None:
        return
    for words, other in (*_moved_weights(layer, w), *_other_codes(layer, w)):
        if other.shape == w.shape and not np.array_equal(other, w):
            yield Fault(words, layer.sums(x, layer.bias, other), {})


def _moved_weights(layer: Layer, w: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give weights in other orders."""
    channel = layer.channel % w.ndim
    yield "weights with the output channels in reverse order", np.flip(w, channel)
    if w.ndim == 2:
        inner = 1 - channel
        yield "weights with the inputs in reverse order", np.flip(w, inner)
        yield "weights transposed", w.T
        yield "weights stored in the other order: rows read as columns", w.T.reshape(w.shape)
        return
    if w.ndim != _IMAGE:
        return
    is_nchw = channel_axis(layer) == 1
    rows, columns, inner = (2, 3, 1) if is_nchw else (1, 2, 0 if channel == 3 else 3)
    yield "the filter mirrored in rows and columns, as a true convolution", np.flip(w, (rows, columns))
    yield "the filter mirrored from top to bottom", np.flip(w, rows)
    yield "the filter mirrored from left to right", np.flip(w, columns)
    yield "the filter transposed: rows and columns exchanged", np.swapaxes(w, rows, columns)
    yield "weights with the input channels in reverse order", np.flip(w, inner)
    for order in ((0, 3, 1, 2), (0, 2, 3, 1), (1, 2, 3, 0), (3, 0, 1, 2), (2, 3, 1, 0)):
        stored = np.transpose(w, order)
        yield f"weights stored with the axes in the order {list(order)}", stored.reshape(w.shape)


def _other_codes(layer: Layer, w: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Give weights with other codes in the same places."""
    zero, wide = layer.w_zero_point, w.astype(np.int64)
    if w.dtype.itemsize == 1:
        other = np.uint8 if w.dtype == np.int8 else np.int8
        yield f"bytes of the weights read as {np.dtype(other)}", w.view(other).astype(np.int64)
    yield "weights of the other sign", 2 * zero - wide
    for number in dict.fromkeys((0, -zero, zero - 128, zero + 128)):
        if number != zero:
            yield f"a wrong zero point of the weights: {number} instead of {zero}", wide + (zero - number)


def data_faults(layer: Layer, x: NDArray[Any]) -> Iterator[Fault]:
    """Give faults of the data that a layer reads, with the sums that they make; see `faults_of`."""
    assert layer.sums is not None
    zero = layer.x_zero_point
    if x.dtype.itemsize == 1 and x.dtype.kind in "iu":
        other = np.uint8 if x.dtype == np.int8 else np.int8
        seen = x.view(other).astype(np.int64)
        yield Fault(f"bytes of the input read as {np.dtype(other)}", layer.sums(seen, layer.bias), {})
    for words, moved in _moved_data(layer, x):
        if moved.shape == x.shape and not np.array_equal(moved, x):
            yield Fault(words, layer.sums(moved, layer.bias), {})
    yield from _both_zero_points(layer, x, zero)


def _moved_data(layer: Layer, x: NDArray[Any]) -> Iterator[tuple[str, NDArray[Any]]]:
    if x.ndim == 2:
        yield "the input with its elements in reverse order", x[:, ::-1]
    if x.ndim != _IMAGE:
        return
    is_nchw = channel_axis(layer) == 1
    rows, columns, channels = (2, 3, 1) if is_nchw else (1, 2, 3)
    yield "the channels of the input in reverse order, as RGB and BGR", np.flip(x, channels)
    yield "the input upside down", np.flip(x, rows)
    yield "the input mirrored from left to right", np.flip(x, columns)
    yield "the input with rows and columns exchanged", np.swapaxes(x, rows, columns)
    for order, words in (((0, 3, 1, 2), "NCHW"), ((0, 2, 3, 1), "NHWC")):
        if is_nchw == (words == "NHWC"):
            yield f"the input read as if it were {words}", _reread(x, order)


def _reread(x: NDArray[Any], order: tuple[int, ...]) -> NDArray[Any]:
    """Give codes that were stored in one order of axes as a reader of another order sees them."""
    shape = tuple(x.shape[i] for i in order)
    back = np.argsort(order)
    return np.ascontiguousarray(x).reshape(shape).transpose(back)


def _both_zero_points(layer: Layer, x: NDArray[Any], zero: int) -> Iterator[Fault]:
    """Give zero points of data and weights that are wrong at once."""
    assert layer.sums is not None
    w, w_zero = layer.weights, layer.w_zero_point
    if not zero or not w_zero or w is None:
        return
    of: dict[str, Callable[[int], int]] = {"left out": lambda z: 0, "of the other sign": lambda z: -z}
    for words, number in of.items():
        seen, weights = x.astype(np.int64) + zero - number(zero), w.astype(np.int64) + w_zero - number(w_zero)
        padded = layer.sums(seen, layer.bias, weights)
        yield Fault(f"both zero points, of the input and of the weights, {words}", padded, {})

"""One operator of a .tflite file as a model of its own: whole, or cut down to what makes one element of its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Alone
from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator
from qops.models.tflite.real import PADDINGS
from qops.models.tflite.writer import tflite_bytes
from qops.tflite.window import Moves

__all__ = ["alone"]

Index = tuple[int, ...]
_DENSE = {"StrideH": 1, "StrideW": 1, "Padding": 1, "DilationHFactor": 1, "DilationWFactor": 1}
"""Options of a window that is as large as its image."""


class Cut(NamedTuple):
    """A smaller operator, what it reads, and where in its result the element is."""

    operator: Operator
    inputs: list[NDArray[Any] | None]
    shapes: list[Index]
    place: Index
    how: str


def alone(
    operator: Operator,
    reads: Sequence[str],
    inputs: Sequence[NDArray[Any]],
    outputs: Sequence[NDArray[Any]],
    index: Index | None = None,
) -> Alone | None:
    """Give a model of one operator.

    Parameters
    ----------
    operator : Operator
        As the file has it.
    reads : sequence of str
        The names of a call's arguments.
    inputs, outputs : sequence of ndarray
        What a call takes and gives.
    index : tuple of int, optional
        An element of the first output: the model is then cut down to what makes it.

    Returns
    -------
    Alone or None
        None if no smaller operator makes this element.
    """
    read = dict(zip(reads, inputs, strict=True))
    given = [None if t is None else read.get(t.name, t.data) for t in operator.inputs]
    if index is None:
        return _model(reads, Cut(operator, given, [y.shape for y in outputs], (), ""))
    if operator.kind not in _CUTS:
        return None
    cut = _CUTS[operator.kind](operator, given, index)
    return None if cut is None else _model(reads, cut)


def _model(reads: Sequence[str], cut: Cut) -> Alone:
    """Write a model; tensors have the shapes that the arrays have."""
    operator = cut.operator
    each = list(zip(operator.inputs, cut.inputs, strict=True))
    inputs = [t if t is None or x is None else replace(t, shape=x.shape) for t, x in each]
    outputs = [replace(t, shape=shape) for t, shape in zip(operator.outputs, cut.shapes, strict=True)]
    tensors = {t.name: t for t in (*inputs, *outputs, *operator.intermediates) if t is not None}
    own = replace(operator, inputs=[None if t is None else tensors[t.name] for t in inputs], outputs=outputs)
    given = {t.name: x for t, x in each if t is not None and x is not None and t.name in reads}
    file = partial(tflite_bytes, list(tensors.values()), [own], [tensors[name] for name in given], outputs)
    return Alone(file, ".tflite", given, cut.place, cut.how)


def _with(tensor: Tensor | None, data: NDArray[Any], channel: int | None = None) -> Tensor:
    """Give a constant with other data, and of its scales the one of a channel."""
    assert tensor is not None
    scale, zero, axis = tensor.scale, tensor.zero_point, tensor.axis
    if axis is not None and channel is not None and scale is not None and zero is not None:
        scale, zero, axis = scale[channel].reshape(()), zero[channel].reshape(()), None
    return replace(tensor, shape=data.shape, data=data, scale=scale, zero_point=zero, axis=axis)


def _needed(x: NDArray[Any], x_zero: int, w: NDArray[Any], w_zero: int) -> list[NDArray[np.intp]]:
    """Give, of each axis, the places at which not all products are 0; one at least."""
    counts = (x != x_zero) & (w != w_zero)
    found = []
    for axis in range(x.ndim):
        some = np.flatnonzero(counts.any(tuple(i for i in range(x.ndim) if i != axis)))
        found.append(some if some.size else np.array([0]))
    return found


def _zero(tensor: Tensor | None) -> int:
    return 0 if tensor is None or tensor.zero_point is None else int(tensor.zero_point.reshape(-1)[0])


def _taps(operator: Operator, x: NDArray[Any], size: tuple[int, int], index: Index) -> NDArray[Any]:
    """Give the pixels under one window, (KH, KW, C); padding is real 0."""
    o = operator.options
    dilation = o.get("DilationHFactor", 1), o.get("DilationWFactor", 1)
    stride = o["StrideH"], o["StrideW"]
    pads = Moves(stride, dilation, PADDINGS[o["Padding"]]).over(x.shape, size).padding
    zero = _zero(operator.inputs[0])
    rows, columns = (index[1 + i] * stride[i] - pads[i][0] + np.arange(size[i]) * dilation[i] for i in range(2))
    inside = ((rows >= 0) & (rows < x.shape[1]))[:, None] & ((columns >= 0) & (columns < x.shape[2]))
    seen = x[index[0], np.clip(rows, 0, x.shape[1] - 1)[:, None], np.clip(columns, 0, x.shape[2] - 1)]
    return np.where(inside[..., None], seen, np.asarray(zero, x.dtype))


def _sized(what: str, before: Index, after: Index) -> str:
    had, has = (" x ".join(map(str, shape)) for shape in (before, after))
    return f"one {what}: of {had} inputs those {has} remain whose products with the weights are not all 0"


def _convolution(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """One filter on the pixels under it, VALID."""
    x, w = given[:2]
    deep, o = operator.kind == "DEPTHWISE_CONV_2D", index[3]
    filters = w[0, :, :, o, None] if deep else w[o]
    seen = _taps(operator, x, filters.shape[:2], index)
    outputs = w.shape[3] if deep else len(w)
    first = o // (outputs // (x.shape[3] // filters.shape[2])) * filters.shape[2]
    seen = seen[..., first : first + filters.shape[2]]
    kept = np.ix_(*_needed(seen, _zero(operator.inputs[0]), filters, _zero(operator.inputs[1])))
    image, small = seen[kept][None], filters[kept][None]
    options = {**operator.options, **_DENSE, **({"DepthMultiplier": 1} if deep else {})}
    how = _sized("output channel at one place", x.shape[1:], image.shape[1:])
    made = replace(operator, inputs=_of_channel(operator, small, given[2:], o), options=options)
    return Cut(made, _arrays(made, image), [(1, 1, 1, 1)], (0, 0, 0, 0), how)


def _connected(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """One row of weights on one row of data."""
    x, w, o = given[0], given[1], index[-1]
    keeps = operator.options.get("KeepNumDims", False)
    row = x[index[:-1]] if keeps else x.reshape(-1, w.shape[1])[index[0]]
    (kept,) = _needed(row, _zero(operator.inputs[0]), w[o], _zero(operator.inputs[1]))
    made = replace(operator, inputs=_of_channel(operator, w[o, kept][None], given[2:], o))
    how = _sized("output of one row", row.shape, kept.shape)
    return Cut(made, _arrays(made, row[kept][None]), [(1, 1)], (0, 0), how)


def _of_channel(operator: Operator, w: NDArray[Any], biases: Sequence[Any], o: int) -> list[Tensor | None]:
    """Give the inputs of a layer with some weights of one output channel, and its bias."""
    each = zip(operator.inputs[2:], biases, strict=True)
    rest = [None if t is None else _with(t, bias[o : o + 1], o) for t, bias in each]
    return [operator.inputs[0], _with(operator.inputs[1], w, o), *rest]


def _arrays(operator: Operator, x: NDArray[Any]) -> list[NDArray[Any] | None]:
    """Give `x` and the constants."""
    return [x, *(None if t is None else t.data for t in operator.inputs[1:])]


def _pooled(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """The pixels of a window that are inside of the image."""
    (x,), o = given, operator.options
    stride, size = (o["StrideH"], o["StrideW"]), (o["FilterHeight"], o["FilterWidth"])
    pads = Moves(stride, (1, 1), PADDINGS[o["Padding"]]).over(x.shape, size).padding
    starts = [index[1 + i] * stride[i] - pads[i][0] for i in range(2)]
    rows, columns = (slice(max(s, 0), s + k) for s, k in zip(starts, size, strict=True))
    image = x[index[0], rows, columns, index[3], None][None]
    fits = {"FilterHeight": image.shape[1], "FilterWidth": image.shape[2], "StrideH": 1, "StrideW": 1, "Padding": 1}
    how = f"one channel of one window, {image.shape[1]} x {image.shape[2]} codes"
    return Cut(replace(operator, options={**o, **fits}), [image], [(1, 1, 1, 1)], (0, 0, 0, 0), how)


def _elementwise(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """One element of each operand."""
    shape = np.broadcast_shapes(*(x.shape for x in given))
    one = [np.broadcast_to(x, shape)[index].reshape(1) for x in given]
    tensors = [t if t is None or t.data is None else _with(t, x) for t, x in zip(operator.inputs, one, strict=True)]
    return Cut(replace(operator, inputs=tensors), list(one), [(1,)], (0,), "one element")


def _row(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    (x,) = given
    return Cut(operator, [x[index[:-1]][None]], [(1, x.shape[-1])], (0, index[-1]), f"one row of {x.shape[-1]} codes")


def _transposed_convolution(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """TRANSPOSE_CONV: the pixels that an element is made of, with their weights, as the channels of one pixel."""
    size, w, x = given[:3]
    o, (height, width) = index[3], w.shape[1:3]
    stride = operator.options["StrideH"], operator.options["StrideW"]
    pads = _pads_of(operator, [int(n) for n in np.ravel(size)[1:3]], stride, (height, width))
    pixels, filters = [], []
    for i, j in np.ndindex(height, width):
        (row, above), (column, before) = (divmod(index[1 + n] + pads[n] - k, stride[n]) for n, k in ((0, i), (1, j)))
        if not above and not before and 0 <= row < x.shape[1] and 0 <= column < x.shape[2]:
            pixels.append(x[index[0], row, column])
            filters.append(w[o, i, j])
    seen, taken = (np.concatenate(part) if part else np.zeros(1, w.dtype) for part in (pixels, filters))
    if not pixels:
        seen = np.full(1, _zero(operator.inputs[2]), x.dtype)
    (kept,) = _needed(seen, _zero(operator.inputs[2]), taken, _zero(operator.inputs[1]))
    image, small = seen[kept].reshape(1, 1, 1, -1), taken[kept].reshape(1, 1, 1, -1)
    options = {**operator.options, "StrideH": 1, "StrideW": 1, "Padding": 1}
    biases = zip(operator.inputs[3:], given[3:], strict=True)
    rest = [None if t is None else _with(t, bias[o : o + 1], o) for t, bias in biases]
    one = _with(operator.inputs[0], np.ones(4, np.int32))
    inputs = [one, _with(operator.inputs[1], small, o), operator.inputs[2], *rest]
    made = replace(operator, inputs=inputs, options=options)
    arrays = [one.data, small, image, *(None if t is None else t.data for t in rest)]
    how = f"one output channel at one place, its {image.size} products that are not 0 as channels of one pixel"
    return Cut(made, arrays, [(1, 1, 1, 1)], (0, 0, 0, 0), how)


def _pads_of(operator: Operator, result: list[int], stride: Any, kernel: Any) -> list[int]:
    """How many rows and columns of the full result are cut off in front."""
    if PADDINGS[operator.options["Padding"]] == "VALID":
        return [0, 0]
    counts = (-(-n // s) for n, s in zip(result, stride, strict=True))
    return [max(0, (c - 1) * s + k - n) // 2 for c, s, k, n in zip(counts, stride, kernel, result, strict=True)]


def _along_axes(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """MEAN, SUM and their like: the codes that make one element."""
    x, axes = given[0], given[1]
    taken = {int(axis) % x.ndim for axis in np.ravel(axes)}
    left = [axis for axis in range(x.ndim) if axis not in taken]
    keeps = operator.options.get("KeepDims", False)
    at = dict(zip(left, [index[axis] for axis in left] if keeps else index, strict=True))
    few = x[tuple(slice(at[axis], at[axis] + 1) if axis in at else slice(None) for axis in range(x.ndim))]
    shape = (1,) * len(index)
    return Cut(operator, [few, axes], [shape], (0,) * len(index), f"one element of {few.size} codes")


def _of_one_input(operator: Operator, given: Sequence[Any], index: Index) -> Cut:
    """CONCATENATION: one element of the input that it stands in."""
    axis, at = operator.options.get("Axis", 0) % given[0].ndim, list(index)
    ends = np.cumsum([x.shape[axis] for x in given])
    which = int(np.searchsorted(ends, at[axis], "right"))
    tensor, x = operator.inputs[which], given[which]
    at[axis] -= int(ends[which]) - x.shape[axis]
    one = x[tuple(slice(n, n + 1) for n in at)]
    held = tensor if tensor is None or tensor.data is None else _with(tensor, one)
    return Cut(replace(operator, inputs=[held]), [one], [one.shape], (0,) * one.ndim, "one element of one input")


def _matrices(operator: Operator, given: Sequence[Any], index: Index) -> Cut | None:
    """One row on one column."""
    a, b = given
    transposes = [bool(operator.options.get(name)) for name in ("AdjX", "AdjY")]
    rows, columns = (x.swapaxes(-1, -2) if transposed else x for x, transposed in zip(given, transposes, strict=True))
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    row = np.broadcast_to(rows, (*batch, *rows.shape[-2:]))[index[:-1]]
    column = np.broadcast_to(columns, (*batch, *columns.shape[-2:]))[index[:-2]][:, index[-1]]
    (kept,) = _needed(row, _zero(operator.inputs[0]), column, _zero(operator.inputs[1]))
    few = [row[kept][None], column[kept][:, None]]
    few = [x.T.copy() if transposed else x for x, transposed in zip(few, transposes, strict=True)]
    tensors = [t if t is None or t.data is None else _with(t, x) for t, x in zip(operator.inputs, few, strict=True)]
    how = _sized("output of one row", row.shape, kept.shape)
    return Cut(replace(operator, inputs=tensors), list(few), [(1, 1)], (0, 0), how)


_OF_ONE_CODE = (
    *("LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "ELU", "GELU", "EXP", "SQRT", "RSQRT", "ABS", "NEG"),
    *("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1", "QUANTIZE", "DEQUANTIZE"),
)
_OF_TWO_CODES = ("ADD", "SUB", "MUL", "SQUARED_DIFFERENCE", "MAXIMUM", "MINIMUM", "PRELU")
_CUTS: dict[str, Callable[[Operator, Sequence[Any], Index], Cut | None]] = {
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D"), _convolution),
    "FULLY_CONNECTED": _connected,
    **dict.fromkeys(("AVERAGE_POOL_2D", "MAX_POOL_2D"), _pooled),
    **dict.fromkeys((*_OF_ONE_CODE, *_OF_TWO_CODES), _elementwise),
    **dict.fromkeys(("SOFTMAX", "LOG_SOFTMAX", "L2_NORMALIZATION"), _row),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN"), _along_axes),
    **{"TRANSPOSE_CONV": _transposed_convolution, "CONCATENATION": _of_one_input, "BATCH_MATMUL": _matrices},
}
"""How an operator is cut down to one element; others are not."""

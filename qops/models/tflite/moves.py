"""Operators that move codes, or join tensors of them: most are the same for codes and for values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qops import tflite
from qops.models.code.places import c_of_joined, c_of_moves, placed, size_of
from qops.models.cut import Index
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Tensor, Values, zero_of
from qops.models.tflite.cut import CutOperator, with_data
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind, always
from qops.models.tflite.site import MOST, OperatorRunner, PlacedOperator, activated

__all__ = ["KINDS"]


Arrays = Sequence[Any]
Moved = tuple[NDArray[Any], ...]


def _integers(values: Any) -> list[int]:
    return [int(n) for n in np.ravel(values)]


def _reshape(op: Operator, given: Arrays) -> Moved:
    """The shape is the second input, or stands in the options; the batch may be larger than the file's."""
    x = given[0]
    wanted = _integers(given[1] if len(given) > 1 and given[1] is not None else op.options.get("NewShape", []))
    announced = [n or 0 for n in (op.inputs[0].shape if op.inputs[0] is not None else ())]
    if announced and wanted and announced[0] == wanted[0] and x.shape[:1] != (wanted[0],):
        wanted[0] = x.shape[0]
    return (x.reshape(wanted),)


def _fixed_reshape(op: Operator) -> Callable[..., NDArray[Any]]:
    """RESHAPE to a constant shape."""
    x, shape = op.inputs[:2]
    assert x is not None
    assert shape is not None
    wanted = _integers(shape.data)
    follows = bool(x.shape and wanted and (x.shape[0] or 0) == wanted[0])

    def run(x: NDArray[Any]) -> NDArray[Any]:
        if follows and x.shape[0] != wanted[0]:
            return x.reshape([x.shape[0], *wanted[1:]])
        return x.reshape(wanted)

    return run


def _squeeze(op: Operator, given: Arrays) -> Moved:
    axes = tuple(_integers(op.options.get("SqueezeDims", [])))
    return (np.squeeze(given[0], axes or None),)


def _expand_dims(op: Operator, given: Arrays) -> Moved:
    return (np.expand_dims(given[0], _integers(given[1])[0]),)


def _transpose(op: Operator, given: Arrays) -> Moved:
    return (np.ascontiguousarray(np.transpose(given[0], _integers(given[1]))),)


def _pack(op: Operator, given: Arrays) -> Moved:
    return (np.stack(list(given), op.options.get("Axis", 0)),)


def _unpack(op: Operator, given: Arrays) -> Moved:
    return tuple(np.asarray(part, order="C") for part in np.moveaxis(given[0], op.options.get("Axis", 0), 0))


def _split(op: Operator, given: Arrays) -> Moved:
    axis, x = given
    return tuple(np.ascontiguousarray(part) for part in np.split(x, op.options["NumSplits"], _integers(axis)[0]))


def _split_v(op: Operator, given: Arrays) -> Moved:
    x, sizes, axis = given
    counts = _integers(sizes)
    rest = x.shape[_integers(axis)[0]] - sum(n for n in counts if n >= 0)
    ends = np.cumsum([rest if n < 0 else n for n in counts])[:-1]
    return tuple(np.ascontiguousarray(part) for part in np.split(x, ends, _integers(axis)[0]))


def _slice(op: Operator, given: Arrays) -> Moved:
    x, begin, size = given
    ends = zip(_integers(begin), _integers(size), x.shape, strict=True)
    return (np.ascontiguousarray(x[tuple(slice(b, n if s < 0 else b + s) for b, s, n in ends)]),)


def _strided_slice(op: Operator, given: Arrays) -> Moved:
    """Masks say, a bit an axis, which ends are left out and which axes one index removes."""
    x, (begin, end, strides) = given[0], (_integers(part) for part in given[1:4])
    o = op.options
    if o.get("EllipsisMask") or o.get("NewAxisMask"):
        raise ValueError("STRIDED_SLICE with an ellipsis or a new axis is not read")
    where: list[Any] = []
    for i, (b, e, s) in enumerate(zip(begin, end, strides, strict=True)):
        if o.get("ShrinkAxisMask", 0) >> i & 1:
            where.append(b)
        else:
            first = None if o.get("BeginMask", 0) >> i & 1 else b
            last = None if o.get("EndMask", 0) >> i & 1 else _end(x.shape[i], first or 0, e, bool(o.get("Offset")))
            where.append(slice(first, last, s))
    return (np.asarray(x[tuple(where)], order="C"),)


def _end(size: int, begin: int, end: int, is_offset: bool) -> int:
    """Give where a slice ends: with the option ``offset``, so far behind its begin."""
    return end if not is_offset else end + (begin + size if begin < 0 else begin)


def _gather(op: Operator, given: Arrays) -> Moved:
    if op.options.get("BatchDims"):
        raise ValueError("GATHER with batch dimensions is not read")
    return (np.asarray(np.take(given[0], np.asarray(given[1]).astype(np.int64), op.options.get("Axis", 0))),)


def _space_to_depth(op: Operator, given: Arrays) -> Moved:
    x, b = given[0], op.options["BlockSize"]
    n, h, w, c = x.shape
    made = x.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return (np.ascontiguousarray(made.reshape(n, h // b, w // b, b * b * c)),)


def _depth_to_space(op: Operator, given: Arrays) -> Moved:
    x, b = given[0], op.options["BlockSize"]
    n, h, w, c = x.shape
    made = x.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    return (np.ascontiguousarray(made.reshape(n, h * b, w * b, c // (b * b))),)


def _mirror_pad(op: Operator, given: Arrays) -> Moved:
    mode: Literal["symmetric", "reflect"] = "symmetric" if op.options.get("Mode") else "reflect"
    return (np.pad(given[0], np.asarray(given[1], np.int64), mode=mode),)


def _make_concatenated(site: PlacedOperator) -> OperatorRunner:
    parts = range(len(site.operator.inputs))
    tensors = [*(site.tensor(i) for i in parts), site.outputs[0]]
    if all(t.scale is None and t.dtype == site.outputs[0].dtype for t in tensors) and not site.options.get(
        "FusedActivationFunction"
    ):
        return OperatorRunner(tuple(parts), lambda *arrays: np.concatenate(arrays, site.options["Axis"]))
    each = [site.x(i) for i in parts]
    scales, zeros = ([numbers[f"x_{word}"] for numbers in each] for word in ("scale", "zero_point"))
    how = {**site.y, **site.activation, "axis": site.options["Axis"]}
    for i in parts:
        how |= site.own(i)  # each has the type of the result
    op = tflite.Concatenation(**how, x_scale=scales, x_zero_point=zeros)
    op.shape_of([(0,) * len(site.tensor(i).shape) for i in parts])  # refuses before it runs
    return OperatorRunner(tuple(parts), lambda *arrays: op(arrays), prepared=op)


def _paddings(site: PlacedOperator) -> NDArray[Any]:
    pads = site.constant(1)
    if prod(n or 1 for n in site.outputs[0].shape) > MOST or np.abs(pads.astype(np.float64)).max(initial=0) > MOST:
        raise Missing("its result is too large")
    return pads


def _make_pad(site: PlacedOperator) -> OperatorRunner:
    x, pads = site.tensor(0), _paddings(site)
    zeros = {"x_zero_point": site.x()["x_zero_point"], "y_zero_point": site.y["y_zero_point"]}
    return OperatorRunner((0,), tflite.Pad(pads, **zeros, dtype=x.dtype, kernel=site.kernel))


def _make_pad_with_value(site: PlacedOperator) -> OperatorRunner:
    x, pads = site.tensor(0), _paddings(site)
    tensors = (x, site.tensor(2), site.outputs[0])
    if len({site.numbers("t", tensor)["t_zero_point"] for tensor in tensors}) > 1:
        raise Missing("its data, its value and its result have several zero points")
    return OperatorRunner((0,), tflite.PadV2(pads, int(site.constant(2).reshape(-1)[0]), **site.own()))


def _real_padded(op: Operator, given: Arrays) -> Values:
    x, pads, fill = (*given, 0.0)[:3]
    return np.pad(x, [tuple(map(int, row)) for row in pads], constant_values=float(np.ravel(fill)[0]))


def _real_concatenated(op: Operator, given: Arrays) -> Values:
    return activated(op, np.concatenate(list(given), op.options["Axis"]))


def _cut_concatenated(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    """CONCATENATION: one element of the input that it stands in."""
    axis, at = operator.options.get("Axis", 0) % given[0].ndim, list(index)
    ends = np.cumsum([x.shape[axis] for x in given])
    which = int(np.searchsorted(ends, at[axis], "right"))
    tensor, x = operator.inputs[which], given[which]
    at[axis] -= int(ends[which]) - x.shape[axis]
    one = x[tuple(slice(n, n + 1) for n in at)]
    held = tensor if tensor is None or tensor.data is None else with_data(tensor, one)
    return CutOperator(
        replace(operator, inputs=[held]), [one], [one.shape], (0,) * one.ndim, "one element of one input"
    )


def _scale_of(tensor: Tensor) -> float:
    return 1.0 if tensor.scale is None else float(tensor.scale)


def _c_of_concatenation(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """A copy, or of uint8 of other scales a table for each input."""
    tensors, y = [graph.tensors[name] for name in op.inputs], graph.tensors[op.outputs[0]]
    n, lines = made.name, ["    (void)input;"]
    constants: dict[str, Any] = {}
    for i, x in enumerate(tensors):
        if y.dtype == "uint8" and (x.scale, x.zero_point) != (y.scale, y.zero_point):
            every = np.arange(256, dtype=np.uint8)
            numbers: dict[str, Any] = {"x_scale": _scale_of(x), "x_zero_point": zero_of(x)}
            numbers |= {"y_scale": _scale_of(y), "y_zero_point": zero_of(y), "kernel": target.runtime}
            constants[f"table{i}"] = tflite.concatenation([every], axis=0, **numbers)
            lines.append(f"    if (input == {i})\n        return {n}_table{i}[x];")
    code = function(n, "int32_t x, int input", [*lines, "    return x;"])
    return made._replace(constants=constants, code=code, arguments=("x", "input"))


def _c_of_pad(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Make PAD or PADV2: the padding is the code of real 0, or the given one."""
    integers, shape = op.prepared.integers, size_of(graph, op.reads[0])
    places = np.pad(np.arange(prod(shape)).reshape(shape), integers["paddings"], constant_values=-1)
    return placed(made._replace(constants=integers), (places,))


KINDS = {
    "RESHAPE": Kind(
        moves=_reshape, code=c_of_moves, schema="ReshapeOptions", version=1, by_image=always, fixed=_fixed_reshape
    ),
    "SQUEEZE": Kind(moves=_squeeze, code=c_of_moves, schema="SqueezeOptions"),
    "EXPAND_DIMS": Kind(moves=_expand_dims, code=c_of_moves, version=1),
    "TRANSPOSE": Kind(moves=_transpose, code=c_of_moves),
    "PACK": Kind(moves=_pack, code=c_of_joined, schema="PackOptions"),
    "UNPACK": Kind(moves=_unpack, code=c_of_moves, schema="UnpackOptions"),
    "SPLIT": Kind(moves=_split, code=c_of_moves, schema="SplitOptions"),
    "SPLIT_V": Kind(moves=_split_v, code=c_of_moves, schema="SplitVOptions"),
    "SLICE": Kind(moves=_slice, code=c_of_moves),
    "STRIDED_SLICE": Kind(moves=_strided_slice, code=c_of_moves, schema="StridedSliceOptions"),
    "GATHER": Kind(moves=_gather, code=c_of_moves, schema="GatherOptions"),
    "SPACE_TO_DEPTH": Kind(moves=_space_to_depth, code=c_of_moves, schema="SpaceToDepthOptions"),
    "DEPTH_TO_SPACE": Kind(moves=_depth_to_space, code=c_of_moves, schema="DepthToSpaceOptions"),
    "MIRROR_PAD": Kind(moves=_mirror_pad, code=c_of_moves, schema="MirrorPadOptions"),
    "CONCATENATION": Kind(
        make=_make_concatenated,
        real=_real_concatenated,
        cut=_cut_concatenated,
        code=_c_of_concatenation,
        schema="ConcatenationOptions",
    ),
    "PAD": Kind(make=_make_pad, real=_real_padded, code=_c_of_pad),
    "PADV2": Kind(make=_make_pad_with_value, real=_real_padded, code=_c_of_pad),
}

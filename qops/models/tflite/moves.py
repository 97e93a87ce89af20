"""Operators that only move codes: they are the same for codes and for values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from qops.models.code.places import c_of_moves
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind

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
    return tuple(np.ascontiguousarray(part) for part in np.moveaxis(given[0], op.options.get("Axis", 0), 0))


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
            where.append(slice(first, None if o.get("EndMask", 0) >> i & 1 else e, s))
    return (np.ascontiguousarray(x[tuple(where)]),)


def _gather(op: Operator, given: Arrays) -> Moved:
    if op.options.get("BatchDims"):
        raise ValueError("GATHER with batch dimensions is not read")
    return (np.take(given[0], np.asarray(given[1]).astype(np.int64), op.options.get("Axis", 0)),)


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


KINDS = {
    "RESHAPE": Kind(moves=_reshape, code=c_of_moves, schema="ReshapeOptions", version=1),
    "SQUEEZE": Kind(moves=_squeeze, code=c_of_moves, schema="SqueezeOptions"),
    "EXPAND_DIMS": Kind(moves=_expand_dims, code=c_of_moves, version=1),
    "TRANSPOSE": Kind(moves=_transpose, code=c_of_moves),
    "PACK": Kind(moves=_pack, code=c_of_moves, schema="PackOptions"),
    "UNPACK": Kind(moves=_unpack, code=c_of_moves, schema="UnpackOptions"),
    "SPLIT": Kind(moves=_split, code=c_of_moves, schema="SplitOptions"),
    "SPLIT_V": Kind(moves=_split_v, code=c_of_moves, schema="SplitVOptions"),
    "SLICE": Kind(moves=_slice, code=c_of_moves),
    "STRIDED_SLICE": Kind(moves=_strided_slice, code=c_of_moves, schema="StridedSliceOptions"),
    "GATHER": Kind(moves=_gather, code=c_of_moves, schema="GatherOptions"),
    "SPACE_TO_DEPTH": Kind(moves=_space_to_depth, code=c_of_moves, schema="SpaceToDepthOptions"),
    "DEPTH_TO_SPACE": Kind(moves=_depth_to_space, code=c_of_moves, schema="DepthToSpaceOptions"),
    "MIRROR_PAD": Kind(moves=_mirror_pad, code=c_of_moves, schema="MirrorPadOptions"),
}

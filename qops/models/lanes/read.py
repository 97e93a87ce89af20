"""What the layers of a graph add, as the runtime sees their codes; and what its lanes may lose."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from qops import codes
from qops.models.kinds import kind_named
from qops.models.lanes.prepared import of_prepared
from qops.models.lanes.route import route
from qops.models.lanes.runtimes import place_of
from qops.models.lanes.sums import Sums, type_of
from qops.models.lanes.worst import worst
from qops.models.op import Op
from qops.models.tensor import Tensor
from qops.onnx.runtimes import COLUMNS
from qops.tflite.kernels import KERNELS

__all__ = ["LayersRead", "counted", "hazards_of", "layers_of"]

_PRODUCTS = re.compile(r"MatMul|Gemm|Conv|CONV|FULLY_CONNECTED|BATCH_MATMUL|LSTM|SVDF|Attention")
_CODES = ("uint8", "int8", "int16")


class LayersRead(NamedTuple):
    """The layers of a graph that multiply codes.

    Attributes
    ----------
    sums : dict of str to Sums
        What each layer adds, by its name.
    unread : list of str
        In words, which layers are not read, and why.
    """

    sums: dict[str, Sums]
    unread: list[str]


def layers_of(ops: tuple[Op, ...], tensors: Mapping[str, Tensor], runtime: str) -> LayersRead:
    """Read the sums of each layer.

    Parameters
    ----------
    ops : tuple of Op
        The ops of a graph.
    tensors : dict of str to Tensor
        Its tensors.
    runtime : str
        The runtime of the graph: onnxruntime on x86 makes uint8 of int8 codes first.

    Returns
    -------
    LayersRead
    """
    found = LayersRead({}, [])
    for op in ops:
        types = [tensors[name].dtype for name in op.inputs if name in tensors]
        if not _PRODUCTS.search(op.kind) or not any(name in _CODES for name in types):
            continue
        x = tensors[op.reads[0]] if op.reads else None
        try:
            made = None if x is None or len(op.reads) - (op.with_zero is not None) != 1 else _sums(op, x, runtime)
            made = made and replace(made, x_ends=_clipped(made, ops, tensors, op.reads[0]))
        except ValueError as why:
            found.unread.append(f"{op.name} ({op.kind}): {why}")
            continue
        if made is None:
            why_not = "its weights are not constant, or qops has no sums of this operator"
            found.unread.append(f"{op.name} ({op.kind}): {why_not}")
        else:
            found.sums[op.name] = replace(made, name=op.name, kind=op.kind)
    return found


def _clipped(sums: Sums, ops: tuple[Op, ...], tensors: Mapping[str, Tensor], name: str) -> tuple[int, int]:
    """Give the ends of the data, which a clamp makes narrower."""
    low, high = sums.x_ends
    writer = next((op for op in ops if name in op.outputs), None)
    if writer is None or not kind_named(writer.kind).clamps or sums.as_uint8 or len(writer.reads) != 1:
        return low, high
    dtype = codes.TABLE[sums.x_type].dtype
    low, high = (int(writer.call(np.array(code, dtype))[0]) for code in (low, high))
    return low, high


def _sums(op: Op, x: Tensor, runtime: str) -> Sums | None:
    """Give the sums of one layer, on uint8 if the runtime makes that of its codes."""
    dtype, prepared = x.dtype, op.prepared if op.with_zero is None else op.with_zero(0)
    if dtype == "int8" and runtime in COLUMNS and not COLUMNS[runtime].allows_int8 and op.remade is not None:
        on_uint8 = (op if op.on_uint8 is not None else op.remade("ort_avx2")).on_uint8
        dtype, prepared = ("int8", prepared) if on_uint8 is None else ("uint8", on_uint8)
    made = of_prepared(prepared, "u8" if dtype == "float32" else type_of(dtype))
    if made is None:
        return None
    sizes = x.shape[1:-1] if made.last else x.shape[2:]
    is_known = made.is_convolution and sizes and all(sizes)
    image = tuple(int(n) for n in sizes if n is not None) if is_known else None
    any_zero = op.with_zero is not None or x.dtype == "float32"
    return replace(
        made, image=image, any_zero=any_zero or made.any_zero, as_uint8=dtype != x.dtype and x.dtype == "int8"
    )


def has_narrow_lanes(runtime: str) -> bool:
    """Tell whether some layers of a runtime of models have lanes of 16 bits."""
    if runtime in COLUMNS:
        return bool(COLUMNS[runtime].pairs)
    return bool(KERNELS[runtime].pairs or KERNELS[runtime].depthwise_pairs or KERNELS[runtime].lstm_pairs)


def hazards_of(ops: tuple[Op, ...], tensors: Mapping[str, Tensor], runtime: str) -> tuple[str, ...]:
    """Say which layers of a graph may lose sums on a runtime whose lanes are narrow.

    Parameters
    ----------
    ops : tuple of Op
        The ops of a graph.
    tensors : dict of str to Tensor
        Its tensors.
    runtime : str
        The runtime of the graph.

    Returns
    -------
    tuple of str
        A sentence for each layer that some input makes lose.
    """
    if not has_narrow_lanes(runtime):
        return ()
    place = place_of(runtime, None, "onnx" if runtime in COLUMNS else "tflite")
    said = []
    for name, sums in layers_of(ops, tensors, runtime).sums.items():
        try:
            how = route(sums, place.machine, place.runtime)
            unsafe = worst(sums, how).unsafe
        except ValueError:  # a form of the layer whose lanes are not known, or a window that fits nowhere
            continue
        if unsafe.any():
            count, does = int(np.count_nonzero(unsafe)), f"{how.machine.overflow[:-1]}"
            what = f"{count:,} of {unsafe.size:,} pairs of products can {does} in {how.machine.bits} bits"
            said.append(f"{name} ({sums.kind}): {what}; see qops.saturation")
    others = [(op, counted(op)) for op in ops if getattr(op.prepared, "unsafe_pairs", (0, 0))[0]]
    return (*said, *(f"{op.name} ({op.kind}): {words}" for op, words in others))


def counted(op: Op) -> str:
    """Say how many pairs of a layer whose sums are not read can leave 16 bits.

    Parameters
    ----------
    op : Op
        TRANSPOSE_CONV or an LSTM, which count them themselves, or any other.

    Returns
    -------
    str
        Words; empty where the lanes are wide.
    """
    count, every = getattr(op.prepared, "unsafe_pairs", (0, 0))
    return f"{count:,} of {every:,} pairs of products can wrap in 16 bits" if every else ""

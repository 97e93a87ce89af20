"""Whether what a device gave is another column: the integers of a library on another kind of CPU, in every tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields
from qops.models import Graph, load
from qops.models.session import Session
from qops.onnx.runtimes import COLUMNS
from qops.tflite.kernels import KERNELS

__all__ = ["WHOSE", "ColumnFound", "column_of"]

Arrays = Mapping[str, NDArray[Any]]
WHOSE = {
    "reference": "TFLite's reference kernels",
    "optimized": "TFLite's optimised kernels",
    "xnnpack": "TFLite with XNNPACK",
    "xnnpack_avx2": "TFLite with XNNPACK on x86 with AVX2, without AVX-512",
    "reference_arm": "TFLite's reference kernels on 64-bit ARM",
    "optimized_arm": "TFLite's optimised kernels on 64-bit ARM",
    "optimized_neon": "TFLite's optimised kernels on 64-bit ARM without dot products",
    "xnnpack_arm": "TFLite with XNNPACK on 64-bit ARM",
    "xnnpack_neon": "TFLite with XNNPACK on 64-bit ARM without dot products",
    "tflm": "TensorFlow Lite Micro",
    "tflm_until_2026_06": "TensorFlow Lite Micro until June 2026",
    "single_rounding": "TensorFlow Lite Micro built with single rounding",
    **{name: column.system for name, column in COLUMNS.items()},
}
"""What each runtime is, in words."""


@shows_fields
class ColumnFound(NamedTuple):
    """A runtime that gives every tensor of a device.

    Attributes
    ----------
    words : str
        One sentence without its full stop.
    runtimes : list of str
        The runtimes that do, the first of which the words name.
    fused : str
        What that runtime makes one op of, where the first tensor that differs is written, in words that go on; empty if
        it makes none.
    """

    words: str
    runtimes: list[str]
    fused: str = ""


def column_of(
    graph: Graph, path: Path | None, steps: Sequence[tuple[Arrays, Arrays]], output: str
) -> ColumnFound | None:
    """Find another runtime of the model's format whose integers a device gave, in all tensors that it dumped.

    Parameters
    ----------
    graph : Graph
        The model, for the runtime that was expected.
    path : Path or None
        Its file, if that is known.
    steps : sequence of (dict of str to ndarray, dict of str to ndarray)
        What the network is run on, and what the device gave, by the names of tensors: of each step so far.
    output : str
        The tensor that differs first.

    Returns
    -------
    ColumnFound or None
        None if no other runtime gives all of them.

    Raises
    ------
    OSError
        A file that cannot be opened.
    """
    found = [other for other in _others(graph, path) if _agrees(other, steps, output)]
    if not found:
        return None
    names = [other.runtime for other in found]
    first, alike = found[0], _alike(names[1:])
    words = f"these are the integers of {WHOSE[first.runtime]}: runtime {first.runtime!r} gives every tensor{alike}"
    return ColumnFound(words, names, _fused(first, graph, output))


def _alike(names: list[str]) -> str:
    if len(names) > 1:
        return f", as do {', '.join(map(repr, names[:-1]))} and {names[-1]!r}"
    return "".join(f", as does {name!r}" for name in names)


def _others(graph: Graph, path: Path | None) -> Iterator[Graph]:
    """Give the model for all other runtimes; from a file as each fuses it, else where its ops stay the same."""
    gaps = [op.outputs for op in graph.gaps]
    for runtime in COLUMNS if graph.runtime in COLUMNS else KERNELS:
        if runtime == graph.runtime:
            continue
        try:
            if path is not None:
                other = load(path, runtime=runtime, gaps=True)
                if [op.outputs for op in other.gaps] == gaps:  # a further gap would be given the device's integers
                    yield other
            elif _fuses_alike(graph.runtime, runtime):
                ops = tuple(op if op.remade is None else op.remade(runtime) for op in graph.ops)
                yield replace(graph, ops=ops, runtime=runtime)
        except ValueError:  # what that runtime has and qops does not
            continue


def _fuses_alike(one: str, other: str) -> bool:
    if one not in COLUMNS:
        return True
    first, second = COLUMNS[one], COLUMNS[other]
    return (first.is_ort, first.allows_int8) == (second.is_ort, second.allows_int8)


def _agrees(other: Graph, steps: Sequence[tuple[Arrays, Arrays]], output: str) -> bool:
    session = other.session()
    return all(_agrees_once(other, session, *step, output) for step in steps)


def _agrees_once(other: Graph, session: Session, inputs: Arrays, device: Arrays, output: str) -> bool:
    """Whether one step gives the device's tensors; the results of gaps are the device's."""
    try:
        given = {name: _shaped(other, name, device[name]) for op in other.gaps for name in op.outputs if name in device}
        made = session(dict(inputs), keep="all", given=given)
    except (TypeError, ValueError):  # data that this runtime refuses
        return False
    shared = [name for name in device if name in made]
    return output in shared and all(np.array_equal(made[name].reshape(-1), device[name].reshape(-1)) for name in shared)


def _shaped(graph: Graph, name: str, codes: NDArray[Any]) -> NDArray[Any]:
    return codes.reshape([n or 1 for n in graph.tensors[name].shape] or codes.shape)


def _fused(found: Graph, graph: Graph, output: str) -> str:
    """Give what became one op where the tensor is written, if the nodes of the file were expected as they are."""
    if graph.runtime != "onnx":
        return ""
    op = next(op for op in found.ops if output in op.outputs)
    said = [words.rstrip(".") for words in found.fused if f"({op.name})" in words]
    return f", which fuses the nodes: {said[0]}" if said else ""

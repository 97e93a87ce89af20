"""Reads a model file into a graph of prepared ops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from qops.checks import choice, shown
from qops.models.graph import Graph
from qops.models.onnx.graph import load_onnx
from qops.models.onnx.ops import RUNTIMES
from qops.models.op import Missing, unread
from qops.models.tflite.file import read_tflite
from qops.models.tflite.ops import op_of
from qops.tflite.kernels import KERNELS

__all__ = ["load"]


def load(path: str | Path, *, runtime: str | None = None) -> Graph:
    """Read a model file, .tflite or .onnx, into a graph of prepared ops.

    Parameters
    ----------
    path : str or Path
        The file.
    runtime : str, optional
        The runtime whose bits the graph gives. For a .tflite file it is "reference" (the default), "optimized",
        "xnnpack", "xnnpack_arm", "tflm" or another kernel library: `qops.tflite` says what each of them is. For an
        .onnx file it is "onnx" (the default), which runs each node as it is written, as the package ``onnx`` does, or
        "ort", which gives what onnxruntime gives on x86 with all its optimisations; `Graph.fused` names those that
        change bits.

    Returns
    -------
    Graph
        ``graph.run(x)`` runs it on codes, ``graph.real(x)`` in real numbers.

    Raises
    ------
    ModuleNotFoundError
        The package that reads the format is not installed: ``pip install 'qops[tflite]'`` or ``'qops[onnx]'``.
    ValueError
        A file that is damaged, or of another format; operators that qops does not have, each named with its place; a
        runtime that is not known.
    OSError
        A file that cannot be opened.

    Notes
    -----
    Only the first subgraph of a .tflite file is read. Variable tensors, the states of SVDF and LSTM, start at real 0 in
    each run.

    Nodes of .onnx files that work on float32 are computed in double and rounded once. The package ``onnx`` and
    onnxruntime round each step of a sum, in orders of their own, so their last bits may differ.

    Examples
    --------
    >>> qops.models.load("no-such-model.txt")
    Traceback (most recent call last):
    ValueError: path: expected a .tflite or an .onnx file, got 'no-such-model.txt'
    """
    if not isinstance(path, str | Path):
        raise TypeError(f"path: expected the name of a file, got {shown(path)}")
    place = Path(path)
    if place.suffix == ".tflite":
        return _of_tflite(place, choice("reference" if runtime is None else runtime, "runtime", KERNELS))
    if place.suffix == ".onnx":
        return load_onnx(place, choice("onnx" if runtime is None else runtime, "runtime", RUNTIMES))
    raise ValueError(f"path: expected a .tflite or an .onnx file, got {shown(str(path))}")


def _of_tflite(path: Path, kernel: str) -> Graph:
    file = read_tflite(path)
    counts: Counter[str] = Counter()
    ops, missing = [], []
    for i, operator in enumerate(file.operators):
        stem = operator.kind.lower()
        name = f"{stem}_{counts[stem]}" if counts[stem] else stem
        counts[stem] += 1
        try:
            ops.append(op_of(operator, name, kernel))
        except Missing as why:
            result = operator.outputs[0].name if operator.outputs else ""
            missing.append(f"operator {i}, {operator.kind} (result {result!r}): {why}")
    if missing:
        raise ValueError(f"{path.name}: {unread(missing)}")
    inputs, outputs = (tuple(t.name for t in part) for part in (file.inputs, file.outputs))
    return Graph(path.name, inputs, outputs, {t.name: t for t in file.tensors}, tuple(ops), kernel)

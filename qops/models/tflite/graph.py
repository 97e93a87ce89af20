"""Makes a graph of the operators of a .tflite file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from qops.models.graph import Graph
from qops.models.op import Missing, Op, gap, unread
from qops.models.tflite.file import Operator, has_arrays, read_tflite
from qops.models.tflite.ops import op_of
from qops.models.tflite.variables import PLACES, started, with_variables

__all__ = ["load_tflite"]


def load_tflite(path: Path, kernel: str, gaps: bool) -> Graph:
    """Read a .tflite file into a graph.

    Parameters
    ----------
    path : Path
    kernel : str
        The kernel library whose bits the graph gives, as `qops.tflite` names it.
    gaps : bool
        Whether operators that qops does not have stand in the graph as gaps.

    Returns
    -------
    Graph

    Raises
    ------
    ModuleNotFoundError
        The package ``tflite``, the schema, is not installed.
    ValueError
        A damaged file; operators that qops does not have, each named with its place, unless `gaps`.
    OSError
        A file that cannot be opened.
    """
    file = read_tflite(path)
    for tensor in file.inputs:
        if not has_arrays(tensor.dtype):
            raise ValueError(f"{path.name}: its input {tensor.name!r} is of type {tensor.dtype}, which qops has not")
    start, why_not = started(file.once)
    counts: Counter[str] = Counter()
    known = {t.name for t in file.tensors if t.data is not None} | {t.name for t in file.inputs}
    ops: list[Op] = []
    missing = [f"CALL_ONCE: {why_not}"] if why_not else []
    for i, operator in enumerate(with_variables(file.operators, start)):
        if operator.kind in PLACES:
            continue
        stem = operator.kind.lower()
        name = f"{stem}_{counts[stem]}" if counts[stem] else stem
        counts[stem] += 1
        try:
            op = op_of(operator, name, kernel)
        except Missing as why:
            result = operator.outputs[0].name if operator.outputs else ""
            missing.append(f"operator {i}, {operator.kind} (result {result!r}): {why}")
            op = _gap_of(operator, name, str(why), known)
        ops.append(op)
        known.update(op.outputs)
    if missing and not gaps:
        raise ValueError(f"{path.name}: {unread(missing)}")
    inputs, outputs = (tuple(t.name for t in part) for part in (file.inputs, file.outputs))
    return Graph(path.name, inputs, outputs, {t.name: t for t in file.tensors}, tuple(ops), kernel)


def _gap_of(operator: Operator, name: str, why: str, known: set[str]) -> Op:
    """Give a gap; of what it reads, handles of variables are never written."""
    tensors = [t for t in operator.inputs if t is not None]
    inputs, outputs = tuple(t.name for t in tensors), tuple(t.name for t in operator.outputs)
    reads = tuple(dict.fromkeys(t.name for t in tensors if t.data is None and t.name in known))
    return gap(name, operator.kind, inputs, outputs, reads, why)

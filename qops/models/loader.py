"""Reads a model file into a graph of prepared ops."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Never

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import choice, flag, shown
from qops.models.graph import Graph
from qops.models.lanes.read import hazards_of
from qops.models.onnx.graph import load_onnx
from qops.models.tflite.graph import load_tflite
from qops.onnx.runtimes import RUNTIMES
from qops.tflite.kernels import KERNELS

__all__ = ["load"]


@refusing_unknown
def load(path: str | Path, *, runtime: str | None = None, gaps: bool = False, **unknown: Never) -> Graph:
    """Read a model file, .tflite or .onnx, into a graph of prepared ops.

    Parameters
    ----------
    path : str or Path
        The file.
    runtime : str, optional
        The runtime whose bits the graph gives. For a .tflite file it is "reference" (the default), "optimized",
        "xnnpack", "xnnpack_arm", "tflm" or another kernel library: `qops.tflite` says what each of them is. For an
        .onnx file it is "onnx" (the default), which runs each node as it is written, as the package ``onnx`` does; or
        what onnxruntime gives with all its optimisations, where `Graph.fused` names those that change bits: "ort" on
        x86 with VNNI, "ort_avx2" on x86 without it, "ort_arm" on 64-bit ARM, "ort_neon" on ARM cores without dot
        products. See `qops.onnx`.
    gaps : bool
        Whether an operator that qops does not have stands in the graph as a *gap*: ``graph.gaps`` names them, and why.
        `Graph.run` computes what does not depend on them, and the rest where it is given their results. By default such
        a file is refused.

    Returns
    -------
    Graph
        ``graph.run(x)`` runs it on codes, ``graph.real(x)`` in real numbers. ``graph.hazards`` names the layers that
        some input makes saturate or wrap in narrow lanes of the runtime, such as those of "ort_avx2".

    Raises
    ------
    ModuleNotFoundError
        The package that reads the format is not installed: ``pip install 'qops[tflite]'`` or ``'qops[onnx]'``.
    ValueError
        A file that is damaged, or of another format; operators that qops does not have, each named with its place,
        unless `gaps`; a runtime that is not known.
    OSError
        A file that cannot be opened.

    Notes
    -----
    Of a .tflite file the first subgraph is read, and those that give variables their first values. Each run starts with
    these, and with memories of SVDF and LSTM of real 0; `Graph.session` keeps them from one call to the next.

    Nodes of .onnx files that work on float32 are computed in double and rounded once. The package ``onnx`` and
    onnxruntime round each step of a sum, in orders of their own, so their last bits may differ. Codes that a
    QuantizeLinear makes of such floats may then be one step off, where a value lies half way between two codes: 1.2 to
    1.7 % of the codes behind MatMul, Conv and AveragePool of products that were chosen to lie there often, and none
    where data, weights and scales are such that float32 holds all sums.

    Examples
    --------
    >>> qops.models.load("no-such-model.txt")
    Traceback (most recent call last):
    ValueError: path: expected a .tflite or an .onnx file, got 'no-such-model.txt'
    """
    if unknown:
        raise unknown_keyword(load, unknown)
    if not isinstance(path, str | Path):
        raise bad_type("path", f"expected the name of a file, got {shown(path)}")
    gaps = flag(gaps, "gaps")
    place = Path(path)
    if place.suffix == ".tflite":
        made = load_tflite(place, choice("reference" if runtime is None else runtime, "runtime", KERNELS), gaps)
    elif place.suffix == ".onnx":
        made = load_onnx(place, choice("onnx" if runtime is None else runtime, "runtime", RUNTIMES), gaps)
    else:
        raise bad_value("path", f"expected a .tflite or an .onnx file, got {shown(str(path))}")
    hazards = hazards_of(made.ops, made.tensors, made.runtime)
    return replace(made, hazards=hazards) if hazards else made

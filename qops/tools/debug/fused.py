"""Whether what a device gave is what onnxruntime makes of the same file, fused."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models import Graph, load

__all__ = ["as_fused"]


def as_fused(
    path: Path, graph: Graph, inputs: Mapping[str, NDArray[Any]], device: Mapping[str, NDArray[Any]], output: str
) -> str:
    """Say in words that a device computes an .onnx file as onnxruntime fuses it, if it does.

    Parameters
    ----------
    path : Path
        The file.
    graph : Graph
        The same file, its nodes as they are written.
    inputs, device : dict of str to ndarray
        What the network is run on, and what the device gave, by the names of tensors.
    output : str
        The tensor that differs first.

    Returns
    -------
    str
        One sentence without its full stop; "" if the device does not, or the file is no such one.

    Raises
    ------
    OSError
        A file that cannot be opened.
    """
    if path.suffix != ".onnx" or graph.runtime != "onnx":
        return ""
    try:
        fused = load(path, runtime="ort")
        made = fused.run(dict(inputs), keep="all")
    except ValueError:  # what onnxruntime fuses and qops does not have
        return ""
    shared = [name for name in device if name in made]
    if output not in shared or not all(
        np.array_equal(made[name].reshape(-1), device[name].reshape(-1)) for name in shared
    ):
        return ""
    op = next(op for op in fused.ops if output in op.outputs)
    said = [words.rstrip(".") for words in fused.fused if f"({op.name})" in words]
    why = f": {said[0]}" if said else ""
    return f"as onnxruntime fuses the nodes, with which every tensor agrees (runtime 'ort'){why}"

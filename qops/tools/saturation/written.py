"""A model file with a repair in all of its layers, looked at before anybody gets it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.loader import load
from qops.models.noise import noise
from qops.tools.saturation.file_found import FileFound
from qops.tools.saturation.onnx_data import with_signed_data
from qops.tools.saturation.onnx_model import OnnxModel
from qops.tools.saturation.onnx_repair import put_into_onnx
from qops.tools.saturation.onnx_types import with_other_types
from qops.tools.saturation.repair import EXACT, Repair, repaired
from qops.tools.saturation.tflite_repair import TfliteModel

__all__ = ["RepairedFile", "repaired_file"]

_ROUNDS = 16
"""How often rows that saturate only after a repair are repaired too."""
_UINT8_FIRST = "; onnxruntime on x86 makes uint8 of int8 codes between QuantizeLinear and DequantizeLinear"

Rows = dict[str, NDArray[np.bool_]]


class RepairedFile(NamedTuple):
    """A model with a repair.

    Attributes
    ----------
    data : bytes
        The file.
    found : Saturation
        Its report.
    made : dict of str to Repair
        What each layer has.
    """

    data: bytes
    found: Any
    made: dict[str, Repair]


def repaired_file(report: Any, how: str, seen: bool) -> RepairedFile:
    """Give a model file with a repair.

    Parameters
    ----------
    report : Saturation
        The report of a file.
    how : str
        A name of `REPAIRS`.
    seen : bool
        Whether only output channels are changed that saturate on the data of the report.

    Returns
    -------
    RepairedFile
        No input saturates it; if `seen`, its data do not. Exact repairs give the same results where sums are exact.

    Raises
    ------
    ValueError
        No file; nothing to repair; a repair that this file cannot have, or that does not do what is said above.
    """
    file = report._file
    if file is None:
        raise bad_value("path", "only the report of a model file can be written")
    unsafe = [layer for layer in report.layers if layer.unsafe_groups]
    if not unsafe:
        why = next((f": {layer.lanes}" for layer in report.layers), "")
        raise bad_value("path", f"no lane of {report.name} can be left, there is nothing to repair{why}")
    rows = {x.name: x.seen.per_channel > 0 if seen else np.ones(x._sums.outputs, np.bool_) for x in unsafe}
    for _ in range(_ROUNDS if seen else 1):
        found = _made(report, file, how, rows)
        more = {x.name: x.seen.per_channel > 0 for x in found.found.layers if seen and x.seen.wrong}
        if not more:
            break
        rows = {name: old | more.get(name, False) for name, old in rows.items()}
    _check(report, file, how, seen, found)
    return found


def _made(report: Any, file: FileFound, how: str, rows: Rows) -> RepairedFile:
    is_onnx = file.path.suffix == ".onnx"
    model: Any = OnnxModel(file.path) if is_onnx else TfliteModel(file.path)
    made = {}
    for name, own in rows.items():
        layer = report[name]
        if not own.any():
            continue
        if not is_onnx:
            own = np.full_like(own, True) if model.has_one_scale(file.weights[name]) else own
        made[name] = repaired(layer._sums, layer._route, layer.unsafe, own, how, report.runtime)
        if not is_onnx:
            made[name] = model.put(file.weights[name], layer.kind, layer._sums, made[name])
        elif how not in ("types", "data"):
            put_into_onnx(model, file.weights[name], layer._sums, made[name])
    if how == "types":
        with_other_types(model, [file.weights[name] for name in made])
    elif how == "data":
        with_signed_data(model)
    data = model.data()
    return RepairedFile(data, _with_file(data, file, lambda path: file.look(path, file.data)), made)


def _with_file(data: bytes, file: FileFound, function: Any) -> Any:
    """Call a function with a file that has these bytes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, file.path.name)
        path.write_bytes(data)
        try:
            return function(path)
        except (ValueError, TypeError) as why:
            raise bad_value("how", f"the repaired model is another one for the runtime: {why}") from why


def _check(report: Any, file: FileFound, how: str, seen: bool, found: RepairedFile) -> None:
    left = [x.name for x in found.found.layers if (x.seen.wrong if seen else x.unsafe_groups)]
    if left:
        why = _UINT8_FIRST if how == "data" else ""
        raise bad_value("how", f"{how!r} leaves layers of {report.name} unsafe, the first {left[0]!r}{why}")
    if how not in EXACT:
        return
    graph = load(file.path, runtime=file.exact)
    x = noise(graph) if file.data is None else graph.inputs_of(file.data, "data")
    try:
        exact = graph.run(x)
    except (ValueError, TypeError) as why:
        if file.data is not None:
            raise
        raise bad_value(
            "data", f"{how!r} is compared on noise, which {report.name} cannot run: give the report data ({why})"
        ) from why
    there = _with_file(found.data, file, lambda path: load(path, runtime=file.exact).run(x))
    for name, value in exact.items():
        if not np.array_equal(there[name], value):
            raise bad_value("how", f"{how!r} changes the exact result {name!r} of {report.name}, which it must not")

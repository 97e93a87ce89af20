"""Reads the tensors that a device gave: from one file, a folder with one file for each tensor, or a dict."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os.path import isdir
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array, shown
from qops.models.tflite.layer_by_layer import layers_of
from qops.tools.debug.printed_tensors import log_of, numbers_in

__all__ = ["Bytes", "tensors_of"]


class Bytes(np.ndarray[Any, np.dtype[np.uint8]]):
    """The bytes of a tensor, whose type the file does not tell."""


def tensors_of(given: Any, name: str) -> dict[str, NDArray[Any]]:
    """Read arrays by their names.

    Parameters
    ----------
    given : str, Path or dict
        An ``.npz`` file; a ``.log`` or ``.txt`` file in which names and numbers are printed; ``.tflm``, the file that
        TFLM's ``layer_by_layer_output_tool`` writes; a folder with a file for each tensor; or the arrays themselves.
        Files of a folder are ``.npy``; ``.bin`` or ``.raw``, plain bytes; ``.txt`` or ``.csv``, numbers as they are
        printed; ``.pb`` or ``.tensorproto``, which ONNX's test data and onnxruntime's dumps are. A file is named as its
        tensor is, but a tensor of ONNX's has a name of its own.
    name : str
        What the caller calls it.

    Returns
    -------
    dict of str to ndarray

    Raises
    ------
    TypeError, ValueError, OSError
        No such file or folder, one without arrays, or a damaged one.
    """
    if isinstance(given, Mapping):
        return {str(key): as_array(value, f"{name}[{str(key)!r}]") for key, value in given.items()}
    if not isinstance(given, str | Path):
        raise bad_type(name, f"expected a file, a folder or a dict, got {shown(given)}")
    path = Path(given)
    if isdir(path):  # unlike Path.is_dir, it takes names that no file can have
        return _folder(path, name)
    if path.suffix in (".log", ".txt", ".tflm"):
        try:
            found = (
                layers_of(path.read_bytes()) if path.suffix == ".tflm" else log_of(path.read_text("utf-8", "replace"))
            )
        except ValueError as why:
            raise bad_value(name, f"{path.name}: {why}") from None
        if not found:
            raise bad_value(name, f"{path.name}: no tensor is printed in it, as in 'NAME: 1, 2, 3'")
        return found
    if path.suffix != ".npz":
        raise bad_value(name, f"expected a folder, or a file .npz, .log, .txt or .tflm, got {shown(str(given))}")
    with path.open("rb") as file:
        if not is_zipfile(file):
            raise bad_value(name, f"{path.name}: not a zip archive, which every .npz file is")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as arrays:
                return {key: as_array(arrays[key], key) for key in arrays.files}
        except Exception as why:  # zipfile, zlib and numpy each have kinds of their own for a damaged file
            raise bad_value(name, f"{path.name}: {why or repr(why)}") from None


def _folder(path: Path, name: str) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {}
    for file in sorted(path.iterdir()):
        if file.suffix not in _READERS:
            continue
        try:
            key, array = _READERS[file.suffix](file)
        except (ValueError, EOFError) as why:
            raise bad_value(name, f"{file.name}: {why}") from None
        if key in found:
            raise bad_value(name, f"{file.name}: another file of {path} is of the tensor {key!r} too")
        found[key] = array
    if not found:
        raise bad_value(name, f"no {', '.join(_READERS)} files in {path}")
    return found


Named = tuple[str, NDArray[Any]]


def _npy(file: Path) -> Named:
    return file.stem, np.asarray(np.load(file, allow_pickle=False))


def _bytes(file: Path) -> Named:
    return file.stem, np.frombuffer(file.read_bytes(), np.uint8).view(Bytes)


def _text(file: Path) -> Named:
    return file.stem, numbers_in(file.read_text(encoding="utf-8"))


def _proto(file: Path) -> Named:
    try:
        from onnx import TensorProto
        from onnx.numpy_helper import to_array
    except ModuleNotFoundError as why:
        raise ModuleNotFoundError(f"{file.suffix} files need the package {why.name}: pip install 'qops[onnx]'") from why
    tensor = TensorProto()
    try:
        tensor.ParseFromString(file.read_bytes())
        return tensor.name or file.stem, np.asarray(to_array(tensor))
    except Exception as why:  # of protobuf and of onnx
        raise ValueError(f"no tensor of ONNX: {why}") from None


_READERS: dict[str, Callable[[Path], Named]] = {
    **{".npy": _npy, ".bin": _bytes, ".raw": _bytes, ".txt": _text, ".csv": _text},
    **{".pb": _proto, ".tensorproto": _proto},
}

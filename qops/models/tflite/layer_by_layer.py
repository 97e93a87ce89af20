"""Reads what TFLM's ``layer_by_layer_output_tool`` writes: the results of all layers of a model, a flatbuffer."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.tflite.file import TYPES, schema

__all__ = ["layers_of"]

_INPUTS, _SUBGRAPHS, _OUTPUTS, _INDEX, _TYPE, _DATA = 4, 6, 4, 6, 10, 12
"""Places of the fields in tables of TFLM's layer_by_layer_schema.fbs."""


def layers_of(data: bytes) -> dict[str, NDArray[Any]]:
    """Read the file that TFLM's ``layer_by_layer_output_tool`` writes.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    dict of str to ndarray
        By the numbers of tensors in the model.

    Raises
    ------
    ModuleNotFoundError
        The package ``tflite``, which brings flatbuffers along, is not installed.
    ValueError
        Another file, or a damaged one.
    """
    schema()
    from flatbuffers.table import Table

    found: dict[str, NDArray[Any]] = {}
    try:
        root = Table(data, struct.unpack_from("<I", data)[0])
        tensors = _tables(root, _INPUTS)
        for subgraph in _tables(root, _SUBGRAPHS)[:1]:
            tensors += _tables(subgraph, _OUTPUTS)
        for tensor in tensors:
            index, number = (_number(tensor, place, size) for place, size in ((_INDEX, "<I"), (_TYPE, "<b")))
            at = tensor.Offset(_DATA)
            first, size = (tensor.Vector(at), tensor.VectorLen(at)) if at else (0, 0)
            codes = np.frombuffer(data, np.uint8, size, first)
            found[str(index)] = codes.view(np.dtype(TYPES[number]).newbyteorder("<"))
    except (struct.error, ValueError, TypeError, KeyError, OverflowError) as why:
        raise ValueError(f"not what TFLM's layer_by_layer_output_tool writes: {why}") from None
    return found


def _number(table: Any, place: int, form: str) -> int:
    at = table.Offset(place)
    return int(struct.unpack_from(form, table.Bytes, table.Pos + at)[0]) if at else 0


def _tables(table: Any, place: int) -> list[Any]:
    """Give the tables of a vector, which lies in the file."""
    at = table.Offset(place)
    if not at:
        return []
    first, count = table.Vector(at), table.VectorLen(at)
    if first + 4 * count > len(table.Bytes):
        raise ValueError("a vector is larger than the file")
    return [type(table)(table.Bytes, table.Indirect(first + 4 * i)) for i in range(count)]

"""Repairs written into a .tflite file: other codes and scales of weights, in the places where they stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.models.kinds import OPERATORS
from qops.models.lanes.sums import Sums
from qops.tools.saturation.repair import Repair, narrowed

__all__ = ["TfliteModel"]


class TfliteModel:
    """A model that is changed in place; all that is not changed stays byte for byte.

    Parameters
    ----------
    path : Path
        The file, which stays as it is.
    """

    def __init__(self, path: Path) -> None:
        import tflite  # an extra

        self._schema = tflite
        self._bytes = bytearray(path.read_bytes())
        self._model = tflite.Model.GetRootAsModel(self._bytes, 0)
        self._graph = self._model.Subgraphs(0)
        self._changed: set[int] = set()

    def data(self) -> bytes:
        """Give the bytes of the changed model."""
        return bytes(self._bytes)

    def has_one_scale(self, weights: str) -> bool:
        """Whether all output channels of a layer share a scale."""
        return self._scales(self._names().index(weights)).size == 1

    def put(self, weights: str, kind: str, sums: Sums, made: Repair) -> Repair:
        """Let a layer read what a repair has made.

        Parameters
        ----------
        weights : str
            The name of its weights.
        kind : str
            Its operator.
        sums : Sums
            What it adds.
        made : Repair
            A repair that changes weights and scales.

        Returns
        -------
        Repair
            What stands there now: with one scale for all output channels if the file has one.

        Raises
        ------
        ValueError
            A repair that a .tflite file cannot hold; weights that more than one layer reads.
        """
        if made.channels is not None:
            raise bad_value("how", "a .tflite file holds no other order of channels; `repair` gives it for your kernel")
        if made.how in ("types", "data", "data_7_bits"):
            raise bad_value("how", f"{made.how!r} changes types or data, and layers of .tflite files are int8 by int8")
        place, bias = self._places(weights)
        if self._scales(place).size == 1:
            made = narrowed(sums, np.full(sums.outputs, made.scale.max()), made.how)
        old = self._codes(place)
        cells = made.weights.reshape(-1, *made.weights.shape[2:])  # (outputs, channels, taps)
        shape = self._graph.Tensors(place).ShapeAsNumpy()
        new = cells[:, 0].T if OPERATORS[kind].channel else cells.transpose(0, 2, 1)
        old[:] = np.ascontiguousarray(new, np.int8).reshape(shape).ravel().view(old.dtype)
        self._widen(place, made.scale)
        if bias is not None:
            codes = self._codes(bias)
            codes[:] = np.rint(codes.astype(np.float64) / made.scale).astype(codes.dtype)
            if self._scales(bias).size:
                self._widen(bias, made.scale)
        return made

    def _names(self) -> list[str]:
        return [self._graph.Tensors(i).Name().decode() for i in range(self._graph.TensorsLength())]

    def _places(self, weights: str) -> tuple[int, int | None]:
        """Give the numbers of the tensors of weights and bias."""
        place = self._names().index(weights)
        readers = [
            op
            for op in (self._graph.Operators(i) for i in range(self._graph.OperatorsLength()))
            if place in op.InputsAsNumpy().tolist()
        ]
        if len(readers) != 1:
            raise bad_value("path", f"{len(readers)} operators read the weights {weights!r}")
        inputs = readers[0].InputsAsNumpy().tolist()
        after = inputs[inputs.index(place) + 1 :]
        bias = after[0] if after and after[0] >= 0 and self._buffer(after[0]) is not None else None
        self._own(place)
        if bias is not None:
            self._own(bias)
        return place, bias

    def _own(self, place: int) -> None:
        """Refuse a buffer that another tensor has too."""
        number = self._graph.Tensors(place).Buffer()
        shared = [i for i in range(self._graph.TensorsLength()) if self._graph.Tensors(i).Buffer() == number]
        if len(shared) > 1 or number in self._changed:
            name = self._graph.Tensors(place).Name().decode()
            raise bad_value("path", f"{name!r} shares its codes with another tensor")
        self._changed.add(number)

    def _buffer(self, place: int) -> Any:
        buffer = self._model.Buffers(self._graph.Tensors(place).Buffer())
        return buffer if buffer.DataLength() else None

    def _codes(self, place: int) -> NDArray[Any]:
        tensor, buffer = self._graph.Tensors(place), self._buffer(place)
        types = {self._schema.TensorType.INT8: np.int8, self._schema.TensorType.INT32: np.int32}
        types |= {self._schema.TensorType.INT64: np.int64, self._schema.TensorType.UINT8: np.uint8}
        if buffer is None or tensor.Type() not in types:
            raise bad_value("path", f"{tensor.Name().decode()!r} has no codes of 8 bits in the file")
        found: NDArray[Any] = buffer.DataAsNumpy().view(types[tensor.Type()])
        return found

    def _scales(self, place: int) -> NDArray[np.float32]:
        numbers = self._graph.Tensors(place).Quantization()
        found = None if numbers is None or not numbers.ScaleLength() else numbers.ScaleAsNumpy()
        return np.zeros(0, np.float32) if found is None else found

    def _widen(self, place: int, factor: NDArray[np.float64]) -> None:
        scales = self._scales(place)
        scales[:] = (scales * (factor[:1] if scales.size == 1 else factor)).astype(np.float32)

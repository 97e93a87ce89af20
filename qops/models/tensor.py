"""One tensor of a graph: its name, its type and what its codes mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._readable import shows_fields

__all__ = ["Tensor", "Values", "zero_of"]

Values = NDArray[np.float64]
"""Real values of a tensor."""


@shows_fields
@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor of a graph: what its codes mean.

    Attributes
    ----------
    name : str
        Unique in its graph.
    shape : tuple of int or None
        As the file announces it; None where a size is only known at run time.
    dtype : str
        The name of the type: "int8", "uint8", "int16", "int4", "int32", "float32" and so on. Codes of int4 are kept
        in arrays of int8.
    scale, zero_point : ndarray or None
        A value is ``scale * (code - zero_point)``. float32 and int64, of shape () or, with `axis`, (channels,). None
        for tensors that are not quantized.
    axis : int or None
        Which axis has a scale for each channel.
    data : ndarray or None
        The codes or values of a constant.
    """

    name: str
    shape: tuple[int | None, ...]
    dtype: str
    scale: NDArray[np.float32] | None = None
    zero_point: NDArray[np.int64] | None = None
    axis: int | None = None
    data: NDArray[Any] | None = None

    def values(self, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Give the real values of codes of this tensor, ``scale * (code - zero_point)``.

        Parameters
        ----------
        codes : ndarray
            Codes; values, if the tensor is not quantized.

        Returns
        -------
        ndarray of float64
            Of complex values, complex128.
        """
        if self.scale is None or self.zero_point is None:
            return codes.astype(np.complex128 if codes.dtype.kind == "c" else np.float64)
        scale, zero = (self._along(part, codes.ndim) for part in (self.scale.astype(np.float64), self.zero_point))
        return np.asarray((codes.astype(np.float64) - zero) * scale)

    def codes(self, values: NDArray[Any]) -> NDArray[Any]:
        """Give the nearest codes of real values, half to even, clamped to the type.

        Parameters
        ----------
        values : ndarray
            Real numbers.

        Returns
        -------
        ndarray
            Codes; the values in the type of the tensor, if it is not quantized.
        """
        dtype = np.dtype("int8" if self.dtype == "int4" else self.dtype)
        if self.scale is None or self.zero_point is None:
            return values.astype(dtype)
        scale, zero = (self._along(part, values.ndim) for part in (self.scale.astype(np.float64), self.zero_point))
        info = np.iinfo(dtype)
        return np.clip(np.rint(values / scale) + zero, info.min, info.max).astype(dtype)

    def _along(self, part: NDArray[Any], axes: int) -> NDArray[Any]:
        """Give scales or zero points in a shape that broadcasts against an array with so many axes."""
        if self.axis is None or part.ndim == 0:
            return part.reshape(())
        shape = [1] * axes
        shape[self.axis] = -1
        return part.reshape(shape)


def zero_of(tensor: Tensor | None) -> int:
    """Give the code of real 0: the first of several, 0 for a tensor that is not quantized, or is left out."""
    return 0 if tensor is None or tensor.zero_point is None else int(tensor.zero_point.reshape(-1)[0])

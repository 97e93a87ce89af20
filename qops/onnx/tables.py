"""`Table`, the base of ops of one tensor: what becomes of each of the 256 codes is computed once, then looked up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import output
from qops.onnx.by_type import ByType, codes, scale_above_0, zero_of
from qops.onnx.quantize import quantize_linear

__all__ = ["Table", "table_between"]

F32 = np.float32
Floats = NDArray[np.float32]


class Table(ByType):
    """An op of one tensor X, with a scale and a zero point of X and of Y. A subclass gives its function, `_values`."""

    __slots__ = ()

    def _check(self) -> None:
        scale_above_0(self.X_scale, "X_scale"), scale_above_0(self.Y_scale, "Y_scale")

    def _values(self, x: Floats) -> Floats:
        """Give the function of float32 values."""
        raise NotImplementedError

    def _of(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        x = scale_above_0(self.X_scale, "X_scale"), zero_of(self.X_zero_point, "X_zero_point", dtype)
        y = scale_above_0(self.Y_scale, "Y_scale"), zero_of(self.Y_zero_point, "Y_zero_point", dtype)
        values = self._values(_values_of(x, dtype))
        return _recoded(values, *y, dtype)

    def __call__(self, X: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `X`, in `out` if it is given."""
        data = codes(X, "X")
        table = self._for(data.dtype)
        result = output(out, data.dtype.num, data)
        look_up_bytes(data, table, result)
        return result


def _values_of(x: tuple[np.float32, int], dtype: np.dtype[Any]) -> Floats:
    """Give ``scale * (code - zero_point)`` in float32 of all codes, in the order of their bytes."""
    every = np.arange(256, dtype=np.uint8).view(dtype)
    with np.errstate(over="ignore"):
        return (x[0] * (every.astype(F32) - F32(x[1]))).astype(F32)


def _recoded(values: Floats, scale: np.float32, zero: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give the codes of values as onnxruntime's QuantizeLinear has them."""
    return quantize_linear(values, scale, np.asarray(zero, dtype), runtime="ort")


def table_between(x: tuple[np.float32, int], y: tuple[np.float32, int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Give the codes at scale and zero point `y` of all codes at scale and zero point `x`."""
    return _recoded(_values_of(x, dtype), *y, dtype)

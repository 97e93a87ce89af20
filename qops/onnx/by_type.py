"""`ByType`, the base of onnxruntime's own ops: a plain zero point has the type of the data, which a call shows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import as_array, native
from qops.onnx import _checks as check
from qops.prepared import Prepared

__all__ = ["ByType", "codes", "scale_above_0", "zero_of"]

F32 = np.float32


class ByType(Prepared):
    """A prepared op that makes what a call needs for data of uint8 and for data of int8."""

    __slots__ = ("_made_for",)

    def _prepare(self, once: bool) -> None:
        self._check()
        self._made_for: dict[np.dtype[Any], Any] = {} if once else check.of_types(self._of)

    def _check(self) -> None:
        """Check what does not depend on the type of the data."""

    def _of(self, dtype: np.dtype[Any]) -> Any:
        """Make what a call needs, for data of this type."""
        raise NotImplementedError

    def _for(self, dtype: np.dtype[Any]) -> Any:
        """Give what a call needs; what was refused for this type when the op was made is refused again, by name."""
        found = self._made_for.get(dtype)
        return self._of(dtype) if found is None else found


def codes(x: ArrayLike, name: str) -> NDArray[Any]:
    """Give data of a call: codes of uint8 or int8."""
    return native(as_array(x, name), name, check.CODES_8)


def scale_above_0(value: ArrayLike, name: str) -> np.float32:
    """Give one scale above 0, in float32."""
    scale = F32(check.one_value(check.scale(value, name, ("float32",)), name))
    if not scale > 0:
        raise bad_value(name, f"expected a number above 0, got {scale!s}")
    return scale


def zero_of(value: ArrayLike | None, name: str, dtype: np.dtype[Any]) -> int:
    """Give one zero point; one that is left out is 0."""
    return int(check.one_value(check.zero_point(0 if value is None else value, name, dtype), name))

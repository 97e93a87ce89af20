"""`Unary`, the base of ops of one array: what becomes of each code stands in a table, made once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import output
from qops.tflite import _checks as check
from qops.tflite.op import OneArray

__all__ = ["Unary"]


class Unary(OneArray):
    """A prepared op of one array. A subclass says what the codes become, `_made`."""

    __slots__ = ("_least", "_table")

    def _fill(self, given: SimpleNamespace) -> None:
        lowest, highest = check.ends(self._dtype)
        self._least = self._from(given)
        codes = np.arange(lowest, highest + 1)
        made = self._made(np.maximum(codes, self._least), given)
        table = np.clip(made, lowest, highest).astype(self._dtype)
        self._table = np.roll(table, lowest)  # begins with code 0
        self._table.flags.writeable = False

    @property
    def integers(self) -> dict[str, Any]:
        """What all codes become, from the lowest code on: a port may hold it as a table."""
        return {"table": np.roll(self._table, -check.ends(self._dtype)[0])}

    def _from(self, given: SimpleNamespace) -> int:
        """Give the lowest code that the op takes."""
        return check.ends(self._dtype)[0]

    def _made(self, x: NDArray[np.int64], given: SimpleNamespace) -> NDArray[Any]:
        """Give what becomes of codes, before they are clamped to their type; it may be infinite."""
        raise NotImplementedError

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = self._codes(x)
        codes = output(out, self._dtype.num, data)
        if self._least > check.ends(self._dtype)[0] and data.size and data.min() < self._least:
            raise ValueError(f"x: expected codes from {self._least} on, got {data.min()}")
        if data.itemsize == 1:
            look_up_bytes(data, self._table, codes)
        else:
            codes[...] = self._table[data.view(np.uint16)]
        return codes

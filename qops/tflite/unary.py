"""`Tabled` and `Unary`, bases of ops of one array: what becomes of each code stands in a table, made once."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import output
from qops.tflite import _checks as check
from qops.tflite.arithmetic import Codes
from qops.tflite.op import OneArray, PreparedOp
from qops.tflite.tables import Function, interpolated, of_8_bits, of_16_bits

__all__ = ["Tabled", "Unary"]


class Tabled(PreparedOp):
    """A prepared op of one array. A subclass says what the codes become, `_unclamped`."""

    __slots__ = ("_least", "_table")
    _from_zero_point: ClassVar[bool] = False
    """Whether codes below the zero point are refused."""

    def _fill(self, given: SimpleNamespace) -> None:
        self._least = given.x_zero_point if self._from_zero_point else check.ends(self._dtype)[0]
        self._table = self._tabled_codes(lambda x: self._unclamped(x, given))

    def _tabled_codes(self, function: Callable[[Codes], NDArray[Any]]) -> NDArray[Any]:
        """Give the table of a function of codes, clamped to their type; it begins with code 0."""
        lowest, highest = check.ends(self._dtype)
        made = function(np.maximum(np.arange(lowest, highest + 1), self._least))
        table = np.clip(made, lowest, highest).astype(self._dtype)
        table = np.concatenate([table[-lowest:], table[:-lowest]])
        table.flags.writeable = False
        return table

    @property
    def integers(self) -> dict[str, Any]:
        """The results of all codes, from the lowest code on; a port may hold them as a table."""
        return {"table": np.roll(self._table, -check.ends(self._dtype)[0])}

    def _unclamped(self, x: Codes, given: SimpleNamespace) -> NDArray[Any]:
        """Give what becomes of codes, before they are clamped to their type; it may be infinite."""
        raise NotImplementedError

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of `x`, in `out` if it is given."""
        data = self._codes(x)
        codes = output(out, self._dtype.num, data)
        if self._least > check.ends(self._dtype)[0] and data.size and data.min() < self._least:
            raise bad_value("x", f"expected codes from {self._least} on, got {data.min()}")
        if data.itemsize == 1:
            look_up_bytes(data, self._table, codes)
        else:
            codes[...] = self._table[data.view(np.uint16)]
        return codes


class Unary(Tabled, OneArray):
    """A prepared op of one array, which has a scale and a zero point, and so has the result."""

    __slots__ = ()

    def _tabled(self, function: Function, x: Codes, given: SimpleNamespace, zero_point: str = "outside") -> Any:
        """Give the codes of a function of real numbers: those of 16 bits are interpolated."""
        ends = (given.x_scale, given.x_zero_point), (given.y_scale, given.y_zero_point)
        if self._dtype == np.int16:
            return interpolated(of_16_bits(function, *ends, fuses=self._facts.fuses), x)
        near = x - given.x_zero_point
        return of_8_bits(function, near, given.x_scale, ends[1], zero_point, self._facts.fuses)

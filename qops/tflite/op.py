"""`PreparedOp`, the base of this room's prepared ops: it checks arguments by name, which mean the same in all ops."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import renamed
from qops.checks import as_array, choice, flag, int32, native, number
from qops.prepared import Prepared
from qops.tflite import _checks as check
from qops.tflite.kernels import Kernel, kernel_for

__all__ = ["OneArray", "PreparedOp"]

CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "stride": check.pair,
    "dilation": check.pair,
    "window": check.pair,
    "padding": lambda value, name: choice(value, name, check.PADDINGS),
    "x_scale": check.scale,
    "a_scale": check.scale,
    "b_scale": check.scale,
    "y_scale": check.scale,
    "alpha_scale": check.scale,
    "beta": number,
    "keep_dims": flag,
    "pot_scale_int16": flag,
    "align_corners": flag,
    "half_pixel_centers": flag,
    "approximate": flag,
    "adj_x": flag,
    "adj_y": flag,
    "keep_num_dims": flag,
    "time_major": flag,
}
"""How an argument of this name is checked."""


class PreparedOp(Prepared):
    """A prepared op of TFLite. A subclass has a `_name`, and defines `_fill`, which prepares what calls need."""

    __slots__ = ("_dtype", "_facts")

    _name: ClassVar[str]
    _data: ClassVar[str] = "x"
    """The name of the first array of a call."""
    _any_zero_point: ClassVar[tuple[str, ...]] = ()
    """Zero points that may be any int32, but for codes of int16."""
    _own_checks: ClassVar[tuple[str, ...]] = ()
    """Arguments that `_fill` checks."""
    _dtype: np.dtype[Any]
    _facts: Kernel

    def _prepare(self, once: bool) -> None:
        given = SimpleNamespace(**self._arguments)
        self._dtype = check.dtype_of(given.dtype, self._name)
        self._facts = kernel_for(given.kernel, self._name, self._dtype)
        for name in self._argument_names:
            value = self._arguments[name]
            if name in self._own_checks:
                continue
            if name in CHECKS:
                setattr(given, name, CHECKS[name](value, name))
            elif name in self._any_zero_point and self._facts.any_zero_point and self._dtype != np.int16:
                setattr(given, name, int32(value, name))
            elif name in ("x_zero_point", "a_zero_point", "b_zero_point", "y_zero_point"):
                setattr(given, name, check.zero_point(value, name, self._dtype))
        try:
            with np.errstate(all="ignore"):  # a factor that is not finite is refused
                self._fill(given)
        except ValueError as why:
            if getattr(why, "argument", None) != "scale":
                raise
            names = [name for name in self._argument_names if name.endswith("_scale")]
            raise renamed(why, ", ".join(names)) from None

    @classmethod
    def _on(cls, given: dict[str, Any], data: ArrayLike, *call: Any) -> Any:
        """Make the op for the type of `data`, and call it; `given`: what its constructor takes but `dtype`, by name."""
        codes = check.codes(data, cls._data, cls._name)
        op: Any = cls._once({**given, "dtype": codes.dtype})
        return op(codes, *call)

    def _fill(self, given: SimpleNamespace) -> None:
        """Prepare what calls need, of arguments that are checked."""
        raise NotImplementedError

    @property
    def depends_on_place(self) -> bool:
        """Whether a code depends on where it lies in the data, or on how many there are, as in blocks of kernels."""
        return False

    @property
    def integers(self) -> dict[str, Any]:
        """The integers made of scales and zero points, by name, if there are any. Shifts are positive to the left."""
        return {}

    def _codes(self, x: ArrayLike, name: str = "x") -> NDArray[Any]:
        """Give data of a call, which has the type that the op is for."""
        data = as_array(x, name)
        return data if data.dtype == self._dtype and data.dtype.isnative else native(data, name, (self._dtype.name,))

    def _limits(self, given: SimpleNamespace, taken: bool = True, checks: bool = True) -> tuple[int, int]:
        """Give the lowest and the highest code after the fused activation; `taken`: not left to the next kernels."""
        rounding = self._facts.limits if taken and self._dtype.itemsize == 1 else "outside"
        return check.limits(given.activation, given.y_scale, given.y_zero_point, self._dtype, rounding, checks)


class OneArray(PreparedOp):
    """A prepared op of one array: the array and the result have a scale and a zero point each."""

    __slots__ = ()

    def __init__(
        self,
        *,
        x_scale: float,
        x_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

"""Sums and products of codes that numpy's float32 operations make: rules of systems that no loop has.

Each operation of numpy on float32 arrays is one rounding, as in the formulas of `ADD` and `MUL`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops._kernels.stage.binary import check_type
from qops._kernels.stage.binary_rules import Operands
from qops.checks import as_array, check_out, integer, put
from qops.codes import of_dtype
from qops.rules.operands import BinaryRule
from qops.rules.scales import fma

__all__ = ["FORMS", "ArrayBinary"]

Array = NDArray[Any]
F32 = np.float32


class _Numbers(NamedTuple):
    """Scales as float32, that of the result also in double, and its zero point."""

    a: Any
    b: Any
    y: Any
    y_in_double: float
    zero_point: Any


def _fused_product(a: Array, b: Array, n: _Numbers) -> Array:
    return np.rint(fma(a * b, n.a * n.b / n.y, n.zero_point))


def _real_product(a: Array, b: Array, n: _Numbers) -> Array:
    return np.asarray(np.rint((a * n.a) * (b * n.b) * F32(1 / n.y_in_double)) + n.zero_point)


def _real_sum(a: Array, b: Array, n: _Numbers) -> Array:
    return np.asarray(np.rint((a * n.a + b * n.b) * F32(1 / n.y_in_double)) + n.zero_point)


def _divided_sum(a: Array, b: Array, n: _Numbers) -> Array:
    return np.rint(fma(a, n.a, n.b * b) / n.y + n.zero_point)


FORMS: dict[str, Callable[[Array, Array, _Numbers], Array]] = {
    "numpy, fused product": _fused_product,
    "numpy, real product": _real_product,
    "numpy, real sum": _real_sum,
    "numpy, divided sum": _divided_sum,
}
"""What makes the codes of two arrays of float32, codes less their zero points: words of `BinaryRule.made`."""


class ArrayBinary:
    """All arguments of `qops.rules.add` or `mul` but the data, checked, for a rule that a form of numpy computes.

    Parameters
    ----------
    row : BinaryRule
        The row of the rule.
    rule : str
        Its name.
    dtype : data type
        Type of the three tensors: uint8 or int8.
    name : str
        The caller's name of what has this type.
    zeros, scales : tuple
        Of a, b and y.
    integers, qmin, qmax
        As `qops.rules.add` takes them.
    """

    __slots__ = ("_form", "_numbers", "_rule", "dtype", "operands")

    def __init__(
        self,
        row: BinaryRule,
        rule: str,
        dtype: Any,
        name: str,
        zeros: Any,
        scales: Any,
        integers: Any,
        qmin: Any,
        qmax: Any,
    ) -> None:
        check_type(dtype, name, rule, {rule: row})
        self._form, self._rule, self.dtype = FORMS[row.made], rule, dtype
        codes = of_dtype(dtype)
        lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
        hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
        if integers is not None:
            raise self._has_none()
        given = (part for pair in zip(scales, zeros, strict=True) for part in pair)
        own = self.operands = Operands(dtype, *given, lo, hi)
        with np.errstate(all="ignore"):
            a, b, y = (F32(scale) for scale in (own.a_scale, own.b_scale, own.y_scale))
            width = F32(codes.highest - codes.lowest)
            largest = (width * a) * (width * b), width * a + width * b, a * b / y, F32(1 / own.y_scale), F32(1) / y
        if not (np.isfinite(largest).all() and min(a, b, y) > 0):
            says = f"{own.a_scale}, {own.b_scale}, {own.y_scale} are out of the range of {rule}"
            raise bad_value("a_scale, b_scale, y_scale", f"{says}: float32 does not hold what is made of them")
        self._numbers = _Numbers(a, b, y, own.y_scale, F32(own.y_zero_point))

    def _has_none(self) -> ValueError:
        return bad_value("integers", f"{self._rule} multiplies by the scales themselves, in float32")

    @property
    def integers(self) -> Any:
        """ValueError: these rules have no integers."""
        raise self._has_none()

    def __call__(self, a: Any, b: Any, out: Array | None = None) -> Array:
        """Give the codes of two arrays, in `out` if that is given."""
        check_rounding()
        x, y = as_array(a, "a"), as_array(b, "b")
        for codes, name in ((x, "a"), (y, "b")):
            if codes.dtype != self.dtype:
                raise bad_type(name, f"expected {self.dtype} data, got {codes.dtype}")
        if x.shape != y.shape:
            raise bad_value("a, b", f"expected equal shapes, got {x.shape} and {y.shape}")
        if out is not None:
            check_out(out, self.dtype.num, x.shape, [x, y])
        own = self.operands
        left, right = (v.astype(F32) - F32(zero) for v, zero in ((x, own.a_zero_point), (y, own.b_zero_point)))
        with np.errstate(over="ignore"):
            made = self._form(np.asarray(left), np.asarray(right), self._numbers)
        return put(np.clip(made, own.qmin, own.qmax).astype(self.dtype), out)

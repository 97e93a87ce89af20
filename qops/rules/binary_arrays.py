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


class _OperandNumbers(NamedTuple):
    """Scales and zero points as float32, the scale of the result also in double."""

    a: Any
    b: Any
    y: Any
    y_in_double: float
    zero_point: Any
    a_zero_point: Any
    b_zero_point: Any


def _fused_product(a: Array, b: Array, n: _OperandNumbers) -> Array:
    return np.rint(fma(a * b, n.a * n.b / n.y, n.zero_point))


def _real_product(a: Array, b: Array, n: _OperandNumbers) -> Array:
    return np.asarray(np.rint((a * n.a) * (b * n.b) * F32(1 / n.y_in_double)) + n.zero_point)


def _real_sum(a: Array, b: Array, n: _OperandNumbers) -> Array:
    return np.asarray(np.rint((a * n.a + b * n.b) * F32(1 / n.y_in_double)) + n.zero_point)


def _divided_sum(a: Array, b: Array, n: _OperandNumbers) -> Array:
    return np.rint(fma(a, n.a, n.b * b) / n.y + n.zero_point)


def _sum_with_an_offset(a: Array, b: Array, n: _OperandNumbers) -> Array:
    """Of codes with their zero points, as Arm's Compute Library adds them."""
    left, right = n.a / n.y, n.b / n.y
    offset = fma(-right, n.b_zero_point, n.zero_point - left * n.a_zero_point)
    return np.asarray(np.rint((a + n.a_zero_point) * left + ((b + n.b_zero_point) * right + offset)))


_SUMS_END = 62  # any larger shift leaves 0 of the sums below, which have at most 39 bits


def _sum_that_shifts_left(a: Array, b: Array, n: _OperandNumbers) -> Array:
    """As XNNPACK adds with multipliers of 21 bits: a shift below 0 goes to the left, in int32."""
    ratios = n.a / n.y, n.b / n.y
    shift = 20 - (int(np.frexp(max(ratios))[1]) - 1)
    left, right = (int(np.rint(np.ldexp(float(ratio), shift))) for ratio in ratios)
    total = a.astype(np.int64) * left + b.astype(np.int64) * right
    shift = min(shift, _SUMS_END)
    near = total + (1 << shift >> 1) >> shift if shift >= 0 else (total << -shift).astype(np.int32).astype(np.int64)
    return np.asarray(np.clip(near, -(2**15), 2**15 - 1) + int(n.zero_point)).astype(np.float64)


FORMS: dict[str, Callable[[Array, Array, _OperandNumbers], Array]] = {
    "numpy, fused product": _fused_product,
    "numpy, real product": _real_product,
    "numpy, real sum": _real_sum,
    "numpy, divided sum": _divided_sum,
    "numpy, sum with an offset": _sum_with_an_offset,
    "numpy, sum that shifts left": _sum_that_shifts_left,
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

    __slots__ = ("_form", "_has_low_bits", "_numbers", "_rule", "_width", "dtype", "operands")

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
        self._width, self._has_low_bits = row.width, row.beyond == "low bits" or bool(row.tail)
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
        zeros_of = F32(own.y_zero_point), F32(own.a_zero_point), F32(own.b_zero_point)
        self._numbers = _OperandNumbers(a, b, y, own.y_scale, *zeros_of)

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
            if self._has_low_bits:  # of all elements, or of those that do not fill a width
                made = np.array(made, np.float64, order="C")  # also of no axis
                rest = made.reshape(-1)[made.size // self._width * self._width if self._width else 0 :]
                wide = rest.clip(-(2.0**63), 2.0**63 - 1024).astype(np.int64).astype(np.int32)
                rest[...] = np.where(rest >= 2.0**63, -1, wide)  # int64 saturates
        return put(np.clip(made, own.qmin, own.qmax).astype(self.dtype), out)

"""Quantizers that numpy's float32 operations make: scales of channels, rows and blocks, and roundings of a few systems.

Each operation of numpy on float32 arrays is one rounding, as in the formulas of `qops.rules.QUANTIZE`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops.checks import as_array, check_out, float32s, integer, number, put, shown, two_ends
from qops.codes import CodeType
from qops.rules.quantize_rules import QUANTIZE, QuantizeRule
from qops.rules.roundings import ROUNDINGS
from qops.rules.scales import fma

__all__ = ["ArrayQuantization", "Spread", "quotients"]

Array = NDArray[Any]
F32, F64 = np.float32, np.float64
_BLOCK = 2**14  # values at once: what numpy makes of them between its operations stays in the cache
_S32, _S64 = 2.0**31, 2.0**63


class Spread(NamedTuple):
    """How numbers are spread over an array: one number for all, or one for each channel, or for each block of an axis.

    Attributes
    ----------
    axis : int or None
        The axis of the channels or blocks; None for one number.
    block : int or None
        How many neighbours along the axis share a number; None: each index of the axis has one.
    """

    axis: int | None
    block: int | None

    def over(self, values: Array, shape: tuple[int, ...], name: str) -> Array:
        """Give the numbers so that they broadcast against an array of a shape; ValueError if they do not fit it.

        Parameters
        ----------
        values : ndarray
            The numbers.
        shape : tuple of int
            Shape of the array.
        name : str
            Name of the argument that has them, for errors.

        Returns
        -------
        ndarray
        """
        if values.ndim == 0 or self.axis is None:
            return values
        axis = integer(self.axis, "axis", -len(shape), len(shape) - 1) % max(len(shape), 1)
        if self.block is None:
            if values.shape != (shape[axis],):
                raise bad_value(name, f"shape {values.shape} does not fit axis {axis} of x, shape {shape}")
            return values.reshape([-1 if i == axis else 1 for i in range(len(shape))])
        wanted = tuple(-(-n // self.block) if i == axis else n for i, n in enumerate(shape))
        if values.shape != wanted:
            raise bad_value(name, f"expected shape {wanted}, blocks of {self.block} of x, got {values.shape}")
        return np.repeat(values, self.block, axis)[tuple(map(slice, shape))]


def quotients(row: QuantizeRule, x: Array, scale: Array, zero_point: Array) -> Array:
    """Give the values in code steps, before they are rounded; with the zero point, if that is inside.

    Parameters
    ----------
    row : QuantizeRule
        Its product is any but "range".
    x : ndarray of float32
        Values.
    scale : ndarray of float64
        Scales, which broadcast against x.
    zero_point : ndarray of int
        Zero points, which do, too.

    Returns
    -------
    ndarray of float32 or float64
    """
    step, zero = scale.astype(F32), zero_point.astype(F32)
    if row.product == "over in double":
        return np.asarray(x.astype(F64) / step.astype(F64))
    if row.product == "over":
        near = x / step
    else:
        inverse = (1 / (scale if row.product == "times, inverse in double" else step.astype(F64))).astype(F32)
        if row.product == "fused":
            return fma(x, inverse, zero)
        near = x * inverse
    return np.asarray(near + zero if row.zero_point == "inside" else near)


def _codes(row: QuantizeRule, whole: Array, shift: Array | int, codes: CodeType, lowest: int, highest: int) -> Array:
    """Give the codes of whole numbers: z is added to them, if it is outside, and what the type does not hold is cut."""
    if row.beyond in ("saturates", "lowest of int64"):
        if row.beyond == "lowest of int64":
            whole = np.where(np.abs(whole) < _S64, whole, -_S64)
        return np.clip(whole + np.asarray(shift, whole.dtype), lowest, highest)  # a sum that is not exact saturates
    if row.beyond == "cut, wraps":
        kept = np.clip(whole.astype(F64), -_S32, _S32 - 128)
    else:
        kept = np.where((whole >= -_S32) & (whole < _S32), whole, -_S32)
    total = np.asarray(kept.astype(np.int64) + shift).astype(np.int32)  # wraps
    return np.asarray(total.astype(codes.dtype) if row.beyond == "cast" else np.clip(total, lowest, highest))


class ArrayQuantization:
    """All arguments of `qops.rules.quantize` but the data, checked; called with data, it gives their codes.

    Parameters
    ----------
    codes : CodeType
        Type of the result.
    rule, scale, zero_point, qmin, qmax, axis, block, range
        As `qops.rules.quantize` takes them.
    """

    __slots__ = (
        "_codes",
        "_ends",
        "_has_inverse",
        "_row",
        "_spread",
        "_steps",
        "dtype",
        "range",
        "scale",
        "zero_point",
    )

    def __init__(
        self,
        codes: CodeType,
        rule: str,
        scale: ArrayLike | None,
        zero_point: ArrayLike,
        qmin: int | None,
        qmax: int | None,
        axis: int | None,
        block: int | None,
        range: tuple[float, float] | None,
    ) -> None:
        row = self._row = QUANTIZE[rule]
        if row.beyond == "cast" and (qmin is not None or qmax is not None):
            raise bad_value("qmin, qmax", f"{rule} clamps to nothing, it keeps the low bits; got {qmin}, {qmax}")
        low = codes.lowest + (row.is_narrow and codes.lowest < 0)
        lowest = low if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
        highest = codes.highest if qmax is None else integer(qmax, "qmax", lowest, codes.highest)
        self._codes, self._ends, self.dtype = codes, (lowest, highest), codes.dtype
        self._spread = Spread(
            None if axis is None else integer(axis, "axis", -64, 63),
            None if block is None else integer(block, "block", 1, 2**31 - 1),
        )
        if axis is None and block is not None:
            raise bad_value("axis", f"missing, it says along which axis the blocks of {block} lie")
        if row.width and axis is not None:
            raise bad_value("axis", f"blocks of {row.width} elements of {rule} have one scale, got an axis, {axis}")
        self.range: tuple[float, float] | None = None
        self._steps: tuple[Any, Any] | None = None
        self.scale: Any = None
        if row.product == "range":
            self._set_range(rule, scale, zero_point, axis, range)
            return
        if range is not None:
            raise bad_value("range", f"{rule} takes a scale and a zero point, got a range, {shown(range)}")
        self.scale = _numbers(scale, "scale", axis)
        self.zero_point = _zeros(zero_point, axis, codes)
        with np.errstate(all="ignore"):
            steps = self.scale.astype(F32)
            self._has_inverse = bool(np.isfinite(F32(1) / steps).all())
        if not np.all((steps > 0) & np.isfinite(steps)):
            raise bad_value("scale", f"expected numbers above 0 that float32 holds, got {shown(scale)}")

    def _set_range(self, rule: str, scale: Any, zero_point: Any, axis: int | None, range: Any) -> None:
        if range is None or scale is not None or axis is not None or np.ndim(zero_point) or zero_point:
            raise bad_value("range", f"{rule} takes (min, max) instead of scale, zero_point and axis")
        with np.errstate(all="ignore"):
            lo, hi = (F32(number(end, "range")) for end in two_ends(range, "range"))
            factor = F32(self._codes.highest - self._codes.lowest) / (hi - lo)
            self._steps = factor, -lo * factor
        if not (lo < hi and np.isfinite([lo, hi, *self._steps]).all()):
            raise bad_value("range", f"expected min < max with a step that float32 holds, got {shown(range)}")
        self.zero_point, self.range = np.array(0), (float(lo), float(hi))

    def __call__(self, x: ArrayLike, out: Array | None = None) -> Array:
        """Give the codes of values, in `out` if it is given."""
        check_rounding()
        values = float32s(as_array(x, "x"), "x")
        if out is not None:
            check_out(out, self.dtype.num, values.shape, [as_array(x, "x")])
        if np.isnan(values).any():
            raise bad_value("x", "has NaN, which has no code")
        if self._spread.axis is not None:
            scale = self._spread.over(self.scale, values.shape, "scale")
            zero = self._spread.over(self.zero_point, values.shape, "zero_point")
            return put(self._codes_of(values, scale, zero), out)
        flat, made = np.ascontiguousarray(values).reshape(-1), np.empty(values.size, self.dtype)
        for i in range(0, flat.size, _BLOCK):
            made[i : i + _BLOCK] = self._codes_of(flat[i : i + _BLOCK], self.scale, self.zero_point)
        return put(made.reshape(values.shape), out)

    def _codes_of(self, values: Array, scale: Any, zero: Any) -> Array:
        row, shift = self._row, zero
        with np.errstate(all="ignore"):
            if self._steps is not None:
                factor, plus = self._steps
                whole: Array = np.asarray(np.rint(values * factor + plus))
                shift = self._codes.lowest
            else:
                near = quotients(row, values, scale, zero)
                if not self._has_inverse and np.isnan(near).any():
                    raise bad_value("scale", f"{shown(self.scale)} has no reciprocal in float32, which the rule takes")
                whole, shift = ROUNDINGS[row.rounding](near), 0 if row.zero_point == "inside" else zero
            return _codes(row, whole, shift, self._codes, *self._ends).astype(self.dtype)


def _numbers(values: ArrayLike | None, name: str, axis: int | None) -> Array:
    if values is None:
        raise bad_value(name, "missing, expected a number above 0, or an array of them with an axis")
    found = as_array(values, name)
    if found.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {found.dtype}")
    if found.ndim and axis is None:
        raise bad_value(name, f"expected one number where no axis is given, got shape {found.shape}")
    if not np.isfinite(found).all():
        raise bad_value(name, f"expected finite numbers, got {shown(values)}")
    copy = found.astype(F64)
    copy.flags.writeable = False
    return copy


def _zeros(values: ArrayLike, axis: int | None, codes: CodeType) -> Array:
    found = as_array(values, "zero_point")
    if found.ndim == 0:
        return np.array(integer(values, "zero_point", codes.lowest, codes.highest))
    if found.dtype.kind not in "iu":
        raise bad_type("zero_point", f"expected integers, got {found.dtype}")
    if axis is None:
        raise bad_value("zero_point", f"expected one number where no axis is given, got shape {found.shape}")
    if found.size and not codes.lowest <= found.min() <= found.max() <= codes.highest:
        raise bad_value("zero_point", f"expected codes of {codes.dtype}, got {shown(values)}")
    copy = found.astype(np.int64)
    copy.flags.writeable = False
    return copy

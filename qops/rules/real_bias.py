"""Requantization with a real bias, by a rule of `REAL_BIAS`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops.checks import as_array, check_out, int32, integer, number, put, shown, two_ends
from qops.codes import CodeType
from qops.rules.bias_rules import REAL_BIAS, BiasNumbers
from qops.rules.roundings import ROUNDINGS

__all__ = ["RealBiasRequantization", "per_channel"]

Array = NDArray[Any]
F32, F64 = np.float32, np.float64


class RealBiasRequantization:
    """All arguments of `qops.rules.requantize` but the data, checked, for a rule of `REAL_BIAS`.

    Called with accumulators, it gives their codes.

    Parameters
    ----------
    rule : str
        A name in `REAL_BIAS`.
    codes : CodeType
        Type of the result.
    numbers : dict
        The other arguments of `qops.rules.requantize`, by name.
    """

    __slots__ = (
        "_rule",
        "axis",
        "bias",
        "dtype",
        "ends",
        "in_zero_point",
        "range",
        "scales",
        "w_sums",
        "x_zero",
        "zero",
    )

    def __init__(self, rule: str, codes: CodeType, numbers: dict[str, Any]) -> None:
        row, self._rule = REAL_BIAS[rule], rule
        for name in ("scale", "integers"):
            if numbers[name] is not None:
                raise bad_value(name, f"{rule} adds a bias between its scales, so give it scales")
        for name in ("bias", "range", "w_sums"):
            if (numbers[name] is not None) != (name in row.takes):
                says = "missing" if name in row.takes else f"given, {rule} takes none"
                raise bad_value(name, f"{says}")
        self.dtype, self.axis = codes.dtype, int32(numbers["axis"], "axis", -64, 63)
        self.in_zero_point = int32(numbers["in_zero_point"], "in_zero_point")
        self.zero = integer(numbers["zero_point"], "zero_point", codes.lowest, codes.highest)
        self.x_zero = int32(numbers["x_zero_point"], "x_zero_point")
        if self.zero and not row.zero_point:
            raise bad_value("zero_point", f"{rule} has none, got {self.zero}")
        if self.x_zero and "w_sums" not in row.takes:
            raise bad_value("x_zero_point", f"{rule} does not read it, got {self.x_zero}")
        low = codes.lowest + (row.is_narrow and codes.lowest < 0)
        lowest = low if numbers["qmin"] is None else integer(numbers["qmin"], "qmin", codes.lowest, codes.highest)
        highest = codes.highest if numbers["qmax"] is None else integer(numbers["qmax"], "qmax", lowest, codes.highest)
        self.ends = lowest, highest
        self.range = _range_of(numbers["range"], codes) if "range" in row.takes else None
        self.scales = _scales(numbers["scales"], self.range is not None)
        self.bias = per_channel(numbers["bias"], "bias", F32)
        self.w_sums = per_channel(numbers["w_sums"], "w_sums", np.int64)

    def __call__(self, acc: ArrayLike, out: Array | None = None) -> Array:
        """Give the codes of accumulators, in `out` if it is given."""
        check_rounding()
        x, row = as_array(acc, "acc"), REAL_BIAS[self._rule]
        if x.dtype.kind not in "iu":
            raise bad_type("acc", f"expected integers, got {x.dtype}")
        sums = x.astype(np.int64) - self.in_zero_point
        if sums.size and not -(2**31) <= sums.min() <= sums.max() < 2**31:
            raise bad_value("acc", f"int32 does not hold its values, {sums.min()} to {sums.max()}")
        if out is not None:
            check_out(out, self.dtype.num, x.shape, [x])
        with np.errstate(all="ignore"):
            steps = row.steps(sums, *row.made(self._along(sums.shape)))
        if np.isnan(steps).any():
            raise bad_value("scales", f"float32 does not hold what {self._rule} makes of {shown(self.scales)}")
        shift = self.zero if row.zero_point == "outside" else 0
        codes = np.clip(ROUNDINGS[row.rounding](steps).astype(F64) + shift, *self.ends)
        return put(codes.astype(self.dtype), out)

    @property
    def of_channels(self) -> dict[str, Any]:
        """The numbers that channels may have, beside the scales."""
        return {"bias": self.bias, "w_sums": self.w_sums}

    @property
    def made(self) -> tuple[Any, ...]:
        """The numbers that the C of the rule takes: each one, or one for each channel."""
        with np.errstate(all="ignore"):
            return REAL_BIAS[self._rule].made(self._numbers(self.scales[1], self.bias, self.w_sums))

    def _numbers(self, w_scale: Any, bias: Any, w_sums: Any) -> BiasNumbers:
        lo, hi = self.range or (None, None)
        return BiasNumbers(self.scales[0], w_scale, self.scales[2], bias, self.zero, lo, hi, w_sums, self.x_zero)

    def _along(self, shape: tuple[int, ...]) -> BiasNumbers:
        """The numbers, those of channels so that they broadcast along the axis."""
        axis = integer(self.axis, "axis", -len(shape), len(shape) - 1) % len(shape) if shape else 0
        found = []
        for values, name in ((self.scales[1], "scales: w_scale"), (self.bias, "bias"), (self.w_sums, "w_sums")):
            if values is not None and values.size > 1 and values.shape != shape[axis : axis + 1]:
                raise bad_value(name, f"{len(values)} of them do not fit axis {self.axis} of acc, shape {shape}")
            one = values is None or values.size == 1
            at = () if one else tuple(-1 if i == axis else 1 for i in range(len(shape)))
            found.append(None if values is None else values.reshape(at))
        return self._numbers(*found)


def _scales(scales: Any, has_range: bool) -> tuple[Any, Any, Any]:
    names = "scales: in_scale", "scales: w_scale", "scales: out_scale"
    if not isinstance(scales, tuple | list) or len(scales) != 3:
        raise bad_type("scales", f"expected (in_scale, w_scale, out_scale), got {shown(scales)}")
    if has_range != (scales[2] is None):
        says = "None beside a range" if has_range else "a number"
        raise bad_value("scales", f"out_scale: expected {says}, got {shown(scales[2])}")
    found = []
    for value, name in zip(scales[: 2 if has_range else 3], names, strict=False):
        each = per_channel(value, name, F64) if name == names[1] else F64(number(value, name))
        with np.errstate(all="ignore"):
            kept = [np.asarray(v).astype(F32) for v in (each, 1 / each)]
        if not all(((v > 0) & np.isfinite(v)).all() for v in kept):
            raise bad_value(name, f"expected finite numbers above 0, also in float32, got {shown(value)}")
        found.append(each)
    return found[0], found[1], None if has_range else found[2]


def per_channel(values: Any, name: str, dtype: Any) -> Any:
    """Give numbers, one or one for each channel, as a read-only array of a type; None for None.

    Parameters
    ----------
    values : array_like or None
        What the caller gave.
    name : str
        The caller's name of it.
    dtype : type
        float32, float64 or int64.

    Returns
    -------
    ndarray or None
    """
    if values is None:
        return None
    found = as_array(values, name)
    if found.dtype.kind not in ("iu" if dtype is np.int64 else "fiu") or found.ndim > 1:
        kind = "integers" if dtype is np.int64 else "numbers"
        raise bad_type(name, f"expected {kind}, one or one for each channel, got {found.dtype}, shape {found.shape}")
    with np.errstate(over="ignore"):
        copy = found.astype(dtype)
    if not np.isfinite(copy).all():
        raise bad_value(name, f"expected finite numbers, got {shown(values)}")
    copy.flags.writeable = False
    return copy


def _range_of(ends: Any, codes: CodeType) -> tuple[Any, Any]:
    if codes.lowest or codes.highest != 255:
        raise bad_type("dtype", f"a range is one of uint8 codes, got {codes.dtype}")
    with np.errstate(over="ignore"):
        lo, hi = (F32(number(end, "range")) for end in two_ends(ends, "range"))
    if not (lo < hi and np.isfinite(hi - lo)):
        raise bad_value("range", f"expected min < max whose difference float32 holds, got {shown(ends)}")
    return lo, hi

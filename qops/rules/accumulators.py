"""Requantize by a rule's name: accumulators to codes."""

from __future__ import annotations

from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.stage.calls import KnownCodes
from qops._kernels.stage.rows import Codes
from qops.codes import of_dtype
from qops.fixedpoint import Multiplier
from qops.qtensor import as_array, check_out, int32, integer, number
from qops.rules.numbers import FLOATS, SINGLES, Numbers, rule_of
from qops.rules.table import TABLE

__all__ = ["integers", "requantize"]

_KNOWN = KnownCodes()
_FEW = 4096  # channels whose numbers are kept for the next call


def _fits(multiplier: Any, right_shift: Any) -> Any:
    return (multiplier >= -(2**31)) & (multiplier < 2**31) & (right_shift >= 0) & (right_shift <= 62)


def _given(integers: Any) -> tuple[Any, Any]:
    """The multiplier and right shift: numbers, or int64 arrays with one a channel."""
    if isinstance(integers, tuple) and [type(x) for x in integers] == [int, int] and _fits(*integers):
        return integers
    try:
        multiplier, right_shift = (np.asarray(x) for x in integers)
        if multiplier.shape != right_shift.shape:
            multiplier, right_shift = np.broadcast_arrays(multiplier, right_shift)
    except (TypeError, ValueError):
        raise TypeError(f"integers: expected (multiplier, right_shift), got {integers!r:.80}") from None
    if multiplier.dtype.kind not in "iu" or right_shift.dtype.kind not in "iu" or multiplier.ndim > 1:
        raise TypeError(f"integers: expected integers, one pair or one a channel, got {integers!r:.80}")
    fits = _fits(multiplier, right_shift)
    if not fits.all():
        m, n = (x[~fits].flat[0] for x in (multiplier, right_shift))
        raise ValueError(f"integers: expected a multiplier of 32 bits and a right shift in 0..62, got ({m}, {n})")
    if multiplier.size == 1:
        return int(multiplier.reshape(())), int(right_shift.reshape(()))
    return multiplier.astype(np.int64), right_shift.astype(np.int64)


@lru_cache(maxsize=256)
def _of_one(rule: str, steps: float | tuple[int, int], zero: int, lo: int, hi: int) -> Numbers:
    """The numbers of a rule with one scale, kept for the next call with the same arguments."""
    return Numbers(TABLE[rule], steps, zero, lo, hi)


@lru_cache(maxsize=64)
def _of_few(rule: str, steps: tuple[bytes, ...], zero: int, lo: int, hi: int) -> Numbers:
    """The same for some channels: their scales as bytes, or their multipliers and their right shifts."""
    if len(steps) == 1:
        return Numbers(TABLE[rule], np.frombuffer(steps[0], np.float64), zero, lo, hi)
    return Numbers(TABLE[rule], tuple(np.frombuffer(part, np.int64) for part in steps), zero, lo, hi)


def _of_channels(rule: str, steps: Any, zero: int, lo: int, hi: int) -> Numbers:
    parts = steps if isinstance(steps, tuple) else (steps,)
    if parts[0].size > _FEW:
        return Numbers(TABLE[rule], steps, zero, lo, hi)
    return _of_few(rule, tuple([part.tobytes() for part in parts]), zero, lo, hi)


def _scales(scale: Any) -> float | NDArray[np.float64]:
    """The scales: a number, or an array with one a channel."""
    if type(scale) is float and 0 <= scale < inf:
        return scale
    values = as_array(scale, "scale")
    if values.dtype.kind not in "fiu":
        raise TypeError(f"scale: expected numbers, got {values.dtype}")
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError(f"scale: expected finite numbers, not negative, got {scale!r:.80}")
    if values.ndim > 1:
        raise ValueError(f"scale: expected one number or one a channel, got shape {values.shape}")
    return values.astype(np.float64) if values.size != 1 else float(values.reshape(()))


def requantize(
    acc: ArrayLike,
    rule: str,
    *,
    scale: ArrayLike | None = None,
    integers: tuple[ArrayLike, ArrayLike] | None = None,
    in_zero_point: int = 0,
    zero_point: int = 0,
    dtype: DTypeLike = "int8",
    qmin: int | None = None,
    qmax: int | None = None,
    axis: int = -1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Requantize accumulators by the rule of a real system, to the bit.

    ``y = clamp(round((acc - in_zero_point) * scale) + zero_point, qmin, qmax)``. `TABLE` says of each rule how it makes
    integers of the scale, how it rounds the product and where it adds the zero point.

    Parameters
    ----------
    acc : array_like of int
        Accumulators that int32 holds. Rules in integers or in float32, except rndnu16, also take up to 48 bits.
    rule : str
        A name in `TABLE`.
    scale : float or 1-D array_like of float, optional
        How many output steps an input step is (`real_scale`): one number, or one for each channel along `axis`.
    integers : (int, int), optional
        Instead of a scale: the multiplier and the total right shift of a port, or arrays of them along `axis`. TFLite's
        shift, positive to the left, is ``31 - right_shift``.
    in_zero_point : int
        Subtracted from `acc` first.
    zero_point : int
        Code of real 0 in the result.
    dtype : data type
        Type of the result: uint8, int8, uint16, int16 or int32.
    qmin, qmax : int, optional
        Codes that the result is clamped to; the ends of the type if not given.
    axis : int
        Axis of the channels.
    out : ndarray of `dtype`, optional
        Where the codes are written; of the shape of `acc`.

    Returns
    -------
    ndarray of `dtype`

    Raises
    ------
    TypeError, ValueError
        A rule that is not known; accumulators that are no integers or too large; a scale that is negative, not finite
        or out of the rule's range; neither scale nor integers, or both; another number of them than channels; an
        `out` that does not fit or overlaps `acc`.

    See Also
    --------
    integers : what a rule makes of a scale.

    Notes
    -----
    Sources: TFLite and TFLM ``common.cc``, ``quantization_util.cc``; gemmlowp ``fixedpoint.h``, ``output_stages.h``;
    XNNPACK and QNNPACK ``requantization.h``; CMSIS-NN ``arm_nnsupportfunctions.h``; the TOSA reference model.

    **Hazards.** Two roundings are not one, and a zero point inside the rounding moves its ties:

    >>> acc = [-3, 1, 3, 5]
    >>> for rule in ("tflite-double", "tflite-single", "fp32-even"):
    ...     print(rule, requantize(acc, rule, scale=0.4999999))
    tflite-double [-2  1  2  3]
    tflite-single [-1  0  1  2]
    fp32-even [-1  0  1  2]
    >>> [requantize(acc, rule, scale=0.5, zero_point=3).tolist() for rule in ("fp32-even", "fp32-even-zp-inside")]
    [[1, 3, 5, 5], [2, 4, 4, 6]]

    Examples
    --------
    >>> requantize([-1000, 0, 1000], "tflite-double", scale=0.0033, zero_point=5)
    array([2, 5, 8], dtype=int8)
    """
    made = _KNOWN(acc, out, rule, scale, integers, zero_point, dtype, qmin, qmax, in_zero_point, axis)
    if made is not None:
        return made
    rule_of(rule)
    codes = of_dtype(dtype)
    lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
    hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
    zero = int32(zero_point, "zero_point")
    if (scale is None) == (integers is None):
        raise ValueError("scale, integers: expected one of the two, got " + ("none" if scale is None else "both"))
    steps: Any = _given(integers) if scale is None else _scales(scale)
    first = steps[0] if isinstance(steps, tuple) else steps
    by_channel = isinstance(first, np.ndarray)
    numbers = (_of_channels if by_channel else _of_one)(rule, steps, zero, lo, hi)
    moved = int32(in_zero_point, "in_zero_point")
    where = integer(axis, "axis", -64, 63)
    x = as_array(acc, "acc")
    if x.dtype.kind not in "iu":
        raise TypeError(f"acc: expected integers, got {x.dtype}")
    if by_channel:
        channels = x.shape[integer(axis, "axis", -x.ndim, x.ndim - 1)] if x.ndim else 0
        if channels != len(first):
            name = "integers" if scale is None else "scale"
            raise ValueError(f"{name}: {len(first)} of them do not fit axis {axis} of acc, shape {x.shape}")
    near = _moved(x, moved, numbers)
    if out is not None:
        check_out(out, codes.dtype.num, x.shape, [x])
    if by_channel and len(first):
        inner = max(1, prod(x.shape[where:][1:]))
        run = numbers.run(inner)  # refuses a scale that the rule cannot take
        result = _by_channel(near, run, codes.dtype, out)
    else:
        inner, result = 1, np.empty(x.shape, codes.dtype) if out is None else out
        if x.size:
            numbers.run()(near, result)
    if x.size and inner == 1:
        _KNOWN.keep(numbers.run(), rule, scale, integers, zero_point, dtype, qmin, qmax, codes.dtype.num)
    return result


def _by_channel(x: NDArray[Any], run: Codes, dtype: Any, out: NDArray[Any] | None) -> NDArray[Any]:
    """The codes with a scale for each channel."""
    made = out if out is not None and out.flags.c_contiguous and out.flags.aligned else np.empty(x.shape, dtype)
    run(x if x.flags.c_contiguous and x.flags.aligned else np.require(x, None, ["C", "A"]), made)
    if out is None or made is out:
        return made
    out[...] = made
    return out


def _moved(x: NDArray[Any], in_zero_point: int, numbers: Numbers) -> NDArray[Any]:
    """The accumulators less their zero point, as the rule reads them: int32 where that holds them, else wider."""
    if (x.dtype == np.int32 and in_zero_point == 0) or x.size == 0:
        return x.astype(np.int32, copy=False)
    rule, near = numbers.rule, np.asarray(np.subtract(x.astype(np.int32, copy=False), np.int32(in_zero_point)))
    if rule.wraps == "every step" and x.dtype == np.int32:
        return near
    least, most = int(x.min()) - in_zero_point, int(x.max()) - in_zero_point
    if min(least, -most - 1) >= -(2**31):
        return near
    if (rule.multiplier in FLOATS - SINGLES) or rule.split == "16 bits":
        raise ValueError(f"acc: int32 does not hold its values, {least} to {most}")
    if max(-least, most) >= 2**48:
        raise ValueError(f"acc: 48 bits do not hold its values, {least} to {most}")
    wide = np.asarray(x.astype(np.int64) - in_zero_point)
    if rule.multiplier in SINGLES:
        return wide.astype(np.float32)
    if rule.wraps != "every step" and int(np.max(np.abs(numbers.integers[0]))) * max(-least, most) >= 2**62:
        raise ValueError(f"acc: 64 bits do not hold {least} to {most} times the multiplier of {rule.name}")
    return wide


def integers(rule: str, scale: float) -> Multiplier:
    """Give the multiplier and the right shift that a rule makes of a real scale, as a port of the rule has them.

    Parameters
    ----------
    rule : str
        A name in `TABLE`.
    scale : float
        How many output steps an input step is.

    Returns
    -------
    Multiplier
        ``scale`` is about ``multiplier / 2**right_shift``, where `right_shift` is the whole shift.

    Raises
    ------
    TypeError, ValueError
        A rule that is not known or has no integers; a scale that is negative, not finite, or out of the rule's range.

    Notes
    -----
    Sources: as those of `requantize`.

    Examples
    --------
    >>> integers("tflite-double", 0.0033)
    Multiplier(multiplier=1814194186, right_shift=39)
    >>> integers("rndnu", 0.0033), integers("textbook7-floor", 0.0033)
    (Multiplier(multiplier=14173392, right_shift=32), Multiplier(multiplier=0, right_shift=7))
    """
    row, value = rule_of(rule), number(scale, "scale")
    if row.multiplier.startswith("float"):
        raise ValueError(f"rule: {rule} multiplies by the scale itself, in {row.multiplier}")
    if value < 0:
        raise ValueError(f"scale: {value} is negative")
    return Numbers(row, value, 0, 0, 0).multiplier

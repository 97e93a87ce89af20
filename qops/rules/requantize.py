"""Requantize by a rule's name: accumulators to codes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.checks import is_int32
from qops.codes import of_dtype
from qops.fixedpoint import Multiplier
from qops.prepared import Prepared
from qops.qtensor import as_array, int32, integer, number, output
from qops.rules.numbers import FLOATS, SINGLES, Numbers, given_integers, given_scales, rule_of

__all__ = ["Requantize", "integers", "requantize"]


class Requantize(Prepared):
    """Prepared form of `requantize`: accumulators to codes by the rule of a real system.

    It is called as ``op(acc, out=None)``, and gives the bits of `requantize`.

    Parameters
    ----------
    rule, scale, integers, in_zero_point, zero_point, dtype, qmin, qmax, axis
        Those of `requantize`. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        What `requantize` refuses, except accumulators and `out`, which are checked at each call.

    See Also
    --------
    requantize : the formula, the parameters, sources and hazards.

    Examples
    --------
    >>> op = Requantize("tflite-double", scale=0.0033, zero_point=3)
    >>> op
    Requantize('tflite-double', scale=0.0033, zero_point=3)
    >>> op.integers
    Multiplier(multiplier=1814194186, right_shift=39)
    >>> op([-1000, 0, 1000])
    array([0, 3, 6], dtype=int8)
    """

    __slots__ = ("_axis", "_channels", "_dtype", "_in_zero_point", "_numbers", "_stage", "_wide")

    def __init__(
        self,
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
    ):
        row, codes = rule_of(rule), of_dtype(dtype)
        lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
        hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
        zero = int32(zero_point, "zero_point")
        if (scale is None) == (integers is None):
            raise ValueError("scale, integers: expected one of the two, got " + ("none" if scale is None else "both"))
        steps = given_integers(integers) if scale is None else given_scales(scale)
        first = steps[0] if isinstance(steps, tuple) else steps
        self._channels = len(first) if isinstance(first, np.ndarray) else None
        self._numbers = Numbers(row, steps, zero, lo, hi)
        self._in_zero_point = int32(in_zero_point, "in_zero_point")
        self._axis = integer(axis, "axis", -64, 63)
        self._dtype = codes.dtype
        self._stage: Any = self._numbers.stage() if self._channels != 0 else None
        self._wide: Any = self._stage
        if self._stage is not None and self._numbers.can_wrap:
            self._wide = self._numbers.stage(is_wide=True)
        name = "scale" if integers is None else "integers"
        kept = {"scale": None, "integers": None, name: steps}
        self._keep(rule, *kept.values(), self._in_zero_point, zero, codes.dtype, qmin, qmax, self._axis)

    @property
    def integers(self) -> Multiplier:
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        multiplier, right_shift = self._numbers.integers
        return Multiplier(multiplier, right_shift)

    @property
    def scale(self) -> Any:
        """How many output steps an input step is: a float, or an array with one a channel."""
        return self._numbers.scale

    def __call__(self, acc: ArrayLike, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Give the codes of accumulators.

        Parameters
        ----------
        acc : array_like of int
            See `requantize`.
        out : ndarray of the dtype of the codes, optional
            Where they are written; of the shape of `acc`.

        Returns
        -------
        ndarray

        Raises
        ------
        TypeError, ValueError
            Accumulators that are no integers or too large, or do not fit the channels; an `out` that does not fit or
            overlaps `acc`.
        """
        x = as_array(acc, "acc")
        inner = 1 if self._channels is None else self._inner(x)
        near = x if self._in_zero_point == 0 and is_int32(x) else self._moved(x)
        codes = output(out, self._dtype.num, x)
        if x.size:
            (self._stage if near is x or near.dtype != np.int64 else self._wide).run(near, codes, inner)
        return codes

    def _inner(self, x: NDArray[Any]) -> int:
        """How many neighbours belong to each channel; ValueError if there are other than the channels' elements."""
        channels = x.shape[integer(self._axis, "axis", -x.ndim, x.ndim - 1)] if x.ndim else 0
        if channels != self._channels:
            name = "integers" if self._numbers.has_integers else "scale"
            raise ValueError(f"{name}: {self._channels} of them do not fit axis {self._axis} of acc, shape {x.shape}")
        return max(1, prod(x.shape[self._axis :][1:]))

    def _moved(self, x: NDArray[Any]) -> NDArray[Any]:
        """The accumulators less their zero point, as the rule reads them: int32 where that holds them, else wider."""
        if x.dtype.kind not in "iu":
            raise TypeError(f"acc: expected integers, got {x.dtype}")
        if x.size == 0:
            return x.astype(np.int32)
        rule, moved = self._numbers.rule, self._in_zero_point
        least, most = int(x.min()) - moved, int(x.max()) - moved
        may_wrap = rule.wraps == "every step" and is_int32(x)
        if may_wrap or min(least, -most - 1) >= -(2**31):
            return np.asarray(np.subtract(x.astype(np.int32, copy=False), np.int32(moved)))
        if (rule.multiplier in FLOATS - SINGLES) or rule.split == "16 bits":
            raise ValueError(f"acc: int32 does not hold its values, {least} to {most}")
        if max(-least, most) >= 2**48:
            raise ValueError(f"acc: 48 bits do not hold its values, {least} to {most}")
        wide = np.asarray(np.subtract(x, moved, dtype=np.int64, casting="unsafe"))
        if rule.multiplier in SINGLES:
            return wide.astype(np.float32)
        if rule.wraps != "every step" and int(np.max(np.abs(self._numbers.integers[0]))) * max(-least, most) >= 2**62:
            raise ValueError(f"acc: 64 bits do not hold {least} to {most} times the multiplier of {rule.name}")
        return wide


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
    Requantize : the same, prepared once for many calls.
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
    op = Requantize(
        rule,
        scale=scale,
        integers=integers,
        in_zero_point=in_zero_point,
        zero_point=zero_point,
        dtype=dtype,
        qmin=qmin,
        qmax=qmax,
        axis=axis,
    )
    return op(acc, out)


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

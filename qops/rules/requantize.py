"""Requantize by a rule's name: accumulators to codes."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.checks import is_int32
from qops.checks import as_array, int32, integer, output
from qops.codes import of_dtype
from qops.fixedpoint import Multiplier
from qops.prepared import Prepared, argument
from qops.rules.blocks import Tail
from qops.rules.names import row_named
from qops.rules.numbers import FLOATS, SINGLES, Numbers, given_integers, given_scales
from qops.rules.scales import formed, three_scales
from qops.rules.table import BLOCKS, TABLE, BlockRule, Rule

__all__ = ["Requantize", "requantize"]

_ROWS: dict[str, tuple[Rule, BlockRule | None]] = {
    **{name: (row, None) for name, row in TABLE.items()},
    **{name: (TABLE[blocks.whole], blocks) for name, blocks in BLOCKS.items()},
}
"""The rule of each name, with the `BlockRule` that it is of, if any."""
_NO_FACTORS = 1.0, 1.0


class Requantize(Prepared):
    """Prepared form of `requantize`: accumulators to codes by the rule of a real system.

    It is called as ``op(acc, out=None)``, and gives the bits of `requantize`.

    Parameters
    ----------
    rule, scale, integers, scales, in_zero_point, zero_point, dtype, qmin, qmax, axis
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
    >>> op = qops.rules.Requantize("tflite-double", scale=0.0033, zero_point=3)
    >>> op
    Requantize('tflite-double', scale=0.0033, zero_point=3)
    >>> op.integers
    Multiplier(multiplier=1814194186, right_shift=39)
    >>> op([-1000, 0, 1000])
    array([0, 3, 6], dtype=int8)
    """

    __slots__ = ("_axis", "_channels", "_dtype", "_in_zero_point", "_numbers", "_stage", "_tail", "_wide")

    def __init__(
        self,
        rule: str,
        *,
        scale: ArrayLike | None = None,
        integers: tuple[ArrayLike, ArrayLike] | None = None,
        scales: tuple[float, ArrayLike, float] | None = None,
        in_zero_point: int = 0,
        zero_point: int = 0,
        dtype: DTypeLike = "int8",
        qmin: int | None = None,
        qmax: int | None = None,
        axis: int = -1,
    ):
        self._keep(rule, scale, integers, scales, in_zero_point, zero_point, dtype, qmin, qmax, axis)
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        rule, scale, integers, scales, in_zero_point, zero_point, dtype, qmin, qmax, axis = self._arguments
        (row, blocks), codes = row_named(rule, _ROWS), of_dtype(dtype)
        lo = codes.lowest if qmin is None else integer(qmin, "qmin", codes.lowest, codes.highest)
        hi = codes.highest if qmax is None else integer(qmax, "qmax", lo, codes.highest)
        zero = int32(zero_point, "zero_point")
        missing = (scale is None) + (integers is None) + (scales is None)
        if missing != 2:
            raise ValueError(f"scale, integers, scales: expected one of the three, got {3 - missing}")
        three, factors = None, _NO_FACTORS
        if scales is None:
            steps = given_integers(integers) if scale is None else given_scales(scale)
        else:
            three = three_scales(scales)
            steps, factors = formed(three, row.scales.split(", ")[0])
        self._numbers = numbers = Numbers(row, steps, zero, lo, hi, factors)
        self._channels = numbers.channels
        self._in_zero_point = int32(in_zero_point, "in_zero_point")
        self._axis = int32(axis, "axis", -64, 63)
        self._dtype = codes.dtype
        self._stage: Any = numbers.stage() if self._channels != 0 else None
        self._wide: Any = self._stage
        if numbers.can_wrap and self._channels != 0:
            self._wide = numbers.stage(is_wide=True)
        self._tail = Tail(blocks, numbers) if blocks else None
        if not once:
            kept = (None if scale is None else steps), (None if integers is None else steps), three
            self._keep(rule, *kept, self._in_zero_point, zero, codes.dtype, qmin, qmax, self._axis)

    rule, axis = argument(0), argument(9)

    @property
    def ends(self) -> tuple[int, int]:
        """The lowest and the highest code."""
        return self._numbers.lo, self._numbers.hi

    @property
    def integers(self) -> Multiplier:
        """Multiplier and total right shift, or int64 arrays of them; ValueError where the rule has none."""
        multiplier, right_shift = self._numbers.integers
        return Multiplier(multiplier, right_shift)

    @property
    def scale(self) -> Any:
        """How many output steps an input step is: a float, or an array with one a channel."""
        (before, after), scale = self._numbers.factors, self._numbers.scale
        return scale if before == after == 1 else before * scale * after

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
            if self._tail:
                self._tail.run(near, codes, self._axis, inner)
        return codes

    def _inner(self, x: NDArray[Any]) -> int:
        """How many neighbours belong to each channel; ValueError if there are other than the channels' elements."""
        channels = x.shape[integer(self._axis, "axis", -x.ndim, x.ndim - 1)] if x.ndim else 0
        if channels != self._channels:
            name = "integers" if self._numbers.has_integers else "scales" if self._arguments[3] else "scale"
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
        if (
            rule.wraps != "every step"
            and int(np.max(np.abs(self._numbers.integers_of_loop[0]))) * max(-least, most) >= 2**62
        ):
            raise ValueError(f"acc: 64 bits do not hold {least} to {most} times the multiplier of {rule.name}")
        return wide


def requantize(
    acc: ArrayLike,
    rule: str,
    *,
    scale: ArrayLike | None = None,
    integers: tuple[ArrayLike, ArrayLike] | None = None,
    scales: tuple[float, ArrayLike, float] | None = None,
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
        A name in `TABLE`; or in `BLOCKS`, whose rules compute the last elements in another way.
    scale : float or 1-D array_like of float, optional
        How many output steps an input step is (`real_scale`): one number, or one for each channel along `axis`.
    integers : (int, int), optional
        Instead of a scale: the multiplier and the total right shift of a port, or arrays of them along `axis`. TFLite's
        shift, positive to the left, is ``31 - right_shift``; CMSIS-NN's beside a reduced multiplier (cmsis-s64) is
        ``15 - right_shift``.
    scales : (float, float, float), optional
        Instead of a scale: ``(in_scale, w_scale, out_scale)``, of which the rule forms its scale in the way that its
        `Rule.scales` names first; torch-onednn and torch-onednn-conv multiply by one after another. ``w_scale`` may
        have one a channel.
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
        or out of the rule's range; not one of scale, integers, scales; another number of them than channels; an
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
    ...     print(rule, qops.rules.requantize(acc, rule, scale=0.4999999))
    tflite-double [-2  1  2  3]
    tflite-single [-1  0  1  2]
    fp32-even [-1  0  1  2]
    >>> [
    ...     qops.rules.requantize(acc, rule, scale=0.5, zero_point=3).tolist()
    ...     for rule in ("fp32-even", "fp32-even-zp-inside")
    ... ]
    [[1, 3, 5, 5], [2, 4, 4, 6]]

    What int32 does not hold becomes the lowest code where `Rule.beyond` says so, however large it was:

    >>> [
    ...     qops.rules.requantize([2**31 - 1], rule, scale=3.0, dtype="uint8").item()
    ...     for rule in ("fp32-even", "torch-fbgemm")
    ... ]
    [255, 0]

    Examples
    --------
    >>> qops.rules.requantize([-1000, 0, 1000], "tflite-double", scale=0.0033, zero_point=5)
    array([2, 5, 8], dtype=int8)
    """
    op = Requantize._once(rule, scale, integers, scales, in_zero_point, zero_point, dtype, qmin, qmax, axis)
    return op(acc, out)

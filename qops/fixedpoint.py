"""Fixed-point arithmetic: a real factor as (multiplier, right_shift), and the rounding rules of real systems."""

from __future__ import annotations

from math import frexp
from typing import TYPE_CHECKING, Literal, NamedTuple, Never, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._fixed_modes import HLS_OVERFLOWS, HLS_ROUNDINGS, convert
from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.frontdoor.multiply_shift import apply_multiplier as _apply_multiplier
from qops._keywords import name_keywords as _name_keywords
from qops._keywords import no_attribute
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops._readable import shows_fields
from qops.checks import number as _number
from qops.checks import shown as _shown

__all__ = [
    "HLS_OVERFLOWS",
    "HLS_ROUNDINGS",
    "ROUNDINGS",
    "SINGLE_ROUNDINGS",
    "Multiplier",
    "Rounding",
    "SingleRounding",
    "apply_multiplier",
    "convert",
    "quantize_multiplier",
]
__dir__ = __all__.copy

SingleRounding: TypeAlias = Literal["floor", "truncate", "half_up", "half_away", "half_even"]
Rounding: TypeAlias = SingleRounding | Literal["gemmlowp", "hvx"]
SINGLE_ROUNDINGS: tuple[SingleRounding, ...] = get_args(SingleRounding)
ROUNDINGS: tuple[Rounding, ...] = (*SINGLE_ROUNDINGS, "gemmlowp", "hvx")


@shows_fields
class Multiplier(NamedTuple):
    """A real factor in fixed point: ``factor = multiplier / 2**right_shift``.

    Attributes
    ----------
    multiplier : int
        `quantize_multiplier` makes 0, or a magnitude in [2**30, 2**31) with the sign of the factor.
    right_shift : int
        The total shift, 0..62. TFLite writes "Q0.31 and a shift", where ``shift = 31 - right_shift``.
    """

    multiplier: int
    right_shift: int


@_refusing_unknown
def quantize_multiplier(factor: float, **unknown: Never) -> Multiplier:
    """Give the multiplier of 31 bits and the shift that are nearest to a real factor, ties away from zero.

    With ``factor = m * 2**e`` and m in [0.5, 1), ``multiplier = round(m * 2**31)`` and ``right_shift = 31 - e``. If
    that rounds to 2**31, it is halved and e grows by 1. Factors below 2**-32 become 0, as in TFLite's
    QuantizeMultiplier.

    Parameters
    ----------
    factor : float
        Its magnitude is below 2**31 - 0.5.

    Returns
    -------
    Multiplier

    Raises
    ------
    TypeError, ValueError
        `factor` is no finite number, or too large for 31 bits.

    Notes
    -----
    Source: TensorFlow Lite, ``quantization_util.cc``.

    Examples
    --------
    >>> qops.fixedpoint.quantize_multiplier(0.75)
    Multiplier(multiplier=1610612736, right_shift=31)
    >>> qops.fixedpoint.quantize_multiplier(-3.0)
    Multiplier(multiplier=-1610612736, right_shift=29)
    """
    if unknown:
        raise _unknown_keyword(quantize_multiplier, unknown)
    factor = _number(factor, "factor")
    if abs(factor) >= 2**31 - 0.5:
        raise bad_value("factor", f"{factor} does not round to 31 bits and a sign")
    mantissa, exponent = frexp(abs(factor))
    multiplier = int(mantissa * 2**31 + 0.5)
    if multiplier == 2**31:
        multiplier, exponent = 2**30, exponent + 1
    if multiplier == 0 or exponent < -31:
        return Multiplier(0, 31)
    return Multiplier(-multiplier if factor < 0 else multiplier, 31 - exponent)


@_refusing_unknown
def apply_multiplier(
    x: ArrayLike,
    multiplier: int | Multiplier,
    right_shift: int | None = None,
    *,
    rounding: Rounding = "half_up",
    out: NDArray[np.int32] | None = None,
    **unknown: Never,
) -> NDArray[np.int32]:
    """``x * multiplier / 2**right_shift`` on int32, rounded by a named rule.

    =========  ======================================================================  ==========================
    rounding   ``y``, with ``p = x * multiplier`` exact and ``s = right_shift``        ties
    =========  ======================================================================  ==========================
    floor      ``p >> s``: the low bits dropped                                        -
    truncate   ``p >> s``, of p < 0 ``-(-p >> s)``: toward zero                        -
    half_up    ``(p + 2**(s-1)) >> s``                                                 toward plus infinity
    half_away  ``(p + 2**(s-1) - (p < 0)) >> s``                                       away from zero
    half_even  to the even neighbour                                                   to even
    gemmlowp   ``h = (x << max(0, 31-s)) * multiplier``, ``h = (h + 2**30) >> 31``,    half up, then half away:
               then ``h / 2**max(0, s-31)``                                            25 % of results differ at s=32
    hvx        ``sat_s16((2 * p + 0x8000) >> 16)``, 16-bit operands, ``s == 15``       toward plus infinity
    =========  ======================================================================  ==========================

    All rules round once, but gemmlowp rounds twice. The result saturates to int32 (hvx: to int16). Only gemmlowp's left
    shift wraps, as in TFLite.

    Parameters
    ----------
    x : array_like of int
        Integers that fit int32 (hvx: int16).
    multiplier : int or Multiplier
        ``|multiplier| < 2**31`` (hvx: -2**15 <= multiplier < 2**15); or both numbers, as `quantize_multiplier` and
        `qops.rules.integers` give them.
    right_shift : int, optional
        0..62; not with a `Multiplier`.
    rounding : str
        One of `ROUNDINGS`, "half_up" or "half-up".
    out : ndarray of int32, optional
        Where the result is written; of the shape of `x`.

    Returns
    -------
    ndarray of int32

    Raises
    ------
    TypeError, ValueError
        `x` not of integers or beyond int32, a multiplier, shift or rounding out of those sets, an ``out`` that does not
        fit or overlaps `x`.

    Notes
    -----
    Sources: gemmlowp ``fixedpoint.h`` (SaturatingRoundingDoublingHighMul, RoundingDivideByPOT), ruy
    ``apply_multiplier.cc`` (half_up), the Hexagon HVX instruction ``vmpy(.h,.h):<<1:rnd:sat`` (hvx; ARM: VQRDMULH).

    Examples
    --------
    >>> x = [-6, -2, 2, 6]  # times 1/4: -1.5, -0.5, 0.5, 1.5
    >>> for rule in qops.fixedpoint.SINGLE_ROUNDINGS:
    ...     print(rule, qops.fixedpoint.apply_multiplier(x, 1, 2, rounding=rule))
    floor [-2 -1  0  1]
    truncate [-1  0  0  1]
    half_up [-1  0  1  2]
    half_away [-2 -1  1  2]
    half_even [-2  0  0  2]

    **Hazard.** Two roundings are not one: 3/8 becomes 1/2 in the first step, and 1/2 becomes 1 in the second.

    >>> three_eighths = qops.fixedpoint.Multiplier(3 << 28, 31)
    >>> (
    ...     int(qops.fixedpoint.apply_multiplier(1, three_eighths)),
    ...     int(qops.fixedpoint.apply_multiplier(1, 3 << 28, 31, rounding="gemmlowp")),
    ... )
    (0, 0)
    >>> (
    ...     int(qops.fixedpoint.apply_multiplier(1, 3 << 29, 32)),
    ...     int(qops.fixedpoint.apply_multiplier(1, 3 << 29, 32, rounding="gemmlowp")),
    ... )
    (0, 1)
    """
    if unknown:
        raise _unknown_keyword(apply_multiplier, unknown)
    if isinstance(multiplier, tuple) and len(multiplier) == 2 and right_shift is None:
        multiplier, right_shift = multiplier
    if right_shift is None:
        raise bad_type("right_shift", f"is missing beside the multiplier {_shown(multiplier)}")
    return _apply_multiplier(x, multiplier, right_shift, rounding, out)


_name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)

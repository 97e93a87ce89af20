"""nnlib's range helpers: integer zero points, and the code of one number."""

from __future__ import annotations

from typing import NamedTuple

from qops._kernels.nnlib import ranges as kernels
from qops.qtensor import integer, real, span


class AdjustedRange(NamedTuple):
    """A range with 0 on a code.

    Attributes
    ----------
    min, max, step, recip_step : float
        The range, one code step, and 255 / range as the original rounds it.
    """

    min: float
    max: float
    step: float
    recip_step: float


class MovedRange(NamedTuple):
    """A range with 0 on a code.

    Attributes
    ----------
    code : int
        -1 no range, left alone; 0 left alone; 1 min moved; 2 max moved; 3 both moved.
    min, max : float
        The range.
    """

    code: int
    min: float
    max: float


class LevelZero(NamedTuple):
    """Where 0 is, and how far apart codes are.

    Attributes
    ----------
    zero : int
        Code of real 0.
    step : float
        Real size of one code step.
    """

    zero: int
    step: float


def adjust_range(min: float, max: float) -> AdjustedRange:
    """Widen a range to hold 0, then move one end outward until 0 is on a code.

    With ``z = -min * (255 / (max - min))``, its floor ``zi`` and fraction ``zf``: within 2**-14 of an integer nothing
    moves; else the end that has to move less does, ``max = min - 255 * min / zi`` or ``min = max * (zi + 1) / (zi -
    254)``; ``min`` if ``zi`` is 0, ``max`` if it is 254. All in float32. The range grows by less than 1/254.

    Parameters
    ----------
    min, max : float
        The range.

    Returns
    -------
    AdjustedRange

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, or min > max.

    Notes
    -----
    Source: ``quantize_adjust_range``, ``quantize.h``.

    **Hazards.** A range 0 wide stays so, with the step of one 1e-18 wide:

    >>> adjust_range(0.0, 0.0)[:2]
    (0.0, 0.0)

    Examples
    --------
    >>> adjust_range(-1.0, 1.0)[:2]
    (-1.0, 1.0078740119934082)
    """
    lo, hi = span(min, max, "range")
    return AdjustedRange(*kernels.adjusted(lo, hi))


def adjust_minmax_for_zero(min: float, max: float) -> MovedRange:
    """As `adjust_range`, but the range need not hold 0: the end nearer to 0 moves.

    A range narrower than 1e-6 is left alone and gets code -1.

    Parameters
    ----------
    min, max : float
        The range.

    Returns
    -------
    MovedRange

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, or min > max.

    Notes
    -----
    Source: ``adjust_minmax_for_zero``, ``quantize.c``.

    **Hazards.** A range narrower than 1e-6 keeps a zero between two codes:

    >>> adjust_minmax_for_zero(-1e-7, 1e-7).code
    -1

    Examples
    --------
    >>> adjust_minmax_for_zero(-1.0, 1.0)
    MovedRange(code=2, min=-1.0, max=1.0078740119934082)
    """
    lo, hi = span(min, max, "range")
    return MovedRange(*kernels.moved(lo, hi, 0, 1e-6))


def adjust_minmax_fixed(min: float, max: float, fixed: int) -> MovedRange:
    """As `adjust_minmax_for_zero`, of a range some of whose ends should stay.

    One fixed end: the free one moves outward, unless moving the fixed one to the nearest code is 8 times cheaper or the
    range lies mostly (3 to 1) on its side. Both: both move by the same amount, at most half a step; in a range that
    lies 3 to 1 on one side only the short end moves.

    Parameters
    ----------
    min, max : float
        The range.
    fixed : int
        Bit 0: min is fixed, bit 1: max is.

    Returns
    -------
    MovedRange

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, min > max, `fixed` not in 0..3.

    Notes
    -----
    Source: ``adjust_minmax_for_zero_with_constraints``, ``quantize.c``.

    **Hazards.** A fixed end may move inward:

    >>> adjust_minmax_fixed(-1.3, 10.6, 1)
    MovedRange(code=1, min=-1.307489037513733, max=10.600000381469727)

    Examples
    --------
    >>> adjust_minmax_fixed(-1.0, 1.0, 1)
    MovedRange(code=2, min=-1.0, max=1.0078740119934082)
    """
    fixed = integer(fixed, "fixed", 0, 3)
    lo, hi = span(min, max, "range")
    return MovedRange(*kernels.moved(lo, hi, fixed, 0))


def level_zero(min: float, max: float) -> LevelZero:
    """``step = (max - min) / 255``, ``zero = sat_u8(round_half_away(-min / step))``.

    Parameters
    ----------
    min, max : float
        Real values of the codes 0 and 255.

    Returns
    -------
    LevelZero

    Raises
    ------
    TypeError, ValueError
        An end that is no finite number, or min > max.

    Notes
    -----
    Source: ``get_qu8_level_size_zero``, ``quantize.h``.

    **Hazards.** `quantize_uint8` of 0 is another zero in 0.8 % of ranges, and both are in use; a range that excludes 0
    gets a zero all the same:

    >>> level_zero(-0.01, 0.01).zero, quantize_uint8(0.0, -0.01, 0.01)
    (127, 128)
    >>> level_zero(1.0, 2.0).zero
    0

    Examples
    --------
    >>> level_zero(-1.0, 254.0)
    LevelZero(zero=1, step=1.0)
    """
    lo, hi = span(min, max, "range")
    return LevelZero(*kernels.level(lo, hi))


def quantize_int(x: float, min: float, max: float) -> int:
    """``round_half_away((x - min) * (255 / max(1e-18, max - min)))``, not cut to 0..255.

    Parameters
    ----------
    x, min, max : float
        The number, and the real values of the codes 0 and 255.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        A number that is not finite, or min > max.

    Notes
    -----
    Source: ``quantize_int``, ``quantize.h``.

    Examples
    --------
    >>> quantize_int(3.0, 0.0, 2.0), quantize_int(-1.0, 0.0, 2.0)
    (383, -128)
    """
    lo, hi = span(min, max, "range")
    return kernels.quantized(real(x, "x"), lo, hi)


def quantize_uint(x: float, min: float, max: float) -> int:
    """`quantize_int`, cut at 0 only.

    Parameters
    ----------
    x, min, max : float
        The number, and the real values of the codes 0 and 255.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        A number that is not finite, or min > max.

    Notes
    -----
    Source: ``quantize_uint``, ``quantize.h``.

    **Hazards.** Not cut at 255, although its name says no less than `quantize_uint8`'s:

    >>> quantize_uint(3.0, 0.0, 2.0), quantize_uint(-1.0, 0.0, 2.0)
    (383, 0)
    """
    code = quantize_int(x, min, max)
    return code if code > 0 else 0


def quantize_uint8(x: float, min: float, max: float) -> int:
    """`quantize_int`, cut to 0..255.

    Parameters
    ----------
    x, min, max : float
        The number, and the real values of the codes 0 and 255.

    Returns
    -------
    int

    Raises
    ------
    TypeError, ValueError
        A number that is not finite, or min > max.

    Notes
    -----
    Source: ``quantize_uint8``, ``quantize.h``.

    Examples
    --------
    >>> quantize_uint8(1.0, 0.0, 2.0), quantize_uint8(3.0, 0.0, 2.0)
    (128, 255)
    """
    code = quantize_uint(x, min, max)
    return code if code < 255 else 255

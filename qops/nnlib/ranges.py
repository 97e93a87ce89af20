"""nnlib's range helpers: ranges with 0 on a code, steps and zeros."""

from __future__ import annotations

from typing import NamedTuple

from qops._kernels.nnlib import ranges as kernels
from qops._readable import shows_fields
from qops.checks import integer, span

__all__ = [
    "AdjustedRange",
    "LevelZero",
    "MovedRange",
    "adjust_minmax_fixed",
    "adjust_minmax_for_zero",
    "adjust_range",
    "level_zero",
]


@shows_fields
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


@shows_fields
class MovedRange(NamedTuple):
    """A range with 0 on a code.

    Attributes
    ----------
    code : int
        -1: no range, nothing moved; 0: nothing moved; 1: min moved; 2: max moved; 3: both moved.
    min, max : float
        The range.
    """

    code: int
    min: float
    max: float


@shows_fields
class LevelZero(NamedTuple):
    """The code of 0 and the code step of a range.

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
    """Widen a range to hold 0, then move one end outward to put 0 on a code.

    Zero is at the code ``z = -min * (255 / (max - min))``, which need not be an integer; zi is z rounded down. If z is
    within 2**-14 of an integer, nothing moves. Otherwise the end that has to move less moves: max to
    ``min - 255 * min / zi``, or min to ``max * (zi + 1) / (zi - 254)``. If zi is 0, min moves; if zi is 254, max does.
    The range grows by less than 1/254.

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
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``quantize_adjust_range``, ``quantize.h``.

    **Hazards.** A range 0 wide stays as it is, but its step is that of a range 1e-18 wide:

    >>> qops.nnlib.adjust_range(0.0, 0.0)[:3]
    (0.0, 0.0, 3.9215687722665715e-21)

    Examples
    --------
    >>> qops.nnlib.adjust_range(-1.0, 1.0)[:2]
    (-1.0, 1.0078740119934082)
    """
    lo, hi = span(min, max)
    return AdjustedRange(*kernels.adjusted(lo, hi))


def adjust_minmax_for_zero(min: float, max: float) -> MovedRange:
    """Move one end as `adjust_range` does, but without widening the range to hold 0.

    In a range that excludes 0, the end nearer to 0 moves. A range narrower than 1e-6 is left as it is, and the code
    returned is -1.

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
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``adjust_minmax_for_zero``, ``quantize.c``.

    **Hazards.** A range narrower than 1e-6 keeps a zero between two codes:

    >>> qops.nnlib.adjust_minmax_for_zero(-1e-7, 1e-7).code
    -1

    Examples
    --------
    >>> qops.nnlib.adjust_minmax_for_zero(-1.0, 1.0)
    MovedRange(code=2, min=-1.0, max=1.0078740119934082)
    """
    lo, hi = span(min, max)
    return MovedRange(*kernels.moved(lo, hi, 0, 1e-6))


def adjust_minmax_fixed(min: float, max: float, fixed: int) -> MovedRange:
    """Move one end as `adjust_minmax_for_zero` does, but in a range of any width, and with ends that should stay.

    With one fixed end, the free end moves outward. The fixed end moves instead, to put 0 on the nearest code, if it has
    to move at most an eighth as far and less than three quarters of the range lie on its side of 0, or if 0 is less
    than one step away from it. With two fixed ends, both move by the same amount, at most half a step; if three
    quarters of the range lie on one side of 0, only the end on the other side moves.

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

    >>> qops.nnlib.adjust_minmax_fixed(-1.3, 10.6, 1)
    MovedRange(code=1, min=-1.307489037513733, max=10.600000381469727)

    Examples
    --------
    >>> qops.nnlib.adjust_minmax_fixed(-1.0, 1.0, 1)
    MovedRange(code=2, min=-1.0, max=1.0078740119934082)
    """
    fixed = integer(fixed, "fixed", 0, 3)
    lo, hi = span(min, max)
    return MovedRange(*kernels.moved(lo, hi, fixed, 0))


def level_zero(min: float, max: float) -> LevelZero:
    """Give ``step = (max - min) / 255`` and ``zero = sat_u8(plus_half(-min / step))``.

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
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``get_qu8_level_size_zero``, ``quantize.h``.

    **Hazards.** In 0.8 % of all ranges the `quantize_uint8` of 0 is another code; nnlib's ops use the one or the other.
    A range that excludes 0 gets a zero all the same.

    >>> qops.nnlib.level_zero(-0.01, 0.01).zero, qops.nnlib.quantize_uint8(0.0, -0.01, 0.01)
    (127, 128)
    >>> qops.nnlib.level_zero(1.0, 2.0).zero
    0

    Examples
    --------
    >>> qops.nnlib.level_zero(-1.0, 254.0)
    LevelZero(zero=1, step=1.0)
    """
    lo, hi = span(min, max)
    return LevelZero(*kernels.level(lo, hi))

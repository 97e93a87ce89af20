"""Ranges to (scale, zero_point) of uint8 codes and back; each function is one rule.

A real value is ``scale * (q - zero_point)``. The rules of the systems are in their packages:
`qops.nnlib.adjust_range`, `qops.tensorflow.quantize_v2`, `qops.onednn`.
"""

from typing import NamedTuple

from qops._kernels.stage.affine import range_holding_zero as _range_holding_zero
from qops.codes import TABLE as _TABLE
from qops.qtensor import real as _real
from qops.qtensor import span as _span

__all__ = ["Affine", "exact", "holding_zero", "max_abs", "symmetric"]
__dir__ = __all__.copy

_U8, _S8 = _TABLE["u8"], _TABLE["s8"]


class Affine(NamedTuple):
    """Scale and zero point of uint8 codes.

    Attributes
    ----------
    scale : float
        Real size of one code step, > 0; 0 only for the range (0, 0).
    zero_point : int
        Code of real 0, 0..255.
    """

    scale: float
    zero_point: int

    @property
    def range(self) -> tuple[float, float]:
        """Real values of the codes 0 and 255: (-zero_point * scale, (255 - zero_point) * scale)."""
        return (_U8.lowest - self.zero_point) * self.scale, (_U8.highest - self.zero_point) * self.scale


def holding_zero(min: float, max: float) -> Affine:
    """Affine of the smallest range that holds ``min``, ``max`` and, exactly on a code, 0.

    It chooses, of the two integers next to ``-min / step``, the zero point with the smaller scale. Neither end is cut.

    Parameters
    ----------
    min, max : float
        Real values, min <= max. The range is widened to hold 0 and to be at least 6e-36 wide.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        A value that is no finite float32, or min > max.

    Examples
    --------
    >>> holding_zero(-1.0, 1.0)
    Affine(scale=0.007874015748031496, zero_point=127)
    >>> holding_zero(0.5, 2.55).range
    (0.0, 2.549999952316284)
    """
    _, _, scale, zero_point = _range_holding_zero(*_span(min, max, "range"), _U8)
    return Affine(scale, zero_point)


def exact(min: float, max: float) -> Affine:
    """Affine of a range whose 0 is on a code already, within 2**-15 of a step; the inverse of `Affine.range`.

    Parameters
    ----------
    min, max : float
        Real values of the codes 0 and 255.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        A value that is no finite float32, min > max, or a 0 between two codes or outside the range, for which there is
        no (scale, zero_point).

    Examples
    --------
    >>> exact(-2.0, 3.1)
    Affine(scale=0.01999999962601007, zero_point=100)
    >>> exact(-1.0, 1.0)
    Traceback (most recent call last):
    ValueError: range: in (-1.0, 1.0) 0 is at code 127.5, not on a code
    """
    lo, hi = _span(min, max, "range")
    step, zero_point, base = _U8.line(lo, hi)
    if step == 0 and lo != 0:
        raise ValueError(f"range: ({lo}, {hi}) does not hold 0")
    if base != 0:
        raise ValueError(f"range: in ({lo}, {hi}) 0 is at code {-lo / step:.6g}, not on a code")
    return Affine(step, zero_point)


def max_abs(limit: float) -> Affine:
    """Affine of non-negative data up to ``limit``, the ``R = max|T|`` rule of DNNL: zero point 0, scale R / 255.

    Parameters
    ----------
    limit : float
        Largest real value, >= 0.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        ``limit`` is negative or no finite float32.

    Examples
    --------
    >>> 1 / max_abs(15.0).scale  # the quantization factor Q = 255 / R
    17.0
    """
    return Affine(_limit(limit) / _U8.steps, 0)


def symmetric(limit: float) -> Affine:
    """Affine of data in -limit..limit with 0 in the middle of the codes: zero point 128, scale limit / 127.

    Parameters
    ----------
    limit : float
        Largest absolute value, >= 0.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        ``limit`` is negative or no finite float32.

    Examples
    --------
    >>> symmetric(127.0).range
    (-128.0, 127.0)
    """
    return Affine(_limit(limit) / _S8.highest, -_S8.lowest)


def _limit(limit: float) -> float:
    value = _real(limit, "limit")
    if value < 0:
        raise ValueError(f"limit: {limit} < 0")
    return value

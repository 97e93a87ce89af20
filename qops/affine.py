"""Ranges to (scale, zero_point) of codes and back; each function is one rule.

A real value is ``scale * (q - zero_point)``. The rules of the systems are in their packages:
`qops.nnlib.adjust_range`, `qops.tensorflow.quantize_v2`, `qops.onednn`; `qops.rules.choose_range` has them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.checks import as_array as _as_array
from qops._kernels.arrays.checks import span as _span
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.affine import range_holding_zero as _range_holding_zero
from qops._keywords import name_keywords as _name_keywords
from qops._keywords import no_attribute
from qops._keywords import refusing_unknown as _refusing_unknown
from qops._keywords import unknown_keyword as _unknown_keyword
from qops._readable import shows_fields
from qops.checks import integer as _integer
from qops.checks import real as _real
from qops.checks import shown as _shown
from qops.codes import TABLE as _TABLE
from qops.codes import CodeType
from qops.codes import of_dtype as _of_dtype

__all__ = ["Affine", "exact", "holding_zero", "max_abs", "symmetric"]
__dir__ = __all__.copy

_SMALLEST, _LARGEST = 2.0**-126, 2.0**128 - 2.0**104  # float32's normal numbers


@shows_fields
class Affine(NamedTuple):
    """Scale and zero point of codes of one type.

    Attributes
    ----------
    scale : float
        Real size of one code step, > 0; 0 only for the range (0, 0).
    zero_point : int
        Code of real 0.
    code_type : str
        Name of the code type, in `qops.codes.TABLE`.

    Examples
    --------
    >>> qops.affine.Affine(0.5, 0, "u8").range, qops.affine.Affine(0.5, 0, "s8").range
    ((0.0, 127.5), (-64.0, 63.5))
    """

    scale: float
    zero_point: int
    code_type: str

    @property
    def range(self) -> tuple[float, float]:
        """Real values at the ends of the codes, as `qops.QTensor` takes them."""
        return _ends(self.scale, self.zero_point, _TABLE[self.code_type])


@_refusing_unknown
def holding_zero(min: float, max: float, *, dtype: DTypeLike = "uint8", **unknown: Never) -> Affine:
    """Affine of the smallest range that holds ``min``, ``max`` and, exactly on a code, 0.

    It chooses, of the two integers next to ``-min / step``, the zero point with the smaller scale. Neither end is cut.

    Parameters
    ----------
    min, max : float
        Real values, min <= max. The range is widened to hold 0 and to be at least 2.3e-38 * steps wide (u8: 6e-36).
    dtype : {"uint8", "int8", "uint16", "int16"}
        Type of the codes.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        A value that is no finite float32, or min > max; another dtype.

    Examples
    --------
    >>> qops.affine.holding_zero(-1.0, 1.0)
    Affine(scale=0.007874015748031496, zero_point=127, code_type='u8')
    >>> qops.affine.holding_zero(0.5, 2.55).range
    (0.0, 2.549999952316284)
    """
    if unknown:
        raise _unknown_keyword(holding_zero, unknown)
    row = _affine_type(dtype)
    _, _, scale, zero_point = _range_holding_zero(*_span(min, max), row)
    return Affine(scale, zero_point, row.name)


@_refusing_unknown
def exact(min: float, max: float, *, dtype: DTypeLike = "uint8", **unknown: Never) -> Affine:
    """Affine of a range whose 0 is on a code already, within 2**-15 of a step of 8 bits; the inverse of `Affine.range`.

    Parameters
    ----------
    min, max : float
        Real values of the lowest and the highest code.
    dtype : {"uint8", "int8", "uint16", "int16"}
        Type of the codes.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        A value that is no finite float32, min > max, or a 0 between two codes or outside the range, for which there is
        no (scale, zero_point); another dtype.

    Examples
    --------
    >>> qops.affine.exact(-2.0, 3.1)
    Affine(scale=0.01999999962601007, zero_point=100, code_type='u8')
    >>> qops.affine.exact(-1.0, 1.0)
    Traceback (most recent call last):
    ValueError: min, max: in (-1.0, 1.0) 0 is at code 127.5, not on a code
    """
    if unknown:
        raise _unknown_keyword(exact, unknown)
    row = _affine_type(dtype)
    lo, hi = _span(min, max)
    step, zero_point, base = row.line(lo, hi)
    if step == 0 and lo != 0:
        raise bad_value("min, max", f"({lo}, {hi}) does not hold 0")
    if base != 0:
        raise bad_value("min, max", f"in ({lo}, {hi}) 0 is at code {row.lowest - lo / step:.6g}, not on a code")
    return Affine(step, zero_point, row.name)


@_refusing_unknown
def max_abs(limit: float, **unknown: Never) -> Affine:
    """Affine of non-negative data up to ``limit``, the ``R = max|T|`` rule of DNNL: zero point 0, scale R / 255.

    Parameters
    ----------
    limit : float
        Largest real value, >= 0.

    Returns
    -------
    Affine
        Of uint8 codes.

    Raises
    ------
    TypeError, ValueError
        ``limit`` is negative or no finite float32.

    Examples
    --------
    >>> 1 / qops.affine.max_abs(15.0).scale  # the quantization factor Q = 255 / R
    17.0
    """
    if unknown:
        raise _unknown_keyword(max_abs, unknown)
    row = _TABLE["u8"]
    return Affine(_limit(limit) / row.steps, row.lowest, row.name)


@_refusing_unknown
def symmetric(limit: float, *, dtype: DTypeLike = "uint8", **unknown: Never) -> Affine:
    """Affine of data in -limit..limit with 0 in the middle of the codes: zero point 128 or 0, scale limit / 127.

    Parameters
    ----------
    limit : float
        Largest absolute value, >= 0.
    dtype : {"uint8", "int8", "uint16", "int16"}
        Type of the codes. 16 bits: zero point 32768 or 0, scale limit / 32767.

    Returns
    -------
    Affine

    Raises
    ------
    TypeError, ValueError
        ``limit`` is negative or no finite float32; another dtype.

    Examples
    --------
    >>> qops.affine.symmetric(127.0).range
    (-128.0, 127.0)
    >>> qops.affine.symmetric(127.0, dtype="int8")
    Affine(scale=1.0, zero_point=0, code_type='s8')
    """
    if unknown:
        raise _unknown_keyword(symmetric, unknown)
    row = _affine_type(dtype)
    middle = (row.lowest + row.highest + 1) // 2
    return Affine(_limit(limit) / (row.highest - middle), middle, row.name)


def ranges(scale: ArrayLike, zero_point: ArrayLike, row: CodeType, shape: tuple[int, ...], axis: int | None) -> Any:
    """Check scales and zero points, one or one for each index of an axis, and give their ranges.

    Parameters
    ----------
    scale, zero_point, axis
        As `qops.QTensor.from_scale` takes them.
    row : CodeType
        Type of the codes.
    shape : tuple of int
        Shape of the codes.

    Returns
    -------
    tuple of ndarray
        min and max in float64; 0-d, or of a shape that broadcasts against the codes.

    Raises
    ------
    TypeError, ValueError
        As `qops.QTensor.from_scale` raises them.

    Examples
    --------
    >>> from qops.affine import ranges
    >>> low, high = ranges([1.0, 0.5], 0, qops.codes.TABLE["u8"], (3, 2), axis=1)
    >>> high
    array([[255. , 127.5]])
    """
    if axis is not None:
        axis = _integer(axis, "axis", -len(shape), len(shape) - 1) % len(shape)
    scales, zeros = _along(axis, shape, scale, "scale"), _along(axis, shape, zero_point, "zero_point")
    if scales.dtype.kind not in "fiu" or not np.all((scales == 0) | (scales >= _SMALLEST) & (scales < np.inf)):
        raise bad_value("scale", f"expected numbers from {_SMALLEST} on, or 0, got {_shown(scale)}")
    lowest, highest = (0, 0) if row.symmetric else (row.lowest, row.highest)
    if zeros.dtype.kind not in "iu" or not np.all((zeros >= lowest) & (zeros <= highest)):
        raise bad_value("zero_point", f"expected integers in [{lowest}, {highest}], got {_shown(zero_point)}")
    lo, hi = _ends(scales.astype(np.float64), zeros.astype(np.int64), row)
    if np.max(np.maximum(-lo, hi), initial=0) > _LARGEST:
        raise bad_value("scale", f"the range of {row.name} codes is beyond float32, got {_shown(scale)}")
    return lo, hi


def _ends(scale: Any, zero_point: Any, row: CodeType) -> tuple[Any, Any]:
    if row.symmetric:
        return -row.steps / 2 * scale, row.steps / 2 * scale
    return (row.lowest - zero_point) * scale, (row.highest - zero_point) * scale


def _along(axis: int | None, shape: tuple[int, ...], values: Any, name: str) -> NDArray[Any]:
    """Give a number as 0-d array, numbers along an axis in a shape that broadcasts against that of the codes."""
    found = _as_array(values, name)
    if found.ndim == 0:
        return found
    if axis is None:
        raise bad_value(name, f"expected one number, as axis is not given, got shape {found.shape}")
    if found.shape != shape[axis : axis + 1]:
        raise bad_value(name, f"expected {shape[axis]} numbers for axis {axis}, got shape {found.shape}")
    return found.reshape([-1 if i == axis else 1 for i in range(len(shape))])


def _affine_type(dtype: DTypeLike) -> CodeType:
    row = _of_dtype(dtype)
    if row.symmetric:
        raise bad_value("dtype", f"expected 8 or 16 bits, got {_shown(dtype)}, whose zero point is always 0")
    return row


def _limit(limit: float) -> float:
    value = _real(limit, "limit")
    if value < 0:
        raise bad_value("limit", f"{limit} < 0")
    return value


_name_keywords(globals())

if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)

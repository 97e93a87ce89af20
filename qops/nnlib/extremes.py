"""nnlib's element-wise minimum and maximum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import recode as kernels
from qops.checks import U8, real
from qops.nnlib._checks import Checked, two
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_maximum_8", "quantized_minimum_8"]


def quantized_minimum_8(
    a: TensorLike,
    b: TensorLike,
    min: float | None = None,
    max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedMinimum_8: both operands are recoded into the output range, and the lower of the two codes is taken.

    With the zeros and steps of `level_zero`, each code q of an operand becomes::

        c = sat_u8(sat_s16(((q - zero) * multiplier + 2048) >> 12) + out_zero)
        multiplier = half_away(4096 * step / out_step) modulo 2**16

    Codes of an operand whose range is the output range stay as they are.

    Parameters
    ----------
    a, b : uint8 tensor
    min, max : float, optional
        Output range. An end that is left out is that of both input ranges together. A max needs a min.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); a max without a min; an output range 0 wide, as in the original; an
        operand with a single element whose code in the output range is 0. The original takes that code for "no
        constant", and reads uninitialised memory.

    Notes
    -----
    Source: ``minmax_execute``, ``op_minimum_maximum.c``.

    **Hazards.** If a step of an operand is 16 or more times that of the output, the multiplier wraps:

    >>> t = (np.array([0, 128, 255], np.uint8), -16.0, 15.875)
    >>> qops.nnlib.quantized_minimum_8(t, t, -1.0, 0.9921875).data  # -16, 0 and 15.875, cut to the range: 0, 128, 255
    array([128, 128, 128], dtype=uint8)

    A zero that is rounded, and a range that excludes 0:

    >>> qops.nnlib.quantized_minimum_8(
    ...     (np.array([0, 255], np.uint8), 1.0, 2.0), (np.array([255, 255], np.uint8), 0.0, 4.0)
    ... ).data  # 1 and 2
    array([ 0, 64], dtype=uint8)

    A single element of code 0 is refused, because the original reads uninitialised memory for it:

    >>> zero = (np.array([0], np.uint8), 0.0, 1.0)
    >>> qops.nnlib.quantized_minimum_8((np.array([1, 2], np.uint8), 0.0, 1.0), zero)
    Traceback (most recent call last):
    ValueError: b: a single element of code 0 in (0.0, 1.0), for which the original reads memory never written

    Examples
    --------
    >>> a, b = (np.array([0, 200], np.uint8), 0.0, 2.55), (np.array([100, 100], np.uint8), 0.0, 5.1)
    >>> qops.nnlib.quantized_minimum_8(a, b)
    QTensor(np.uint8([0, 100]), 0.0, 5.099999904632568)
    """
    return _extreme(np.minimum, a, b, min, max, out)


def quantized_maximum_8(
    a: TensorLike,
    b: TensorLike,
    min: float | None = None,
    max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedMaximum_8: `quantized_minimum_8`, but the higher of the two codes is taken.

    Parameters
    ----------
    a, b, min, max, out
        As `quantized_minimum_8` takes them.

    Returns
    -------
    QTensor
        uint8 codes of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        As `quantized_minimum_8`.

    Notes
    -----
    Source: ``minmax_execute``, ``op_minimum_maximum.c``.

    **Hazards.** Those of `quantized_minimum_8`. And a maximum with 0 is no relu: the output may have larger steps.

    >>> a, zero = (np.array([1, 3], np.uint8), 0.0, 1.0), (np.array([1, 1], np.uint8), -1.0, 254.0)
    >>> qops.nnlib.quantized_maximum_8(a, zero).data
    array([1, 1], dtype=uint8)

    Examples
    --------
    >>> a, b = (np.array([0, 200], np.uint8), 0.0, 2.55), (np.array([100, 100], np.uint8), 0.0, 5.1)
    >>> qops.nnlib.quantized_maximum_8(a, b).data
    array([100, 100], dtype=uint8)
    """
    return _extreme(np.maximum, a, b, min, max, out)


def _extreme(
    pick: np.ufunc, a: TensorLike, b: TensorLike, lo: float | None, hi: float | None, out: NDArray[np.uint8] | None
) -> QTensor:
    if lo is None and hi is not None:
        raise bad_value("min", "expected a number, since max is given, got None")
    lowest, highest = None if lo is None else real(lo, "min"), None if hi is None else real(hi, "max")
    x, y, result = two(a, b, out, U8)
    ends = min(x[1], y[1]) if lowest is None else lowest, max(x[2], y[2]) if highest is None else highest
    if not ends[0] < ends[1]:
        raise bad_value("min, max", f"the output range {ends} is 0 wide or crossed, which the original refuses")
    pick(_recoded(x, "a", ends), _recoded(y, "b", ends), out=result)
    return tensor(result, *ends)


def _recoded(t: Checked, name: str, ends: tuple[float, float]) -> NDArray[np.uint8]:
    """Give the codes of a tensor in the output range."""
    codes = t[0]
    if t[1:] != ends:
        codes = np.empty(codes.shape, np.uint8)
        kernels.to_range(t, ends, codes)
    if codes.size == 1 and not codes.any():
        raise bad_value(
            name, f"a single element of code 0 in {ends}, for which the original reads memory never written"
        )
    return codes

"""nnlib's element-wise minimum and maximum."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import recode as kernels
from qops.qtensor import U8, QTensor, TensorLike, operand, output, real, tensor

Checked: TypeAlias = tuple[NDArray[Any], float, float]


def quantized_minimum_8(
    a: TensorLike,
    b: TensorLike,
    min: float | None = None,
    max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedMinimum_8: both operands are recoded into the output range; of the two codes, the lower one.

    ::

        c = sat_u8(sat_s16((q - zero) * multiplier >> 12, half up) + zero of the output)
        multiplier = half_away(4096 * step / step of the output) modulo 2**16

    with the steps and zeros of `level_zero`. Codes of the output range itself stay.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    min, max : float, optional
        Output range; an end not given is that of both input ranges together. A max needs a min.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, a max without a min, shapes
        that do not broadcast, an ``out`` that does not fit or overlaps an input; as in the original, an output range 0
        wide. A single element whose recoded code is 0: the original takes that for "no constant" and reads memory
        where nothing was written.

    Notes
    -----
    Source: ``minmax_execute``, ``op_minimum_maximum.c``.

    **Hazards.** An input step 16 times that of the output, or more, wraps the multiplier:

    >>> t = (np.uint8([0, 128, 255]), -16.0, 15.875)
    >>> quantized_minimum_8(t, t, -1.0, 0.9921875).data  # -16, 0 and 15.875, cut to the range: 0, 128, 255
    array([128, 128, 128], dtype=uint8)

    Zeros between two codes are rounded first, and a range that excludes 0 loses its offset:

    >>> quantized_minimum_8((np.uint8([0, 255]), 1.0, 2.0), (np.uint8([255, 255]), 0.0, 4.0)).data  # 1 and 2
    array([ 0, 64], dtype=uint8)

    A single element of code 0:

    >>> zero = (np.uint8([0]), 0.0, 1.0)
    >>> quantized_minimum_8((np.uint8([1, 2]), 0.0, 1.0), zero)
    Traceback (most recent call last):
    ValueError: b: a single element of code 0 in (0.0, 1.0), for which the original reads memory never written

    Examples
    --------
    >>> a, b = (np.uint8([0, 200]), 0.0, 2.55), (np.uint8([100, 100]), 0.0, 5.1)
    >>> quantized_minimum_8(a, b)
    QTensor(data=array([  0, 100], dtype=uint8), min=0.0, max=5.099999904632568)
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
    """QuantizedMaximum_8: `quantized_minimum_8`, but of the two codes the higher one.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    min, max : float, optional
        Output range; an end not given is that of both input ranges together. A max needs a min.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        As `quantized_minimum_8`.

    Notes
    -----
    Source: ``minmax_execute``, ``op_minimum_maximum.c``.

    **Hazards.** Those of `quantized_minimum_8`. A maximum with 0 is no relu: the step of the output may be another.

    >>> a, zero = (np.uint8([1, 3]), 0.0, 1.0), (np.uint8([1, 1]), -1.0, 254.0)
    >>> quantized_maximum_8(a, zero).data
    array([1, 1], dtype=uint8)

    Examples
    --------
    >>> a, b = (np.uint8([0, 200]), 0.0, 2.55), (np.uint8([100, 100]), 0.0, 5.1)
    >>> quantized_maximum_8(a, b).data
    array([100, 100], dtype=uint8)
    """
    return _extreme(np.maximum, a, b, min, max, out)


def _extreme(
    pick: np.ufunc, a: TensorLike, b: TensorLike, lo: float | None, hi: float | None, out: NDArray[np.uint8] | None
) -> QTensor:
    x, y = operand(a, "a", U8), operand(b, "b", U8)
    if lo is None and hi is not None:
        raise ValueError("min: expected a number, since max is given, got None")
    ends = (
        min(x[1], y[1]) if lo is None else real(lo, "min"),
        max(x[2], y[2]) if hi is None else real(hi, "max"),
    )
    if not ends[0] < ends[1]:
        raise ValueError(f"min, max: the output range {ends} is 0 wide or crossed, which the original refuses")
    result = output(out, U8, x[0], y[0])
    pick(_recoded(x, "a", ends), _recoded(y, "b", ends), out=result)
    return tensor(result, *ends)


def _recoded(t: Checked, name: str, ends: tuple[float, float]) -> NDArray[np.uint8]:
    """Give the codes of a tensor in the output range."""
    codes = t[0]
    if t[1:] != ends:
        codes = np.empty(codes.shape, np.uint8)
        kernels.to_range(t, ends, codes)
    if codes.size == 1 and not codes.any():
        raise ValueError(
            f"{name}: a single element of code 0 in {ends}, for which the original reads memory never written"
        )
    return codes

"""Requantize: int32 codes -> uint8 codes of another range."""

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor import calls as frontdoor
from qops.qtensor import QTensor, TensorLike

BOUND_32TO8 = 0.5 + 2**-17
"""Largest error of `requantize_32to8` in LSB, for values within the output range.

0.5 for the one rounding; at most 2**-19 for the truncated product, 2**-20 for the offset and 2**-20 for the multiplier.
"""


def requantization_range(t: TensorLike) -> tuple[float, float]:
    """Real values that int32 codes really span, the narrowest range that `requantize_32to8` loses nothing with.

    ``(lowest code * scale, highest code * scale)`` with ``scale = (max - min) / 2**32``, rounded outward to float32.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor.

    Returns
    -------
    (float, float)
        (0.0, 0.0) of no codes at all.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or not symmetric.

    Examples
    --------
    >>> requantization_range((np.int32([-(2**30), 0, 2**29]), -8.0, 8.0))
    (-4.0, 2.0)
    """
    return frontdoor.requantization_range(t)


def requantize_32to8(
    t: TensorLike, min: float | None = None, max: float | None = None, *, out: NDArray[np.uint8] | None = None
) -> QTensor:
    """Requantize int32 codes into uint8 codes of the range (min, max), rounding once.

    With ``ratio = input step / output step = multiplier * 2**(left_shift - 51)``, a multiplier of 31 bits::

        c = sat_u8((((clamp(x) - centre) << left_shift) * multiplier + offset * 2**32) >> 51)

    half up. Codes that must saturate are clamped first, so that nothing wraps, whatever the ranges.
    **Error: at most 0.5 + 2**-17 LSB** (`BOUND_32TO8`) for values within (min, max); others saturate.

    Parameters
    ----------
    t : (data, min, max)
        int32 tensor, its range symmetric.
    min, max : float, optional
        Output range. What is not given comes from `requantization_range`; a single end not below (min: above) 0, so
        that a given 0 does for a relu.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes. Where min == max every code is 0, which stands for that value.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, with min > max or (input) not symmetric, an
        ``out`` that does not fit or overlaps the data.

    See Also
    --------
    qops.nnlib.requantize_32to8, qops.tensorflow.requantize : what those systems compute.

    Examples
    --------
    >>> requantize_32to8((np.int32([-(2**30), 0, 2**29]), -8.0, 8.0), -4.0, 4.0)
    QTensor(data=array([  0, 128, 191], dtype=uint8), min=-4.0, max=4.0)
    """
    return frontdoor.requantize_32to8(t, min, max, out, QTensor)

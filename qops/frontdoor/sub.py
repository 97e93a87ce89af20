"""QuantizedSub: 8 bit minus 8 bit, to int32 or to 8 bit; the adds of `a` and -`b`."""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from qops._kernels.frontdoor import add as _kernels
from qops._kernels.frontdoor import add_8p8to32 as _kernels_32
from qops.frontdoor.add import BOUND_8P8TO8 as BOUND_8P8TO8
from qops.frontdoor.add import BOUND_8P8TO32 as BOUND_8P8TO32
from qops.frontdoor.passes import Ends, Range, RangeInfo
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_8P8TO8", "BOUND_8P8TO32", "quantized_sub_8p8to8", "quantized_sub_8p8to32"]


def quantized_sub_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Subtract two uint8 tensors into int32 codes: the exact difference, rounded once.

    The range is that of `quantized_add_8p8to32`. The integers are too, but the terms of `b` are negated::

        c = (k + a * ka - b * kb) >> 15
        ka = round(2**15 * a_step / s)    kb = round(2**15 * b_step / s)
        k = round(2**15 * (a_min - b_min) / s) + 2**14

    **Error: at most** ``0.5 + 2**-7`` output LSB (`BOUND_8P8TO32`), for every pair of ranges.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    out : ndarray of int32, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        What `quantized_add_8p8to32` refuses.

    See Also
    --------
    qops.nnlib.quantized_sub_8p8to32 : what the DSP library computes.

    Examples
    --------
    >>> import numpy as np
    >>> t = quantized_sub_8p8to32((np.uint8([0, 255]), 1.0, 2.0), (np.uint8([0, 255]), 0.0, 1.0))
    >>> t.data * t.scale  # 1 - 0, 2 - 1
    array([1., 1.])
    """
    return _kernels_32.add_or_subtract(QTensor, a, b, True, out)


@overload
def quantized_sub_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[False] = False,
) -> QTensor: ...
@overload
def quantized_sub_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: Literal[True],
) -> tuple[QTensor, RangeInfo]: ...
def quantized_sub_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: Ends | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Subtract two uint8 tensors into uint8 codes, in at most two passes over the data.

    It is `quantized_add_8p8to8` of `a` and ``-b``, which has the codes ``255 - b`` in the range ``(-b_max, -b_min)``.
    The integers, the bound and the way the output range is found are the same. **Error: at most 0.6 output LSB**
    (`BOUND_8P8TO8`) for every pair of ranges whose difference float32 holds. Only differences outside `range` saturate.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 tensors of shapes that broadcast.
    guess : (float or None, float or None), optional
        Expected ends of the output range. A difference outside the guess triggers a second pass.
    range : (float, float), optional
        A fixed output range, instead of a `guess`.
    out : ndarray of uint8, optional
        Where the codes are written; of the broadcast shape.
    return_info : bool, optional
        Give a `RangeInfo` (passes, range found) as well.

    Returns
    -------
    QTensor
        uint8 codes and their range: `range`, or the guessed ends that held and the ends found for the others.
    RangeInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        What `quantized_add_8p8to8` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = (np.uint8([0, 128, 255]), 0.0, 2.0), (np.uint8([0, 64, 255]), 0.0, 1.0)
    >>> quantized_sub_8p8to8(a, b, range=(-1.0, 2.0))
    QTensor(np.uint8([85, 149, 170]), -1.0, 2.0)
    """
    found = _kernels.quantized_sub_8p8to8(QTensor, a, b, guess, range, out, return_info)
    return (found[0], RangeInfo(*found[1])) if return_info else found

"""Differences of two tensors of 8-bit codes: the adds of `a` and -`b`."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import DTypeLike, NDArray

from qops._kernels.frontdoor import add as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.frontdoor.add import BOUND_8P8TO8 as BOUND_8P8TO8
from qops.frontdoor.add import BOUND_8P8TO32 as BOUND_8P8TO32
from qops.frontdoor.passes import RangeInfo, into_any, into_uint8
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_8P8TO8", "BOUND_8P8TO32", "quantized_sub_8p8to8", "quantized_sub_8p8to32", "sub"]


@into_any
def sub(
    a: TensorLike,
    b: TensorLike,
    *,
    dtype: DTypeLike = "uint8",
    guess: OpenRange | None = None,
    range: Range | None = None,
    out: NDArray[Any] | None = None,
    return_info: bool = False,
    **unknown: Never,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Subtract two tensors of uint8 or int8 codes into codes of 8 bits, in at most two passes, or of int32.

    In 8 bits ``c = lowest + round((a - b - min) / step)``, in int32 ``c = round((a - b) / step)``: `add` of `a` and
    ``-b``. **Error: at most 0.6 output LSB** (`BOUND_8P8TO8`), in int32 ``0.5 + 2**-7`` (`BOUND_8P8TO32`), for every
    pair of ranges.

    Parameters
    ----------
    a, b : (data, min, max)
        uint8 or int8 tensors, also one of each, of shapes that broadcast.
    dtype, guess, range, out, return_info
        As `add` takes them.

    Returns
    -------
    QTensor
        The codes and their range, which is found as by `add`.
    RangeInfo
        Only with ``return_info``.

    Raises
    ------
    TypeError, ValueError
        What `add` refuses.

    See Also
    --------
    qops.nnlib.quantized_sub_8p8to8_d32, qops.nnlib.quantized_sub_8p8to32 : what the DSP library computes.

    Examples
    --------
    >>> a, b = (np.array([0, 100, 255], np.uint8), -1.0, 1.55), (np.array([-128, -28, -128], np.int8), -1.0, 1.55)
    >>> qops.sub(a, b, range=(0.0, 2.55)).data  # 0, 0 and 2.55
    array([  0,   0, 255], dtype=uint8)
    """
    if unknown:
        raise unknown_keyword(sub, unknown)
    return _kernels.sub(QTensor, RangeInfo, a, b, dtype, guess, range, out, return_info)


@refusing_unknown
def quantized_sub_8p8to32(
    a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None, **unknown: Never
) -> QTensor:
    """Subtract two uint8 tensors into int32 codes: `sub` into int32, with one dtype for the operands.

    The range is that of `quantized_add_8p8to32`. The integers are too, but the terms of `b` are negated::

        c = (k + a * ka - b * kb) >> 15
        ka = round(2**15 * a_step / s)    kb = round(2**15 * b_step / s)
        k = round(2**15 * (a_min - b_min) / s) + 2**14

    **Error: at most** ``0.5 + 2**-7`` output LSB (`BOUND_8P8TO32`), for every pair of ranges.

    Parameters
    ----------
    a, b, out
        As `quantized_add_8p8to32` takes them.

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
    >>> t = qops.quantized_sub_8p8to32(
    ...     (np.array([0, 255], np.uint8), 1.0, 2.0), (np.array([0, 255], np.uint8), 0.0, 1.0)
    ... )
    >>> t.data * t.scale  # 1 - 0, 2 - 1
    array([1., 1.])
    """
    if unknown:
        raise unknown_keyword(quantized_sub_8p8to32, unknown)
    return _kernels.sub_8p8to32(QTensor, a, b, out)


@into_uint8
def quantized_sub_8p8to8(
    a: TensorLike,
    b: TensorLike,
    guess: OpenRange | None = None,
    *,
    range: Range | None = None,
    out: NDArray[np.uint8] | None = None,
    return_info: bool = False,
    **unknown: Never,
) -> QTensor | tuple[QTensor, RangeInfo]:
    """Subtract two uint8 tensors into uint8 codes, in at most two passes over the data.

    It is `quantized_add_8p8to8` of `a` and ``-b``, which has the codes ``255 - b`` in the range ``(-b_max, -b_min)``.
    The integers, the bound and the way the output range is found are the same. **Error: at most 0.6 output LSB**
    (`BOUND_8P8TO8`) for every pair of ranges whose difference float32 holds. Only differences outside `range` saturate.

    Parameters
    ----------
    a, b, guess, range, out, return_info
        As `quantized_add_8p8to8` takes them.

    Returns
    -------
    QTensor, or QTensor and RangeInfo
        As of `quantized_add_8p8to8`.

    Raises
    ------
    TypeError, ValueError
        What `quantized_add_8p8to8` refuses.

    Examples
    --------
    >>> a, b = (np.array([0, 128, 255], np.uint8), 0.0, 2.0), (np.array([0, 64, 255], np.uint8), 0.0, 1.0)
    >>> qops.quantized_sub_8p8to8(a, b, range=(-1.0, 2.0))
    QTensor(np.uint8([85, 149, 170]), -1.0, 2.0)
    """
    if unknown:
        raise unknown_keyword(quantized_sub_8p8to8, unknown)
    return _kernels.sub_8p8to8(QTensor, RangeInfo, a, b, guess, range, out, return_info)

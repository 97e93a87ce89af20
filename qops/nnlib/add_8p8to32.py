"""nnlib's QuantizedAdd_8p8to32."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import add_8p8to32 as kernels
from qops.checks import S32
from qops.nnlib._checks import two
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_add_8p8to32", "weighed"]


def quantized_add_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedAdd_8p8to32 of version 0x00021401: ``c = ka * (a - za) + kb * (b - zb)``, exact.

    The operand with the coarser step gets the weight 0x7F80, the other one ``plus_half(step * 0x7F80 / coarser step)``.
    The zeros za and zb are those of `level_zero`. The output range is ``max = float32(2**31 / 0x7F80) * coarser step``,
    ``min = -max``.

    Parameters
    ----------
    a, b : uint8 tensor
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); two ranges 0 wide, which the original refuses too, or so narrow that
        both steps are 0 in float32; an output range beyond float32.

    See Also
    --------
    quantized_bias_add_8p8to32 : the older formula, in float32.

    Notes
    -----
    Source: ``addsub_832_execute``, ``op_addsubmul_8to32.c``. Versions of 2017 return another range.

    **Hazards.** A zero that is rounded, and a range that excludes 0:

    >>> one = np.array([1], np.uint8)
    >>> qops.nnlib.quantized_add_8p8to32((one, 1.0, 256.0), (one, 0.0, 255.0)).data // 0x7F80  # 2 + 1
    array([2], dtype=int32)

    Where both steps are below 1e-10, the weight of the finer operand is too small:

    >>> qops.nnlib.quantized_add_8p8to32((one, 0.0, 255e-12), (one, 0.0, 510e-12)).data  # not 1.5 * 0x7F80
    array([32966], dtype=int32)

    Examples
    --------
    >>> t = qops.nnlib.quantized_add_8p8to32(
    ...     (np.array([255], np.uint8), 0.0, 255.0), (np.array([10], np.uint8), 0.0, 25.5)
    ... )
    >>> t.data, round(t.max, 3)
    (array([8355840], dtype=int32), 65793.008)
    """
    return weighed(a, b, out, subtract=False)


def weighed(a: TensorLike, b: TensorLike, out: NDArray[np.int32] | None, *, subtract: bool) -> QTensor:
    """Give a + b or a - b with the weights of `quantized_add_8p8to32`."""
    x, y, codes = two(a, b, out, S32)
    top = kernels.add_8p8to32(x, y, codes, subtract)
    if not (top > 0 and isfinite(top)):
        raise bad_value("a, b", f"the ranges {x[1:]} and {y[1:]} both have steps of 0, or are beyond float32")
    return tensor(codes, -top, top)

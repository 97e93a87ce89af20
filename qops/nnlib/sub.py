"""nnlib's quantized subtractions."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import add_8p8to32 as kernels
from qops.nnlib.add_node import QuantizedSub8p8to8D32
from qops.qtensor import S32, U8, QTensor, TensorLike, operand, output, tensor


def quantized_sub_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedSub_8p8to32: ``c = ka * (a - za) - kb * (b - zb)``, exact.

    The numbers and the output range are those of `quantized_add_8p8to32`.

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
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not broadcast,
        an ``out`` that does not fit or overlaps an input; two ranges 0 wide (the original refuses them too), a range
        beyond float32.

    Notes
    -----
    Source: ``addsub_832_execute``, ``op_addsubmul_8to32.c``.

    **Hazards.** A zero between two codes is rounded to one, and a range that excludes 0 loses its offset; of two steps
    below 1e-10 the finer loses its proportion:

    >>> one = np.uint8([1])
    >>> quantized_sub_8p8to32((one, 1.0, 256.0), (one, 0.0, 255.0)).data // 0x7F80  # 2 - 1
    array([0], dtype=int32)
    >>> quantized_sub_8p8to32((one, 0.0, 255e-12), (one, 0.0, 510e-12)).data  # not -0.5 * 0x7F80
    array([-32314], dtype=int32)

    Examples
    --------
    >>> t = quantized_sub_8p8to32((np.uint8([255]), 0.0, 255.0), (np.uint8([10]), 0.0, 25.5))
    >>> t.data, round(t.max, 3)
    (array([8290560], dtype=int32), 65793.008)
    """
    x, y = operand(a, "a", U8), operand(b, "b", U8)
    result = output(out, S32, x[0], y[0])
    c_max = kernels.add_8p8to32(x, y, result, subtract=True)
    if not (c_max > 0 and isfinite(c_max)):
        raise ValueError(f"a, b: the ranges {x[1:]} and {y[1:]} are both 0 wide, or beyond float32")
    return tensor(result, -c_max, c_max)


def quantized_sub_8p8to8_d32(
    a: TensorLike,
    b: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedSub_8p8to8_d32, a - b, on its first run; `QuantizedSub8p8to8D32` tells the formulas and the passes.

    Parameters
    ----------
    a, b : uint8 tensors of equal shapes
        In plain order, not in the blocked layout of the original.
    guess_min, guess_max : float, optional
        Ends of the output range that are given; the others are found.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes and the range of the last pass.

    Raises
    ------
    TypeError, ValueError
        What every op refuses (`qops.nnlib`), and an output range that the original refuses: 0 wide, or narrower than
        1/64 of the wider input range, 1/4096 if both ends are given.

    See Also
    --------
    quantized_sub_8p8to32 : exact.

    Notes
    -----
    Source: ``op_add_d32.c``, ``op_add.c``. QuantizedSub_8p8to8, which nnlib lists too, refuses every call.

    **Hazards.** Ends that are given are cut to hold 0, and then saturate:

    >>> top, mid = (np.uint8([255]), 0.0, 255.0), (np.uint8([100]), 0.0, 255.0)
    >>> quantized_sub_8p8to8_d32(top, mid, 100.0, 150.0)  # 155
    QTensor(data=array([255], dtype=uint8), min=0.0, max=150.0)

    A zero between two codes is rounded to one, and a range that excludes 0 loses its offset:

    >>> quantized_sub_8p8to8_d32((np.uint8([0]), 1.0, 2.0), (np.uint8([0]), 0.0, 1.0), 0.0, 2.0).data  # 1 - 0
    array([0], dtype=uint8)

    Examples
    --------
    >>> quantized_sub_8p8to8_d32((np.uint8([0, 255]), 0.0, 2.55), (np.uint8([255, 0]), 0.0, 2.55), -2.56, 2.54)
    QTensor(data=array([  1, 255], dtype=uint8), min=-2.559999942779541, max=2.5399999618530273)
    """
    return QuantizedSub8p8to8D32(guess_min, guess_max)(a, b, out=out)

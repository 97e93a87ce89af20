"""nnlib's quantized subtractions."""

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import add_8p8to32 as kernels
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

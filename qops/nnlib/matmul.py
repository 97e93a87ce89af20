"""nnlib's quantized matrix product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import product
from qops._kernels.stage.mul import product_max
from qops.checks import U8, into, operands, put
from qops.nnlib.quantize_number import quantize_uint8
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_matmul_8x8to32"]


def quantized_matmul_8x8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedMatMul_8x8to32: the matrix product of ``a - za`` and ``b - zb``, modulo 2**32.

    The elements of `a`, whatever its shape, are read as M rows of K. The zeros are `quantize_uint8` of 0. The output
    range is ``max = 2**31 * step_a * step_b``, ``min = -max``.

    Parameters
    ----------
    a : uint8 tensor
        Of any shape; ``M = size // K``.
    b : uint8 tensor
        Of shape (K, N), (1, K, N) or (1, 1, K, N).
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of shape (1, 1, M, N).

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), a b of no elements, and an output range beyond float32.

    Notes
    -----
    Source: ``matmul_execute``, ``matmul_ref``, ``op_matmul.c``: the path in plain C, which the op itself takes unless K
    is a multiple of 16 or M is 1. A run of its vector path gave zeros past column 31 with K up to 16.

    **Hazards.** Elements of `a` after the last whole row are not used, and the shape of `a` plays no part:

    >>> a, b = (np.array([[1, 2, 3], [4, 5, 6]], np.uint8), 0.0, 255.0), (np.ones((4, 1), np.uint8), 0.0, 255.0)
    >>> qops.nnlib.quantized_matmul_8x8to32(a, b).data
    array([[[[10]]]], dtype=int32)

    A zero that is rounded, and a range that excludes 0:

    >>> one = np.array([[1]], np.uint8)
    >>> t = qops.nnlib.quantized_matmul_8x8to32((one, 1.0, 256.0), (one, 0.0, 255.0))
    >>> t.data.item() * t.scale  # 2 * 1
    1.0

    Examples
    --------
    >>> t = qops.nnlib.quantized_matmul_8x8to32(
    ...     (np.array([[0, 3]], np.uint8), -1.0, 254.0), (np.array([[2], [4]], np.uint8), 0.0, 255.0)
    ... )
    >>> t.data, t.scale
    (array([[[[6]]]], dtype=int32), 1.0)
    """
    (x, x_min, x_max), (y, y_min, y_max) = operands(a, b, "a", "b", U8)
    if y.ndim < 2 or y.ndim > 4 or any(length != 1 for length in y.shape[:-2]) or y.size == 0:
        raise bad_value("b", f"expected a matrix, alone or of shape (1, 1, K, N), got shape {y.shape}")
    top = product_max(x_min, x_max, y_min, y_max, "a, b")
    k, n = y.shape[-2:]
    rows = x.size // k
    shape = (1, 1, rows, n)
    place = into(out, shape, [x, y])
    left, matrix = x.reshape(-1)[: rows * k].reshape(rows, k), None if place is None else place.reshape(rows, n)
    x_zero, y_zero = quantize_uint8(0.0, x_min, x_max), quantize_uint8(0.0, y_min, y_max)
    sums = product(left, y.reshape(k, n), matrix, offsets=(x_zero, y_zero))
    return tensor(put(sums.reshape(shape) if place is None else place, out), -top, top)

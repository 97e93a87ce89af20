"""QuantizedMatMul: uint8 by uint8, to int32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import about, bad_value
from qops._kernels.gemm.gemm import product
from qops._kernels.tensorflow.ends import in_order
from qops._kernels.tensorflow.mul import offset, range_of_products
from qops.checks import flag, into, put
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, operands, shape_text

__all__ = ["quantized_matmul"]


def quantized_matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    *,
    out: NDArray[np.int32] | None = None,
) -> QTensor:
    """Multiply two uint8 matrices into int32 codes: the sums of ``(a - zero(a)) * (b - zero(b))``, modulo 2**32.

    The zeros are those of `quantized_mul`, not clamped to codes. The step of the result is the product of both steps,
    in float32; ``max`` is 2**31 of its steps, and ``min = -max``.

    Parameters
    ----------
    a : (data, min, max)
        uint8 matrix (M, K), min < max.
    b : (data, min, max)
        uint8 matrix (K, N), min < max.
    transpose_a, transpose_b : bool
        Whether `a` is given as (K, M), and `b` as (N, K).
    out : ndarray of int32, optional
        Where the codes are written; of shape (M, N).

    Returns
    -------
    QTensor
        int32 codes of shape (M, N), ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; ``In[0] is not a matrix``; ``Matrix size-incompatible``; ``max_a must be
        larger than min_a``; a range whose step is below the normal float32; a product of steps beyond float32; an
        `out` that does not fit or overlaps an input. K = 0, for which TensorFlow gives memory that it has not written.

    Notes
    -----
    Source: TensorFlow, ``quantized_matmul_op.cc``, ``quantization_utils.h``; gemmlowp.

    **Hazards.** A zero between two codes is rounded to one of them, here 127.5 to 128. The error that this makes in
    each product adds up over K:

    >>> row, column = np.full((1, 100), 255, np.uint8), np.full((100, 1), 255, np.uint8)
    >>> t = qops.tensorflow.quantized_matmul((row, -1.0, 1.0), (column, -1.0, 1.0))
    >>> round(float(t.data.item() * t.scale), 2)  # 100 * 1 * 1
    99.22

    Sums wrap, from K = 33026 on:

    >>> row, column = np.full((1, 33026), 255, np.uint8), np.full((33026, 1), 255, np.uint8)
    >>> qops.tensorflow.quantized_matmul((row, 0.0, 1.0), (column, 0.0, 1.0)).data.item()
    -2147451646

    Examples
    --------
    >>> t = qops.tensorflow.quantized_matmul(
    ...     (np.array([[0, 3]], np.uint8), -1.0, 254.0), (np.array([[2], [4]], np.uint8), 0.0, 255.0)
    ... )
    >>> t.data, t.scale
    (array([[6]], dtype=int32), 1.0)
    """
    x, y = operands(STEPS, ("quint8",), a=a, b=b)
    left = _matrix(x[0], "a: In[0]", transpose_a, "transpose_a")
    right = _matrix(y[0], "b: In[1]", transpose_b, "transpose_b")
    if left.shape[1] != right.shape[0]:
        texts = shape_text(x[0].shape), shape_text(y[0].shape)
        raise bad_value("a, b", f"Matrix size-incompatible: In[0]: {texts[0]}, In[1]: {texts[1]}")
    in_order(a=x, b=y)
    top = range_of_products(x, y, "a, b")
    shape = len(left), right.shape[1]
    if left.shape[1] == 0 and all(shape):
        raise bad_value("a, b", "have no columns and rows to multiply; TensorFlow gives memory that it has not written")
    place = into(out, shape, [left, right])
    sums = product(left, right, place, offsets=(offset(*x[1:]), offset(*y[1:])))
    return tensor(put(sums, out), -top, top)


def _matrix(data: NDArray[Any], name: str, is_transposed: object, flag_name: str) -> NDArray[Any]:
    """Give a matrix, transposed if the flag says so."""
    if data.ndim != 2:
        text = f"is not a matrix, got shape {shape_text(data.shape)}"
        raise about(ValueError(f"{name} {text}"), name, text)
    return data.T if flag(is_transposed, flag_name) else data

"""nnlib's max and average pools of uint8 images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import pooling as kernels
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_avg_pool_8", "quantized_max_pool_8"]


def quantized_max_pool_8(
    x: TensorLike,
    window: tuple[int, int],
    stride: tuple[int, int],
    padding: str,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedMaxPool_8: the highest code of each window, without pixels of padding.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C).
    window, stride : (int, int)
        The size of a window, and how many pixels it moves, down and across: at least 1.
    padding : {"VALID", "SAME", "SAME_CAFFE"}
        As `quantized_conv2d_8x8to32` takes it.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, C), in the range of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and, for ``VALID``, a window larger than the image.

    Notes
    -----
    Source: ``maxpool_execute``, ``op_maxpool.c``.

    **Hazards.** ``SAME`` and ``SAME_CAFFE`` are different windows if the padding has an odd number of pixels:

    >>> x = np.arange(4, dtype=np.uint8).reshape(1, 1, 4, 1)
    >>> [
    ...     qops.nnlib.quantized_max_pool_8((x, 0.0, 1.0), (1, 2), (1, 1), p).data.ravel().tolist()
    ...     for p in ("SAME", "SAME_CAFFE")
    ... ]
    [[1, 2, 3, 3], [0, 1, 2, 3]]

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1)
    >>> for padding in ("VALID", "SAME", "SAME_CAFFE"):
    ...     qops.nnlib.quantized_max_pool_8((x, 0.0, 1.0), (2, 2), (2, 2), padding).data.ravel().tolist()
    [4]
    [4, 5, 7, 8]
    [0, 2, 6, 8]
    """
    return tensor(*kernels.pool(x, window, stride, padding, out, False))


def quantized_avg_pool_8(
    x: TensorLike,
    window: tuple[int, int],
    stride: tuple[int, int],
    padding: str,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedAvgPool_8: the mean of the codes of each window, without pixels of padding.

    ::

        c = sat_u8((wrap_s16(sum) * min(32768 // count, 32767) + 0x4000) >> 15)

    Parameters
    ----------
    x, window, stride, padding, out
        As `quantized_max_pool_8` takes them; a window has 32768 pixels at most.

    Returns
    -------
    QTensor
        uint8 codes of shape (N, OH, OW, C), in the range of `x`.

    Raises
    ------
    TypeError, ValueError
        As `quantized_max_pool_8`, and for a window of more than 32768 pixels, for which nnlib's reciprocal is 0.

    Notes
    -----
    Source: ``avgpool_execute_slice_asm``, ``op_avgpool.c``; ``avgpool_nonaligned_hvx.S``. The 16 signed bits of a sum
    are known from this source only; no recorded result has windows that are large enough to show them.

    **Hazards.** The quotient 32768 / count is rounded down, so means of many pixels are too low:

    >>> bright = np.full((1, 10, 10, 1), 255, np.uint8)
    >>> qops.nnlib.quantized_avg_pool_8((bright, 0.0, 1.0), (10, 10), (1, 1), "VALID").data.item()
    254

    A sum from 2**15 on, such as that of 129 bright pixels, is read as a negative number:

    >>> bright = np.full((1, 12, 12, 1), 255, np.uint8)
    >>> qops.nnlib.quantized_avg_pool_8((bright, 0.0, 1.0), (12, 12), (1, 1), "VALID").data.item()
    0

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1)
    >>> qops.nnlib.quantized_avg_pool_8((x, 0.0, 1.0), (2, 2), (2, 2), "SAME").data.ravel().tolist()  # of 4, 2, 2 and 1
    [2, 4, 7, 8]
    """
    return tensor(*kernels.pool(x, window, stride, padding, out, True))

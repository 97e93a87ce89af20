"""QuantizedMaxPool and QuantizedAvgPool of uint8 and int8 images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.pool.pooling import largest, means
from qops._kernels.tensorflow.ends import fit
from qops._kernels.tensorflow.window import of_pool, over
from qops.checks import check_out, flag
from qops.qtensor import QTensor, TensorLike
from qops.tensorflow._checks import one_of, operands, passed_on, typenums_of
from qops.tensorflow.window import PADDINGS

__all__ = ["quantized_avg_pool", "quantized_max_pool"]

KINDS = ("quint8", "qint8")
TYPENUMS = typenums_of(KINDS)


def quantized_max_pool(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    *,
    onednn: bool = False,
    out: NDArray[Any] | None = None,
) -> QTensor:
    """Take the highest code of each window; padding does not count. The range does not change.

    Parameters
    ----------
    input : (data, min, max)
        uint8 or int8 images (N, H, W, C); the range in any order.
    ksize, strides : sequence of four int
        Length of the window and its stride along each axis. Both are 1 along N. Along C the window is 1, and the stride
        has no effect.
    padding : str
        ``VALID``: none. ``SAME``: there are ceil(size / stride) windows; half of the pixels that they lack, rounded
        down, is put in front.
    onednn : bool
        Whether oneDNN is on, which is TensorFlow's default on x86. The codes are the same.
    out : ndarray of uint8 or int8, optional
        Where the codes are written; of the type of the input and of shape (N, OH, OW, C).

    Returns
    -------
    QTensor
        Codes of shape (N, OH, OW, C), of the range of the input.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor (``must have 2 spatial dimensions``); a range that is not finite or is
        wider than float32; ``Pooling is not yet supported on the batch dimension``; ``Non-spatial pooling is not yet
        supported``; a window or step below 1; another padding; ``Computed output size would be negative``; with
        oneDNN, images without a window, where TensorFlow aborts the call; an `out` that does not fit or overlaps the
        data.

    Notes
    -----
    Source: TensorFlow, ``quantized_pooling_ops.cc``, ``pooling_ops_common.cc``.

    **Hazards.** With ``VALID``, a window that is larger than the images is an error only if it is larger by more than a
    stride. If it is not, there are no windows:

    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1)
    >>> qops.tensorflow.quantized_max_pool((x, 0.0, 1.0), (1, 4, 4, 1), (1, 1, 1, 1), "VALID").data.shape
    (1, 0, 0, 1)

    Examples
    --------
    >>> for padding in ("VALID", "SAME"):
    ...     qops.tensorflow.quantized_max_pool((x, 0.0, 1.0), (1, 2, 2, 1), (1, 2, 2, 1), padding).data.ravel().tolist()
    [4]
    [4, 5, 7, 8]
    """
    flag(onednn, "onednn")
    image, lo, hi, kernel, stride = _checked(input, ksize, strides, padding)
    window = over(image, kernel, stride, padding)
    if onednn and window is None and 0 not in image.shape[::3]:
        raise bad_value(
            "ksize", f"{kernel} in images of {image.shape[1:3]}: no window, and TensorFlow aborts with oneDNN"
        )
    codes = _nothing(image, kernel, stride, padding, out) if window is None else largest(image, kernel, window, out)
    return passed_on(codes, lo, hi)


def quantized_avg_pool(
    input: TensorLike,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    *,
    onednn: bool = False,
    out: NDArray[Any] | None = None,
) -> QTensor:
    """Take the mean of the codes of each window; padding does not count. The range does not change.

    The mean is ``truncate(sum / count)`` in integers. With oneDNN it is ``half_even(sum / count)`` in float32.

    Parameters
    ----------
    input : (data, min, max)
        uint8 or int8 images (N, H, W, C); the range in any order.
    ksize, strides : sequence of four int
        Length and stride of the window, as `quantized_max_pool` takes them.
    padding : str
        ``VALID`` or ``SAME``, as `quantized_max_pool` takes it.
    onednn : bool
        Whether oneDNN is on, which is TensorFlow's default on x86.
    out : ndarray of uint8 or int8, optional
        Where the codes are written; of the type of the input and of shape (N, OH, OW, C).

    Returns
    -------
    QTensor
        Codes of shape (N, OH, OW, C), of the range of the input.

    Raises
    ------
    TypeError, ValueError
        What `quantized_max_pool` refuses, and a window of length 0, which ends TensorFlow's process.

    Notes
    -----
    Source: TensorFlow, ``quantized_pooling_ops.cc``, ``mkl_avgpooling_op.cc``. With oneDNN TensorFlow takes windows
    along C as well, which are refused here.

    **Hazards.** An environment variable decides whether oneDNN is on, and so which codes the same call gives on the
    same machine. Without oneDNN, a mean is up to one code too near to code 0, which is min for uint8:

    >>> x = np.array([0, 1, 1, 1, 2, 2, 2, 3], np.uint8).reshape(1, 2, 4, 1)
    >>> qops.tensorflow.quantized_avg_pool((x, 0.0, 1.0), (1, 2, 2, 1), (1, 2, 2, 1), "SAME").data.ravel()
    array([1, 1], dtype=uint8)
    >>> qops.tensorflow.quantized_avg_pool((x, 0.0, 1.0), (1, 2, 2, 1), (1, 2, 2, 1), "SAME", onednn=True).data.ravel()
    array([1, 2], dtype=uint8)

    If there are no windows, oneDNN gives no range either:

    >>> qops.tensorflow.quantized_avg_pool((x, 0.0, 1.0), (1, 3, 3, 1), (1, 2, 2, 1), "VALID", onednn=True).min
    array([], dtype=float32)

    Examples
    --------
    >>> x = np.arange(9, dtype=np.uint8).reshape(1, 3, 3, 1)
    >>> y = qops.tensorflow.quantized_avg_pool((x, 0.0, 1.0), (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    >>> y.data.ravel().tolist()  # of 4, 2, 2 and 1
    [2, 3, 6, 8]
    """
    flag(onednn, "onednn")
    image, lo, hi, kernel, stride = _checked(input, ksize, strides, padding)
    window = over(image, kernel, stride, padding)
    if window is not None:
        return passed_on(means(image, kernel, window, "quotient" if onednn else "truncate", out=out), lo, hi)
    nothing = _nothing(image, kernel, stride, padding, out)
    missing = onednn and 0 not in image.shape[::3]
    return passed_on(nothing, *((np.empty(0, np.float32),) * 2 if missing else (lo, hi)))


def _checked(
    input: TensorLike, ksize: Sequence[int], strides: Sequence[int], padding: str
) -> tuple[NDArray[Any], float, float, tuple[int, int], tuple[int, int]]:
    """Give the image, its range, and the lengths and strides of the windows; the kernels check `out`."""
    ((image, lo, hi),) = fit(0, TYPENUMS, input) or operands(0, KINDS, input=input)
    kernel, stride = of_pool(image, ksize, strides)
    one_of(padding, "padding", PADDINGS)
    return image, lo, hi, kernel, stride


def _nothing(
    image: NDArray[Any], kernel: tuple[int, int], stride: tuple[int, int], rule: str, out: NDArray[Any] | None
) -> NDArray[Any]:
    """Give a result without elements; ValueError if TensorFlow computes a number of windows below 0."""
    size = image.shape[1:3]
    places = tuple([_places(rule, size[i], kernel[i], stride[i]) for i in (0, 1)])
    if min(places) < 0:
        raise bad_value("ksize", f"Computed output size would be negative: {kernel} for images of {size}")
    shape = (len(image), *places, image.shape[3])
    if out is None:
        return np.empty(shape, image.dtype)
    check_out(out, image.dtype.num, shape, [image])
    return out


def _places(rule: str, size: int, taps: int, step: int) -> int:
    """Give the number of windows along one axis; below 0 if the window is too large."""
    return int((size - taps + step) / step) if rule == "VALID" else -(-size // step)

"""QuantizedBatchNormWithGlobalNormalization: uint8 to int32, in fixed point with a constant range."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow import batch_norm as kernels
from qops.checks import flag, into, put
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, number, operands, shape_text

__all__ = ["quantized_batch_norm_with_global_normalization"]

LIMIT = 2.0**20


def quantized_batch_norm_with_global_normalization(
    t: TensorLike,
    m: TensorLike,
    v: TensorLike,
    beta: TensorLike,
    gamma: TensorLike,
    variance_epsilon: float,
    scale_after_normalization: bool,
    *,
    out: NDArray[np.int32] | None = None,
) -> QTensor:
    """Normalize the channels of images: ``(t - m) / sqrt(v + variance_epsilon) * gamma + beta``, to int32 codes.

    Whatever the data, the result has the range (-2**20, 2**20), in which 1 is 2048 codes. In float32, each operation
    rounded, without gamma if `scale_after_normalization` is False::

        scale = 1 / sqrt(v + variance_epsilon) * gamma    offset = -m * scale + beta
        result = code(t) * code(scale) / 2048 + code(offset)

    where code(x) is ``x * 2048 * (1 - 2**-32)`` in float64, rounded half away from 0 and saturated to int32. So ties of
    2048 * x go toward 0. The product and the sum wrap in int32; the division truncates. The value of a uint8 code is
    counted from min, which is first rounded to a whole step.

    Parameters
    ----------
    t : (data, min, max)
        uint8 images (N, H, W, C), C at least 2; the range in any order.
    m, v, beta, gamma : (data, min, max)
        uint8, C values each: the mean, the variance, the added term, the factor; the ranges in any order.
    variance_epsilon : float
        Added to the variance.
    scale_after_normalization : bool
        Whether gamma is used.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `t`.

    Returns
    -------
    QTensor
        int32 codes of the range (-2**20, 2**20).

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor (``must be 4-dimensional``, ``must be 1-dimensional``, ``Must have at
        least a mean value``, ``must have the same shape``); a range that is not finite, or whose step is below the
        normal float32; a variance that is not above 0 with `variance_epsilon`, whose code TensorFlow leaves undefined;
        an `out` that does not fit or overlaps a tensor.

    Notes
    -----
    Source: TensorFlow, ``quantized_batch_norm_op.cc``, ``quantization_utils.h``.

    **Hazards.** The product wraps as soon as t / sqrt(v) reaches 512. Here the exact results are
    30 / sqrt(0.0039 + 1e-3) = 428 and 40 / sqrt(0.0039 + 1e-3) = 571:

    >>> channel, least = (np.array([0, 0], np.uint8), 0.0, 1.0), (np.array([1, 1], np.uint8), 0.0, 1.0)
    >>> t = np.array([30, 40], np.uint8).reshape(1, 1, 1, 2), 0.0, 255.0
    >>> y = qops.tensorflow.quantized_batch_norm_with_global_normalization(
    ...     t, channel, least, channel, channel, 1e-3, False
    ... )
    >>> np.round(y.data.ravel() / 2048).tolist()
    [428.0, -454.0]

    The scale has 11 fractional bits, like the result. With a variance of 1e6 its code, 2.048, is rounded to 2:

    >>> wide = np.array([255, 255], np.uint8), 0.0, 1e6
    >>> y = qops.tensorflow.quantized_batch_norm_with_global_normalization(
    ...     t, channel, wide, channel, channel, 1e-3, False
    ... )
    >>> [round(v, 4) for v in (y.data.ravel() / 2048).tolist()]  # 0.03 and 0.04
    [0.0293, 0.0391]

    Ties go toward 0. Here beta is 0.5 and 1.5 codes, and all else is 0:

    >>> dark, beta = (np.zeros((1, 1, 1, 2), np.uint8), 0.0, 1.0), (np.array([1, 3], np.uint8), 0.0, 255 / 4096)
    >>> y = qops.tensorflow.quantized_batch_norm_with_global_normalization(
    ...     dark, channel, least, beta, channel, 1e-3, False
    ... )
    >>> y.data.ravel()
    array([0, 1], dtype=int32)

    Examples
    --------
    >>> ones, zeros = (np.array([1, 1], np.uint8), 0.0, 255.0), (np.array([0, 0], np.uint8), 0.0, 255.0)
    >>> y = qops.tensorflow.quantized_batch_norm_with_global_normalization(t, ones, ones, zeros, ones, 0.0, True)
    >>> y.min, y.max, y.data.ravel() / 2048
    (-1048576.0, 1048576.0, array([29., 39.]))
    """
    epsilon = number(variance_epsilon, "variance_epsilon")
    scaled = flag(scale_after_normalization, "scale_after_normalization")
    image, *channels = operands(STEPS, ("quint8",), t=t, m=m, v=v, beta=beta, gamma=gamma)
    if image[0].ndim != 4:
        raise bad_value("t", f"input must be 4-dimensional{shape_text(image[0].shape)}")
    words = {"m": "mean", "v": "var", "beta": "beta", "gamma": "gamma"}
    for (name, word), (data, _, _) in zip(words.items(), channels, strict=True):
        if data.ndim != 1:
            raise bad_value(name, f"{word} must be 1-dimensional{shape_text(data.shape)}")
    count = channels[0][0].size
    if count < 2:
        raise bad_value("m", f"Must have at least a mean value{shape_text(channels[0][0].shape)}, and a second one")
    for (name, word), (data, _, _) in zip(words.items(), channels, strict=True):
        if data.size != count:
            raise bad_value(name, f"Mean and {word} tensors must have the same shape: [{count}] vs. [{data.size}]")
    if image[0].shape[3] != count:
        raise bad_value("m", f"expected {image[0].shape[3]} values, one per channel of t, got {count}")
    mean, variance, added, multiplied = ((np.ascontiguousarray(data), lo, hi) for data, lo, hi in channels)
    found = kernels.factors(mean, variance, added, multiplied, epsilon, scaled)
    if found is None:
        raise bad_value("v", f"with variance_epsilon {epsilon}, has no square root above 0 for each channel")
    place = into(out, image[0].shape, [data for data, _, _ in (image, *channels)])
    codes = np.empty(image[0].shape, np.int32) if place is None else place
    kernels.normalize((np.ascontiguousarray(image[0]), *image[1:]), *found, codes)
    return tensor(put(codes, out), -LIMIT, LIMIT)

"""QuantizedInstanceNorm: each channel of each image normalized, uint8 to uint8."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage import prepared as stages
from qops.checks import U8, flag, output
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, number, operands

__all__ = ["quantized_instance_norm"]

F32 = np.float32
ALL_CODES = np.arange(STEPS + 1, dtype=F32)


def quantized_instance_norm(
    x: TensorLike,
    output_range_given: bool = False,
    given_y_min: float = 0.0,
    given_y_max: float = 0.0,
    variance_epsilon: float = 1e-5,
    min_separation: float = 1e-3,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """Normalize each channel of each image by its own mean and variance.

    In float32, each operation rounded, with ``step = (max - min) / 255``::

        mean = sum(q) / (H * W)    var = sum((step * (q - mean))**2) / (H * W)
        y = step * (q - mean) * (1 / sqrt(var + variance_epsilon))

    The range is that of all y, or the given one. If it is narrower than `min_separation`, max becomes
    ``min + min_separation``. Then, with ``s = 255 / (y_max - y_min)`` and rounding half away from zero::

        code = clamp(round(y * s) - round(y_min * s), 0, 255)

    Parameters
    ----------
    x : (data, min, max)
        uint8 images (N, H, W, C), min < max.
    output_range_given : bool
        Whether the result has the range that is given, instead of that of the data.
    given_y_min, given_y_max : float
        The given range.
    variance_epsilon : float
        Added to the variance.
    min_separation : float
        Minimum width of the range.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        uint8 codes and their range.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; another number of dimensions than 4, which ends TensorFlow's process; no
        elements, for which TensorFlow's range is infinite; ``input_min must be less than input_max``, ``given_y_min
        must be less than given_y_max``; a number that is not finite; a variance that is not above 0 with
        `variance_epsilon`; a range whose step is below the normal float32; an `out` that does not fit or overlaps `x`.

    Notes
    -----
    Source: TensorFlow, ``quantized_instance_norm.cc``, ``quantization_utils.h``, and Eigen. Eigen adds up the squares
    in another order, and its inverse square root is not correctly rounded. So TensorFlow's range may differ by a few
    units in the last place, 1e-6 of its size, and so may a code whose value is nearly a tie. In data that are symmetric
    about their mean all codes may be such: the ends of the range are ties, and where TensorFlow takes the other side,
    most of an image shifts by 1, or by 2 where two such differences meet.

    **Hazards.** The range depends on the data, so the same pixel gets another code in another batch. The mean of a
    channel, which becomes 0, is seldom on a code:

    >>> x = np.array([0, 255, 255, 255], np.uint8).reshape(1, 2, 2, 1)
    >>> t = qops.tensorflow.quantized_instance_norm((x, -1.0, 1.0))
    >>> t.data.ravel(), round(t.min, 3), round(t.max, 3)
    (array([  0, 255, 255, 255], dtype=uint8), -1.732, 0.577)

    If all pixels of a channel are the same, they become 0. If all channels are such, the range is (0, 0.001), and 0 has
    code 0:

    >>> qops.tensorflow.quantized_instance_norm((np.full((1, 2, 2, 1), 77, np.uint8), -1.0, 1.0)).data.ravel()
    array([0, 0, 0, 0], dtype=uint8)

    Examples
    --------
    >>> t = qops.tensorflow.quantized_instance_norm(
    ...     (np.array([0, 100, 200], np.uint8).reshape(1, 1, 3, 1), 0.0, 1.0), True, -2.0, 2.0
    ... )
    >>> t.data.ravel(), t.min, t.max
    (array([ 50, 128, 206], dtype=uint8), -2.0, 2.0)
    """
    is_given = flag(output_range_given, "output_range_given")
    low, high = F32(number(given_y_min, "given_y_min")), F32(number(given_y_max, "given_y_max"))
    epsilon = F32(number(variance_epsilon, "variance_epsilon"))
    separation = F32(number(min_separation, "min_separation"))
    if is_given and not low < high:
        raise bad_value("given_y_min", f"given_y_min must be less than given_y_max : {low} >= {high}")
    ((q, x_min, x_max),) = operands(STEPS, ("quint8",), x=x)
    if not x_min < x_max:
        raise bad_value("x", f"input_min must be less than input_max : {x_min} >= {x_max}")
    if q.ndim != 4:
        raise bad_value("x", f"expected 4 dimensions, with others TensorFlow's process ends, got shape {q.shape}")
    if q.size == 0:
        raise bad_value("x", f"has no elements, shape {q.shape}, so TensorFlow's range is infinite")
    out = output(out, U8, q)
    step = F32((F32(x_max) - F32(x_min)) / F32(STEPS))
    places = q + (256 * np.arange(q.shape[0] * q.shape[3])).reshape(q.shape[0], 1, 1, -1)
    values, seen = _normalized(places, q.shape[1] * q.shape[2], step, epsilon)
    if not is_given:
        low, high = values[seen].min(), values[seen].max()
    with np.errstate(over="ignore"):
        if high - low < separation:
            high = low + separation
        width = high - low
        scale = F32(STEPS) / width if width else F32(0)
    if not np.isfinite([width, scale]).all():
        raise bad_value("given_y_min, given_y_max", f"the range ({low}, {high}) is too narrow or wide for float32")
    codes = np.empty(values.shape, np.uint8)
    start = np.empty((), np.int32)
    stages.FloatStage(float(scale), "half_away", -np.inf, np.inf).run(np.asarray(low), start)
    stages.FloatStage(float(scale), "half_away", 0, STEPS, shift=-float(start)).run(values, codes)
    np.take(codes, places, out=out, mode="clip")
    return tensor(out, float(low), float(high))


def _normalized(
    places: NDArray[np.int64], count: int, step: F32, epsilon: F32
) -> tuple[NDArray[F32], NDArray[np.bool]]:
    """Give the result for each of the 256 codes of each channel, and whether the code occurs there.

    `places` holds 256 * channel + code for each element.
    """
    channels = places.shape[0] * places.shape[3]
    often = np.bincount(places.ravel(), minlength=256 * channels).reshape(channels, 256)
    mean = ((often @ np.arange(256)).astype(F32) / F32(count))[:, np.newaxis]
    values = step * (ALL_CODES - mean)
    with np.errstate(over="ignore"):
        squares = np.where(often, np.square(values), 0)
        total = (often * squares).sum(1, keepdims=True)
        var = np.where(np.isinf(total.astype(F32)), np.inf, total / count).astype(F32)
    if not (var + epsilon > 0).all():
        raise bad_value("variance_epsilon", f"a variance of {var.min()} and {epsilon} is not above 0")
    root = (1 / np.sqrt((var + epsilon).astype(np.float64))).astype(F32)
    return (values * root).ravel(), often.ravel() > 0

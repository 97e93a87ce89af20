"""nnlib's Relu, ReluX, Clamp and Neg on uint8 codes."""

import numpy as np
from numpy.typing import NDArray

from qops._kernels.core.clamp import clamp
from qops.nnlib.ranges import quantize_uint8
from qops.qtensor import U8, QTensor, TensorLike, operand, output, real, tensor


def quantized_relu_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedRelu_8: ``max(q, zero)``, zero the code of 0 (`quantize_uint8`). The range stays.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes of the range of `t`.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, an ``out`` that does not fit
        or overlaps the data.

    Notes
    -----
    Source: ``relu_execute``, ``op_relu.c``.

    **Hazards.** Where 0 is between two codes, what becomes of values below 0 is not 0:

    >>> t = quantized_relu_8((np.uint8([0]), -0.5, 2.0))
    >>> t.data, round(float(t.min + t.data[0] * t.scale), 4)
    (array([51], dtype=uint8), 0.0)
    >>> t = quantized_relu_8((np.uint8([0]), -1.0, 1.0))
    >>> t.data, round(float(t.min + t.data[0] * t.scale), 4)
    (array([128], dtype=uint8), 0.0039)

    Examples
    --------
    >>> quantized_relu_8((np.uint8([0, 51, 255]), -0.5, 2.0)).data
    array([ 51,  51, 255], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    clamp(codes, quantize_uint8(0.0, lo, hi), 255, result)
    return tensor(result, lo, hi)


def quantized_relux_8(t: TensorLike, limit: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedReluX_8: `quantized_clamp_8` from 0 to `limit`.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    limit : float
        Where the values end.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes of the range of `t`.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, a limit that is no finite
        number, an ``out`` that does not fit or overlaps the data.

    Notes
    -----
    Source: ``reluX_execute``, ``op_relu.c``.

    **Hazards.** A limit below 0 is no error, and wins over the 0:

    >>> quantized_relux_8((np.uint8([0, 255]), -1.0, 1.55), -0.5).data
    array([50, 50], dtype=uint8)

    Examples
    --------
    >>> quantized_relux_8((np.uint8([0, 100, 255]), 0.0, 25.5), 6.0).data
    array([ 0, 60, 60], dtype=uint8)
    """
    data, lo, hi = operand(t, "t", U8)
    return quantized_clamp_8((data, lo, hi), 0.0, real(limit, "limit"), out=out)


def quantized_clamp_8(t: TensorLike, lower: float, upper: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedClamp_8: ``min(max(q, code of lower), code of upper)``, codes as `quantize_uint8`. The range stays.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    lower, upper : float
        Where the values begin and end.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes of the range of `t`.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, an end that is no finite
        number, an ``out`` that does not fit or overlaps the data.

    Notes
    -----
    Source: ``clamp_execute``, ``op_relu.c``.

    **Hazards.** Ends that are crossed are no error; the upper one wins:

    >>> quantized_clamp_8((np.uint8([0, 255]), 0.0, 25.5), 20.0, 10.0).data
    array([100, 100], dtype=uint8)

    Examples
    --------
    >>> quantized_clamp_8((np.uint8([0, 100, 255]), 0.0, 25.5), 5.0, 20.0).data
    array([ 50, 100, 200], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    first, last = quantize_uint8(real(lower, "lower"), lo, hi), quantize_uint8(real(upper, "upper"), lo, hi)
    result = output(out, U8, codes)
    clamp(codes, first, last, result)
    return tensor(result, lo, hi)


def quantized_neg_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedNeg_8: ``255 - q``, of the range ``(-max, -min)``; exact.

    Parameters
    ----------
    t : (data, min, max)
        uint8 tensor.
    out : ndarray of uint8, optional
        Where the codes are written; of the shape of the data.

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, an ``out`` that does not fit
        or overlaps the data.

    Notes
    -----
    Source: ``unary_op_execute``, ``op_neg.c``.

    **Hazards.** The range changes too, so a neg of equal codes in two places of a graph is not of equal ranges, which
    a concat or a maximum then rounds.

    >>> quantized_neg_8((np.uint8([255]), 0.0, 1.0))
    QTensor(data=array([0], dtype=uint8), min=-1.0, max=-0.0)

    Examples
    --------
    >>> quantized_neg_8((np.uint8([0, 100, 255]), -1.0, 1.55))
    QTensor(data=array([255, 155,   0], dtype=uint8), min=-1.5499999523162842, max=1.0)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    np.invert(codes, out=result)
    return tensor(result, -hi, -lo)

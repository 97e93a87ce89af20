"""nnlib's Relu, ReluX, Clamp and Neg on uint8 codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.stage.clamp import clamp
from qops.checks import U8, operand, output, real
from qops.nnlib.quantize_number import HIGHEST, quantize_uint8
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_clamp_8", "quantized_neg_8", "quantized_relu_8", "quantized_relux_8"]


def quantized_relu_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedRelu_8: ``max(q, zero)``, with zero the `quantize_uint8` of 0.

    Parameters
    ----------
    t : uint8 tensor
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes in the range of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``relu_execute``, ``op_relu.c``.

    **Hazards.** If 0 lies between two codes, values below 0 do not become 0:

    >>> t = qops.nnlib.quantized_relu_8((np.array([0], np.uint8), -0.5, 2.0))
    >>> t.data, round(float(t.min + t.data[0] * t.scale), 4)
    (array([51], dtype=uint8), 0.0)
    >>> t = qops.nnlib.quantized_relu_8((np.array([0], np.uint8), -1.0, 1.0))
    >>> t.data, round(float(t.min + t.data[0] * t.scale), 4)
    (array([128], dtype=uint8), 0.0039)

    Examples
    --------
    >>> qops.nnlib.quantized_relu_8((np.array([0, 51, 255], np.uint8), -0.5, 2.0)).data
    array([ 51,  51, 255], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    clamp(codes, quantize_uint8(0.0, lo, hi), HIGHEST, result)
    return tensor(result, lo, hi)


def quantized_relux_8(t: TensorLike, limit: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedReluX_8: `quantized_clamp_8` from 0 to `limit`.

    Parameters
    ----------
    t : uint8 tensor
    limit : float
        The highest value.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        As `quantized_clamp_8` returns it.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``reluX_execute``, ``op_relu.c``.

    **Hazards.** A limit below 0 is no error, and all values become that limit:

    >>> qops.nnlib.quantized_relux_8((np.array([0, 255], np.uint8), -1.0, 1.55), -0.5).data
    array([50, 50], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_relux_8((np.array([0, 100, 255], np.uint8), 0.0, 25.5), 6.0).data
    array([ 0, 60, 60], dtype=uint8)
    """
    return quantized_clamp_8(t, 0.0, real(limit, "limit"), out=out)


def quantized_clamp_8(t: TensorLike, lower: float, upper: float, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedClamp_8: ``min(max(q, first), last)``, the `quantize_uint8` of `lower` and of `upper`.

    Parameters
    ----------
    t : uint8 tensor
    lower, upper : float
        The lowest and the highest value.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes in the range of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``clamp_execute``, ``op_relu.c``.

    **Hazards.** A lower end above the upper one is no error; all values become the upper one:

    >>> qops.nnlib.quantized_clamp_8((np.array([0, 255], np.uint8), 0.0, 25.5), 20.0, 10.0).data
    array([100, 100], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_clamp_8((np.array([0, 100, 255], np.uint8), 0.0, 25.5), 5.0, 20.0).data
    array([ 50, 100, 200], dtype=uint8)
    """
    lower, upper = real(lower, "lower"), real(upper, "upper")
    codes, lo, hi = operand(t, "t", U8)
    first, last = quantize_uint8(lower, lo, hi), quantize_uint8(upper, lo, hi)
    result = output(out, U8, codes)
    clamp(codes, first, last, result)
    return tensor(result, lo, hi)


def quantized_neg_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedNeg_8: ``255 - q``, in the range ``(-max, -min)``; exact.

    Parameters
    ----------
    t : uint8 tensor
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``unary_op_execute``, ``op_neg.c``.

    **Hazards.** The output has another range than the input, so an op that joins both, as a concat or a maximum does,
    must recode at least one of them, which rounds.

    >>> qops.nnlib.quantized_neg_8((np.array([255], np.uint8), 0.0, 1.0))
    QTensor(np.uint8([0]), -1.0, -0.0)

    Examples
    --------
    >>> qops.nnlib.quantized_neg_8((np.array([0, 100, 255], np.uint8), -1.0, 1.55))
    QTensor(np.uint8([255, 155, 0]), -1.5499999523162842, 1.0)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    np.invert(codes, out=result)
    return tensor(result, -hi, -lo)

"""nnlib's Tanh and Sigmoid on uint8 codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import sigmoid as kernels
from qops._kernels.nnlib.ranges import f32
from qops._kernels.stage.lookup import look_up_bytes
from qops.checks import U8, operand, output
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_sigmoid_8", "quantized_tanh_8"]

TANH_MAX = f32(128 / 127)


def quantized_tanh_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedTanh_8: ``tanh(x)``, in the range (-1, 128 / 127), whose zero is code 127.

    The result depends on the code alone. With ``gain = (max - min) / 255 * 10240``, and d the code less its zero::

        zero = sat_u8(plus_half(-255 * min / (max - min)))
        right_shift = 15 - max(exponent(gain), 0)          multiplier = sat_s16(plus_half(gain * 2**right_shift))
        p = sat_s16((abs(d) * multiplier + 2**(right_shift - 1)) >> right_shift)
        y = c0 + q15(4 * x, c1 + q15(x, c2))               x = p & 2047; c0, c1 and c2 those of segment p >> 11
        c = sat_u8((((y if d >= 0 else ~y) + 254 * 128 + 1 >> 1) + 64) >> 7)

    where ``q15(a, b) = sat_s16((2 * a * b + 0x8000) >> 16)``. For a gain of 2**15 or more, the multiplier is 32767 and
    the right shift 0.

    Parameters
    ----------
    t : uint8 tensor
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes 0 to 254.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`).

    Notes
    -----
    Source: ``tanh_d32_execute``, ``op_tanh_d32.c``, which computes plain arrays too.

    Beside the exact tanh of the codes less their rounded zero, a result is off by 0.51 LSB at most.

    **Hazards.** A zero that lies between two codes is rounded to one of them, and near it tanh has slope 1: up to half
    a step of the input becomes an error of the output. In [-8, 8] that is 4 LSB; choose a range with 0 on a code:

    >>> for low in (-8.0, -8.0 * 128 / 127):
    ...     t = qops.nnlib.quantized_tanh_8((np.array([127, 128], np.uint8), low, 8.0))
    ...     exact = np.tanh(low + np.array([127, 128]) * (8.0 - low) / 255)
    ...     (np.abs(t.min + t.data * t.scale - exact) / t.scale).round(2).tolist()
    [4.02, 3.98]
    [0.01, 0.0]

    A range that excludes 0 loses its offset: its lower end counts as 0.

    >>> qops.nnlib.quantized_tanh_8((np.array([0], np.uint8), 1.0, 2.0)).data  # tanh(1) is code 224
    array([127], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_tanh_8((np.array([0, 64, 128, 192, 255], np.uint8), -2.0, 1.984375)).data
    array([  5,  30, 127, 224, 249], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    look_up_bytes(codes, kernels.table(lo, hi, False), result)
    return tensor(result, -1.0, TANH_MAX)


def quantized_sigmoid_8(t: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedSigmoid_8: ``1 / (1 + exp(-x))``, in the range (0, 1).

    As `quantized_tanh_8`, with half the gain, 255 in place of 254, and constants for 255.

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
    Source: ``tanh_d32_execute``, ``op_tanh_d32.c``.

    Beside the exact sigmoid of the codes less their rounded zero, a result is off by 0.52 LSB at most.

    **Hazards.** No code is 1/2, so 0 becomes code 128, half an LSB too high:

    >>> qops.nnlib.quantized_sigmoid_8((np.array([127, 128, 129], np.uint8), -128.0, 127.0)).data
    array([ 69, 128, 186], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_sigmoid_8((np.array([0, 64, 128, 192, 255], np.uint8), -4.0, 3.96875)).data
    array([  5,  30, 128, 225, 250], dtype=uint8)
    """
    codes, lo, hi = operand(t, "t", U8)
    result = output(out, U8, codes)
    look_up_bytes(codes, kernels.table(lo, hi, True), result)
    return tensor(result, 0.0, 1.0)

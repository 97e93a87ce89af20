"""nnlib's bias adds: QuantizedBiasAdd_8p8to32, in float32, and QuantizedBiasAdd_32p32to32."""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from qops._kernels.nnlib import bias_add as kernels
from qops._kernels.nnlib.ranges import f32
from qops.qtensor import S32, U8, QTensor, TensorLike, operands, output, tensor

_WIDEST = 2.0**110  # times 2**18, the width of the output range, this is beyond float32


def quantized_bias_add_8p8to32(x: TensorLike, bias: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedBiasAdd_8p8to32, the reference by which QuantizedAdd_8p8to32 is explained as well, to the bit.

    ``max = 2**17 * max(|x_min|, x_max, |b_min|, b_max)``, ``min = -max``, and with ``level = (max - min) / 2**32``::

        c = trunc((0.5 + (x - zx) * (x_step / level)) + (bias - zb) * (b_step / level))

    in float32, one rounding an operation. ``zx`` and ``zb`` are the codes of 0, ``round_half_away(-min * (255 /
    max(1e-18, max - min)))``, cut at 0, ``zx`` at 255 as well. 17 of the 32 bits are head room:
    ``|c| <= 2**15 + 2**7``.

    Parameters
    ----------
    x : (data, min, max)
        uint8 tensor.
    bias : (data, min, max)
        uint8 tensor that broadcasts to the shape of `x`, in the original along its last axis.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, a bias that does not broadcast
        to `x`, an ``out`` that does not fit or overlaps an input, a range with an end of 2**110 (1.3e33) or more.

    See Also
    --------
    qops.quantized_add_8p8to32 : the same sum, rounded once.

    Notes
    -----
    Source: ``op_biasadd.c``. **Error:** less than 1.5 output LSB for the truncation of negative sums and 2**-6 for the
    float32 sums, if 0 is on a code of both ranges.

    **Hazards.** A zero point is a whole code, so a range whose 0 lies between two codes is read shifted by up to half
    an input step, and a range that excludes 0 loses its offset:

    >>> one = np.zeros(1, np.uint8)
    >>> t = quantized_bias_add_8p8to32((one, 1.0, 2.0), (one, 0.0, 1.0))  # 1 + 0
    >>> float(t.data[0] * t.scale)
    0.0

    The cast truncates: code 0 is twice as wide as the others, and sums below 0 are rounded up.

    >>> t = quantized_bias_add_8p8to32((np.uint8([127, 129]), -128.0, 127.0), (np.uint8([0]), 0.0, 1.0))
    >>> t.data * t.scale  # -1, 1
    array([-0.9921875,  1.       ])

    Examples
    --------
    >>> t = quantized_bias_add_8p8to32((np.uint8([255]), -1.0, 1.0), (np.uint8([255]), -1.0, 1.0))
    >>> t.max, t.data
    (131072.0, array([32640], dtype=int32))
    """
    first, second = operands(x, bias, "x", "bias", U8)
    for name, (_, lo, hi) in (("x", first), ("bias", second)):
        if max(-lo, hi) >= _WIDEST:
            raise ValueError(f"{name}: the range ({lo}, {hi}) makes an output beyond float32")
    out = output(out, S32, first[0], second[0], "x, bias")
    if out.shape != first[0].shape:
        raise ValueError(f"bias: shape {second[0].shape} does not broadcast to {first[0].shape}")
    c_max = kernels.bias_add_8p8to32(first, second, out)
    return QTensor(out, -c_max, c_max)


def quantized_bias_add_32p32to32(x: TensorLike, bias: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedBiasAdd_32p32to32: ``x + half_even(float32(bias) * (bias_step / x_step))``, modulo 2**32.

    ``step = (max - min) / 2**32``; in float32, whose integers saturate. The range is that of `x`.

    Parameters
    ----------
    x : (data, min, max)
        int32 tensor.
    bias : (data, min, max)
        int32 tensor that broadcasts to the shape of `x`, in the original along its last axis.
    out : ndarray of int32, optional
        Where the codes are written; of the shape of `x`.

    Returns
    -------
    QTensor
        int32 codes of the range of `x`.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or not symmetric, one wider than float32, a range
        of `x` 0 wide, a bias that does not broadcast to `x`, an ``out`` that does not fit or overlaps an input.

    Notes
    -----
    Source: ``biasadd_32p32to32_execute``, ``op_biasadd.c``.

    **Hazards.** A sum beyond int32 wraps:

    >>> t = (np.int32([2**31 - 1]), -8.0, 8.0)
    >>> quantized_bias_add_32p32to32(t, (np.int32([1]), -8.0, 8.0)).data
    array([-2147483648], dtype=int32)

    A bias has the 24 bits of a float32:

    >>> quantized_bias_add_32p32to32((np.int32([0]), -8.0, 8.0), (np.int32([2**24 + 1]), -8.0, 8.0)).data
    array([16777216], dtype=int32)

    Examples
    --------
    >>> quantized_bias_add_32p32to32((np.int32([[10, 20]]), -8.0, 8.0), (np.int32([3, 5]), -4.0, 4.0)).data
    array([[12, 22]], dtype=int32)
    """
    (codes, lo, hi), (b, b_min, b_max) = operands(x, bias, "x", "bias", S32)
    result = output(out, S32, codes, b, "x, bias")
    if result.shape != codes.shape:
        raise ValueError(f"bias: shape {b.shape} does not broadcast to {codes.shape}")
    step, bias_step = f32(f32(hi - lo) * 2.0**-32), f32(f32(b_max - b_min) * 2.0**-32)
    ratio = np.float32(f32(bias_step / step)) if step > 0 else np.float32(np.inf)
    if not (isfinite(step) and isfinite(ratio)):
        raise ValueError(f"x, bias: the range ({lo}, {hi}) or ({b_min}, {b_max}) is 0 wide, or wider than float32")
    with np.errstate(over="ignore"):
        moved = np.rint(b.astype(np.float32) * ratio).astype(np.float64)
    np.add(codes, np.clip(moved, -(2.0**31), 2.0**31 - 1).astype(np.int32), out=result)
    return tensor(result, lo, hi)

"""nnlib's bias adds."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import bias_add as kernels
from qops._kernels.nnlib.ranges import f32, step_32
from qops._kernels.stage.prepared import FloatStage
from qops.checks import S32, U8
from qops.nnlib._checks import Checked, two
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_bias_add_8p8to32", "quantized_bias_add_32p32to32"]

_WIDEST = 2.0**110  # from such an end on, float32 does not hold the width of the output range, 2**18 times that


def quantized_bias_add_8p8to32(x: TensorLike, bias: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedBiasAdd_8p8to32, whose formula is often used to explain QuantizedAdd_8p8to32 too.

    The output range is ``max = 2**17 * max(|x_min|, x_max, |b_min|, b_max)``, ``min = -max``. With ``level = (max -
    min) / 2**32`` and the steps of x and of the bias::

        c = trunc((0.5 + (x - zx) * (x_step / level)) + (bias - zb) * (b_step / level))

    zx and zb are the codes of 0: `quantize_uint8` gives zx, and `quantize_uint`, which does not cut at 255, gives zb.
    All codes are within ``2**15 + 2**7`` of 0, so 17 of the 32 bits are head room.

    Parameters
    ----------
    x : uint8 tensor
    bias : uint8 tensor
        It broadcasts to the shape of `x`; in the original, along the last axis only.
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and a range with an end of 2**110 (1.3e33) or more.

    See Also
    --------
    qops.quantized_add_8p8to32 : the same sum, rounded once.

    Notes
    -----
    Source: ``op_biasadd.c``. **Error:** less than 1.5 output LSB for the truncation of negative sums and 2**-6 for the
    float32 sums, if 0 is on a code of both ranges.

    **Hazards.** A zero is a whole code. So a range whose 0 lies between two codes is read shifted by up to half a step,
    and a range that excludes 0 loses its offset:

    >>> one = np.zeros(1, np.uint8)
    >>> t = qops.nnlib.quantized_bias_add_8p8to32((one, 1.0, 2.0), (one, 0.0, 1.0))  # 1 + 0
    >>> float(t.data[0] * t.scale)
    0.0

    The sum is truncated, not rounded: code 0 stands for twice as wide an interval as any other code, and sums below 0
    come out too high.

    >>> t = qops.nnlib.quantized_bias_add_8p8to32(
    ...     (np.array([127, 129], np.uint8), -128.0, 127.0), (np.array([0], np.uint8), 0.0, 1.0)
    ... )
    >>> t.data * t.scale  # -1, 1
    array([-0.9921875,  1.       ])

    Examples
    --------
    >>> t = qops.nnlib.quantized_bias_add_8p8to32(
    ...     (np.array([255], np.uint8), -1.0, 1.0), (np.array([255], np.uint8), -1.0, 1.0)
    ... )
    >>> t.max, t.data
    (131072.0, array([32640], dtype=int32))
    """
    first, second, codes = _checked(x, bias, out, U8)
    for name, (_, lo, hi) in (("x", first), ("bias", second)):
        if max(-lo, hi) >= _WIDEST:
            raise bad_value(name, f"the range ({lo}, {hi}) makes an output beyond float32")
    top = kernels.bias_add_8p8to32(first, second, codes)
    return tensor(codes, -top, top)


def quantized_bias_add_32p32to32(x: TensorLike, bias: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedBiasAdd_32p32to32: ``x + sat_s32(half_even(float32(bias) * (bias_step / x_step)))``, modulo 2**32.

    The output range is that of `x`.

    Parameters
    ----------
    x : int32 tensor
    bias : int32 tensor
        It broadcasts to the shape of `x`; in the original, along the last axis only.
    out : int32 array, optional

    Returns
    -------
    QTensor
        int32 codes of the shape of `x`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); a range wider than float32; a range of `x` 0 wide.

    Notes
    -----
    Source: ``biasadd_32p32to32_execute``, ``op_biasadd.c``.

    **Hazards.** A sum beyond int32 wraps:

    >>> t = (np.array([2**31 - 1], np.int32), -8.0, 8.0)
    >>> qops.nnlib.quantized_bias_add_32p32to32(t, (np.array([1], np.int32), -8.0, 8.0)).data
    array([-2147483648], dtype=int32)

    A bias is rounded to float32, which has 24 bits:

    >>> qops.nnlib.quantized_bias_add_32p32to32(
    ...     (np.array([0], np.int32), -8.0, 8.0), (np.array([2**24 + 1], np.int32), -8.0, 8.0)
    ... ).data
    array([16777216], dtype=int32)

    Examples
    --------
    >>> qops.nnlib.quantized_bias_add_32p32to32(
    ...     (np.array([[10, 20]], np.int32), -8.0, 8.0), (np.array([3, 5], np.int32), -4.0, 4.0)
    ... ).data
    array([[12, 22]], dtype=int32)
    """
    (codes, lo, hi), (b, b_min, b_max), result = _checked(x, bias, out, S32)
    step, bias_step = step_32(lo, hi), step_32(b_min, b_max)
    ratio = f32(bias_step / step) if step > 0 else inf
    if not (isfinite(step) and isfinite(ratio)):
        raise bad_value("x, bias", f"the range ({lo}, {hi}) or ({b_min}, {b_max}) is 0 wide, or wider than float32")
    rescaled = np.empty(b.shape, np.int32)
    FloatStage(ratio, "half_even", -(2.0**31), 2.0**31 - 1).run(b, rescaled)
    np.add(codes, rescaled, out=result)  # modulo 2**32
    return tensor(result, lo, hi)


def _checked(
    x: TensorLike, bias: TensorLike, out: NDArray[Any] | None, typenum: int
) -> tuple[Checked, Checked, NDArray[Any]]:
    """Give x, the bias, and an int32 array of the shape of x, to which the bias must broadcast."""
    first, second, codes = two(x, bias, out, S32, ("x", "bias"), typenum)
    if codes.shape != first[0].shape:
        raise bad_value("bias", f"shape {second[0].shape} does not broadcast to {first[0].shape}")
    return first, second, codes

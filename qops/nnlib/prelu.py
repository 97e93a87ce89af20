"""nnlib's PRelu on uint8 codes: a slope for each channel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import prelu as kernels
from qops._kernels.nnlib.channels import look_up_channels
from qops.checks import U8, float32s, into, operand, put
from qops.nnlib._checks import ranged
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_prelu_8"]


def quantized_prelu_8(t: TensorLike, alpha: ArrayLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedPRelu_8: ``x`` from 0 on, ``alpha * x`` below, with an alpha for each channel.

    The range is ``(min * high, max(max, min * low))``, adjusted by `adjust_minmax_for_zero`, with low the least and
    high the greatest of 0 and every alpha. With ``gain = (max - min) / (out_max - out_min)``, and
    ``e = max(0, exponent(gain * max(1, high, -low)))``::

        zero, out_zero = sat_u8(plus_half(-255 * min / (max - min))), for both ranges
        factor = sat_s16(plus_half(gain * 2**(15 - e)))                                     q >= zero
               = sat_s16(half_up(a * sat_s16(plus_half(gain * 2**(15 - g))) / 2**shift))    q < zero
        a = sat_s16(plus_half(alpha * 2**(15 - m)))        shift = 15 + e - g - m, modulo 16; g = exponent(gain)
        y = sat_s16(q15(128 * (q - zero), factor) + out_zero * 2**(7 - e))
        c = sat_u8(half_up(y / 2**(7 - e)))

    where m is the exponent of the largest magnitude of an alpha, or 0 if that is at most 1.

    Parameters
    ----------
    t : uint8 tensor
        Channels last.
    alpha : float32 array, (C,)
        The slopes below 0.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); another number of slopes than channels; a slope of a magnitude of
        128 or more, or a gain times slope of 128 or more, which nnlib refuses; a range that is 0 wide, or above 0 and
        turned around by a slope above 1.

    Notes
    -----
    Source: ``prelu_opt_execute``, ``op_prelu_d32.c``.

    **Hazards.** The input's zero is rounded to a code, which shifts every result by up to half a step of the input.
    More than half of the error of a symmetric range comes from there:

    >>> for low in (-1.0, -128 / 127):
    ...     x = np.arange(256, dtype=np.uint8).reshape(256, 1)
    ...     t = qops.nnlib.quantized_prelu_8((x, low, 1.0), [0.25])
    ...     real = low + x * (1.0 - low) / 255
    ...     exact = np.where(real < 0, 0.25 * real, real)
    ...     float((np.abs(t.min + t.data * t.scale - exact) / t.scale).max().round(2))
    1.2
    0.5

    A range above 0 loses its offset: code 0, which is 1 here, becomes the lowest code, which is 0.5.

    >>> qops.nnlib.quantized_prelu_8((np.array([[0], [255]], np.uint8), 1.0, 2.0), [0.5])
    QTensor(np.uint8([[0], [170]]), 0.5, 2.0)

    Examples
    --------
    >>> qops.nnlib.quantized_prelu_8((np.array([[28, 28], [228, 28]], np.uint8), -1.28, 1.27), [0.25, 0.5])
    QTensor(np.uint8([[53, 19], [219, 19]]), -0.6462721824645996, 1.2699999809265137)
    """
    read = ranged(t, "t")
    slopes = float32s(alpha, "alpha")
    codes, lo, hi = operand(read, "t", U8)
    if slopes.ndim != 1 or slopes.size == 0 or codes.ndim == 0 or codes.shape[-1] != slopes.size:
        raise bad_value("alpha", f"expected a slope for each channel of t, got shapes {slopes.shape}, {codes.shape}")
    if not np.isfinite(slopes).all():
        raise bad_value("alpha", f"expected finite numbers, got {slopes[~np.isfinite(slopes)][0]}")
    p = kernels.integers(lo, hi, float(slopes.min()), float(slopes.max()))
    if not lo < hi:
        raise bad_value("t", f"the range {(lo, hi)} is 0 wide")
    if not p["min"] < p["max"]:
        raise bad_value("t, alpha", f"the range {(lo, hi)} above 0 becomes {(p['min'], p['max'])}")
    if p["alpha_shift"] > 7 or p["right_shift"] < 0:
        raise bad_value("alpha", f"magnitudes up to {np.abs(slopes).max()} are too large, which the original refuses")
    place = into(out, codes.shape, [codes, slopes], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    tables = kernels.tables(p, np.ascontiguousarray(slopes, np.float32))
    look_up_channels(np.require(codes, np.uint8, "C"), tables, made)
    return tensor(put(made, out), p["min"], p["max"])

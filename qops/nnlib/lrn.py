"""nnlib's local response normalization of uint8 codes, over windows of channels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import lrn as kernels
from qops._kernels.nnlib.ranges import f32
from qops.checks import U8, integer, into, operand, put, real
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_lrn_8"]


def quantized_lrn_8(
    t: TensorLike,
    window: int,
    bias: float,
    alpha: float,
    beta: float,
    *,
    size: int = 1,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedLRN_8: ``x / (bias + alpha / size * sum(x**2))**beta``, the sum over a window of channels.

    In logarithms to base 2 and powers of two, both quadratic polynomials in 16 segments. With ``a = alpha / size``,
    ``k = trunc(bias / (a * step**2) + 0.5)``, and z the zero of the result::

        v = k + sum((q - zero)**2)                         modulo 2**32
        x = plus_half(32768 * (beta * (log2(a) + 2 * log2(step)) - log2(step) - log2(out_scale))) + beta * log2(v)
        c = sat_u8(q15((2**-(x mod 2**15) * (q - zero)) >> ((x >> 15) + 12), 4096) + z)

    where ``out_scale = 255 / (out_max - out_min)``. The range comes from the range of `t`: each end without neighbours,
    or the peak of the function if beta is above 1/2 and ``trunc(max(max, -min))**2 * a * (2 * beta - 1)`` is above the
    bias, then `adjust_minmax_for_zero`. If v might not fit in 32 bits, the codes are copied, and the range is
    multiplied by ``bias**-beta``.

    Parameters
    ----------
    t : uint8 tensor
        Channels last.
    window : int
        How many channels a window has, 1 or more; an even window is one less.
    bias : float
        At least 1e-6.
    alpha : float
        Above 0.
    beta : float
        Above 0 and below 1.
    size : int
        By what alpha is divided, 1 or more. nnlib reads it from the data of its window tensor.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); numbers that are not as above, which nnlib refuses; no axis, no
        channels; a range that is 0 wide, or below 0 with ends that cross, which nnlib takes as they are. Windows over
        rows or columns run in float, and are not modelled.

    Notes
    -----
    Source: ``lrn_d32_execute``, ``op_lrn_d32.c``; ``lrn_d32_hvx.S``. Logarithms and powers of the range are rounded
    correctly here, while nnlib takes the C library's: of 434 recorded ranges 2 have an end that is off by one unit in
    the last place.

    Where 0 is on a code of `t`, a result is off by some 0.51 LSB at most.

    **Hazards.** The peak is looked for at a whole number, so ranges below 1 never see it, and results beyond the range
    are cut:

    >>> x = np.arange(0, 256, 51, dtype=np.uint8).reshape(-1, 1)
    >>> for scale in (1.0, 2.0):  # the same real numbers, in units of 1 and of 1/2
    ...     t = qops.nnlib.quantized_lrn_8((x, 0.0, 0.9 * scale), 1, 0.01, 1.0 / scale**2, 0.75)
    ...     print(t.data.ravel(), round(t.max / scale, 3))
    [  0 255 255 255 255 255] 1.044
    [  0 250 205 172 151 136] 1.962

    Alpha is divided by `size`, whatever the window is:

    >>> [qops.nnlib.quantized_lrn_8((x, 0.0, 9.0), 3, 1.0, 1.0, 0.5, size=size).max for size in (1, 3)]
    [0.9938837885856628, 1.7008401155471802]

    Examples
    --------
    >>> t = qops.nnlib.quantized_lrn_8((np.array([[0, 100, 200]], np.uint8), 0.0, 2.55), 3, 1.0, 1.0, 0.5)
    >>> (t.data * t.scale).round(2)  # 0, 1 / sqrt(6), 2 / sqrt(6)
    array([[0.  , 0.41, 0.82]])
    """
    taps, divisor = integer(window, "window", 1, 2**15), integer(size, "size", 1, 2**24)
    offset, factor, power = real(bias, "bias"), real(alpha, "alpha"), real(beta, "beta")
    codes, lo, hi = operand(t, "t", U8)
    if codes.ndim == 0 or codes.shape[-1] == 0:
        raise bad_value("t", f"expected channels along the last axis, got shape {codes.shape}")
    if offset < f32(1e-6):
        raise bad_value("bias", f"expected at least 1e-6, got {offset}")
    if factor <= 0:
        raise bad_value("alpha", f"expected a number above 0, got {factor}")
    if not 0 < power < 1:
        raise bad_value("beta", f"expected a number above 0 and below 1, got {power}")
    if not lo < hi:
        raise bad_value("t", f"the range {(lo, hi)} is 0 wide")
    p = kernels.integers(lo, hi, taps, offset, f32(factor / divisor), power)
    if not np.isfinite([p["min"], p["max"]]).all() or not p["min"] < p["max"]:
        raise bad_value("t, bias, alpha, beta", f"a result in the range {(p['min'], p['max'])}")
    place = into(out, codes.shape, [codes], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    if p["copies"]:
        made[...] = codes
    else:
        kernels.lrn(np.require(codes, np.uint8, "C"), p, made)
    return tensor(put(made, out), p["min"], p["max"])

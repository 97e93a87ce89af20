"""nnlib's softmax of uint8 codes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import softmax as kernels
from qops.checks import U8, into, operand, put, real
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_softmax_8"]

LARGE_DEPTH = 1408  # from here on, the original counts codes instead, if there are four such rows of data


def quantized_softmax_8(t: TensorLike, beta: float = 1.0, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedSoftmax_8: ``exp(beta * x) / sum(exp(beta * x))`` along the last axis, in the range (0, 1).

    From a depth of 3 on, in powers of two, with ``s = (max - min) * beta / (255 * ln 2)``, and d the distance of a code
    from the highest of its row::

        right_shift = min(31, 7 - exponent(s))             multiplier = sat_s16(plus_half(s * 2**(right_shift + 8)))
        z = 256 * d * multiplier >> right_shift            # 16 bits of fraction
        wide = poly(2**-(z mod 2**16)) * 2**(16 - guard) >> min(z >> 16, 31)
        narrow = sat_s16(half_up(wide / 2**(16 - guard)))  guard = max(2, ceil(log2(depth)))
        f = q15(newton(2**29 / upper 16 bits of the sum of wide), 255 * 2**7)
        c = sat_u8(sat_s16(narrow * f >> rest >> 12) + 32 >> 6)

    where poly and newton have quadratic polynomials in four segments. At a depth of 2, a table of
    ``plus_half(255 / (1 + exp(-d * step * beta)))`` gives one code, and 255 less it is the other; the first of two
    equal codes gets 128. At a depth of 1, all codes are 255.

    Parameters
    ----------
    t : uint8 tensor
        At least one axis, the last of 1 to 65536 codes.
    beta : float
        The factor of the logits, 0 or more.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `t`.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); a scale s of 128 or more, which nnlib refuses; a `beta` below 0; no
        axis, or a last axis that is empty or longer than 65536; 5632 codes or more in rows of 1408 or more, for which
        nnlib has another algorithm, which is not modelled.

    Notes
    -----
    Source: ``softmax_flat_execute``, ``op_softmax_d32.c``, for V65; ``hvx_recip16_inline``, ``hvx_mathops.h``.

    A code is off by 0.50 LSB at most up to some 100 codes a row.

    **Hazards.** Codes of a row do not add up to 255, so they are no probabilities. In long rows of nearly equal logits
    most of the sum is lost:

    >>> for depth in (2, 10, 300, 1000):
    ...     logits = np.arange(depth, dtype=np.uint8) % 2
    ...     int(qops.nnlib.quantized_softmax_8((logits, 0.0, 25.5)).data.sum())
    255
    255
    300
    0

    Examples
    --------
    >>> qops.nnlib.quantized_softmax_8((np.array([0, 10, 20], np.uint8), 0.0, 25.5)).data
    array([ 23,  62, 170], dtype=uint8)
    >>> qops.nnlib.quantized_softmax_8((np.array([[0, 10], [7, 7]], np.uint8), 0.0, 25.5)).data
    array([[ 69, 186],
           [128, 127]], dtype=uint8)
    """
    factor = real(beta, "beta")
    codes, lo, hi = operand(t, "t", U8)
    if codes.ndim == 0 or not 1 <= codes.shape[-1] <= 65536:
        raise bad_value("t", f"expected 1 to 65536 codes along the last axis, got shape {codes.shape}")
    depth = codes.shape[-1]
    if factor < 0:
        raise bad_value("beta", f"expected 0 or more, got {factor}")
    if depth >= LARGE_DEPTH and codes.size >= 4 * LARGE_DEPTH:
        raise bad_value("t", f"rows of {depth} in {codes.size} codes, for which nnlib has another algorithm")
    if depth > 2 and kernels.integers(lo, hi, factor, depth)["right_shift"] < 0:
        raise bad_value("t, beta", f"a range of {(lo, hi)} times {factor} is too wide, which the original refuses")
    place = into(out, codes.shape, [codes], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    if depth == 1:
        made[...] = 255
    elif codes.size:
        kernels.softmax(np.require(codes, np.uint8, "C"), lo, hi, factor, made)
    return tensor(put(made, out), 0.0, 1.0)

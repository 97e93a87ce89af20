"""nnlib's instance normalization of uint8 images."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.nnlib import instance_norm as kernels
from qops.checks import U8, into, operand, put
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["quantized_instance_norm_8"]


def quantized_instance_norm_8(x: TensorLike, *, out: NDArray[np.uint8] | None = None) -> QTensor:
    """QuantizedInstanceNorm_8: ``(q - mean) / sigma`` of the codes, for each image and channel.

    The range of `x` plays no part, as it cancels. All is computed in nnlib's own floats, ``mantissa * 2**-(15 + e)``
    with a mantissa of 16 bits: products are rounded half up, differences down. With N pixels, and S1 and S2 the exact
    sums of codes and of their squares::

        mean = S1 * (1 / N)                spread = S2 * N - S1 * S1
        r = N / sqrt(spread)               # quadratic polynomials in 16 segments; 0 if spread < (N * 1e-5)**2
        g = trunc(255 / (out_max - out_min))
        c = sat_u8((-(mean * r * g + out_min * g) * 2 - q15(r * g, -128 * q)) + 1 >> 1)

    Rows are filled up to four columns, and to an even number of rows, with code 128; only after the sums have become
    floats is its share taken off. The range is that of all results, of code 128 too if anything was filled up, and of 0
    if the channels do not fill vectors of 32.

    Parameters
    ----------
    x : uint8 tensor
        Images (N, H, W, C) of three rows or more.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes of the shape of `x`, and the range found; (0, 0) if no result is above 0.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`); images of one or two rows, to whose sums nnlib adds two rows of what
        is in memory below; images of 2**23 pixels or 2**15 rows and columns or more, whose sums may
        pass 32 bits.

    Notes
    -----
    Source: ``instancenorm_hvx_execute``, ``op_instancenorm_hvx.c``; ``vqf16.h``, ``qf16.c``, ``getstats_h.S``,
    ``visqrt64_h.S``, ``renorm_h.S``.

    A result is off by some 3.5 LSB at most for codes that use the whole range, and by much more for codes of little
    spread far from 0.

    **Hazards.** The spread is a difference of large numbers of 15 bits: where the mean is much larger than sigma, most
    of it is lost. The same image, brighter, is taken for one without any spread:

    >>> x = np.resize(np.array([9, 10, 11], np.uint8), (1, 4, 4, 1))
    >>> for image in (x, x + np.uint8(210)):
    ...     t = qops.nnlib.quantized_instance_norm_8((image, 0.0, 1.0))
    ...     (t.min + t.data * t.scale).ravel()[:3].round(2).tolist()  # -1.13, 0.08 and 1.29
    [-1.14, 0.08, 1.29]
    [0.0, 0.0, 0.0]

    Code 128 takes part in the range where rows are filled up, here to four columns:

    >>> for width in (3, 4):
    ...     t = qops.nnlib.quantized_instance_norm_8(
    ...         (np.resize(np.array([210, 220], np.uint8), (1, 4, width, 1)), 0.0, 1.0)
    ...     )
    ...     print(round(t.min, 1), round(t.max, 1), np.unique(t.data))
    -18.8 1.1 [214 240]
    -1.1 1.1 [  0 255]

    The gain is a whole number, so 255 is reached only by chance, and a range wider than 255 gives a gain of 0, and one
    code for all.

    Examples
    --------
    >>> x = np.resize(np.array([0, 255], np.uint8), (1, 4, 4, 1))
    >>> t = qops.nnlib.quantized_instance_norm_8((x, 0.0, 1.0))
    >>> t.data.ravel()[:2], round(t.min, 3), round(t.max, 3)
    (array([  0, 254], dtype=uint8), -1.0, 1.0)
    """
    codes, _, _ = operand(x, "x", U8)
    if codes.ndim != 4 or codes.size == 0:
        raise bad_value("x", f"expected (N, H, W, C), each at least 1, got shape {codes.shape}")
    if codes.shape[1] < 3:
        raise bad_value("x", f"images of {codes.shape[1]} rows, to which nnlib adds what is in memory below; 3 or more")
    if (codes.shape[1] + 1) * (codes.shape[2] + 3) >= 2**23 or codes.shape[1] + codes.shape[2] >= 2**15:
        raise bad_value("x", f"images of shape {codes.shape[1:3]} are too large for nnlib's sums of 32 bits")
    place = into(out, codes.shape, [codes], U8)
    made = np.empty(codes.shape, np.uint8) if place is None else place
    memory = np.empty(len(codes) * codes.shape[3] * kernels.channel_size(), np.uint8)
    lo, hi = kernels.instance_norm(np.require(codes, np.uint8, "C"), memory, made)
    return tensor(put(made, out), lo, hi)

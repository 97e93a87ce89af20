"""matmul: the product of two matrices of 8-bit codes, whatever their ranges, into int32 codes."""

from __future__ import annotations

from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import codes as _codes
from qops._kernels.frontdoor.matmul import codes_of_sums
from qops._kernels.gemm.gemm import code_sums, product
from qops.qtensor import S32, U8, QTensor, TensorLike, check_out, int32, operand, put, tensor

__all__ = ["BOUND_MATMUL", "matmul"]

BOUND_MATMUL = 0.5 + 2**-16
"""Largest error of `matmul` and of `conv2d` against the exact sum of products, in output LSB.

0.5 for the one rounding. The sum is made of four parts of at most 2**31 LSB each and a little, every one of them known
in float64 within some 2**-51 of itself.
"""
_S8 = np.dtype(np.int8).num
_MOST = 2**17 - 1
_HIGHEST = _codes.TABLE["s32"].steps / 2  # codes from 0 to max
_MARGIN = 1 + 2**-20  # what keeps the highest code below 2**31


def matmul(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> QTensor:
    """Multiply two matrices of uint8 or int8 codes: int32 codes of the exact sums of products, rounded once.

    With the values ``a = a_0 + qa * a_step`` of centred codes (uint8 less 128), the same for b, and output step ``s``::

        c[i, j] = round((sum(qa * qb) * a_step * b_step + sum(qa) * a_step * b_0 + sum(qb) * b_step * a_0
                         + K * a_0 * b_0) / s)

    The three sums are exact integers, all else is float64. ``max`` is ``2**31 * a_step * b_step``, rounded up to
    float32, or what K products of the farthest ends need if that is more, and ``min = -max``. So where 0 is on a code
    of both, sums below 2**22 are the plain integers ``sum((qa - za) * (qb - zb))``. **Error: at most** ``0.5 + 2**-16``
    output LSB (`BOUND_MATMUL`) against the exact sum of products, for every pair of ranges, those that exclude 0, or
    have it between two codes, as well.

    Parameters
    ----------
    a : (data, min, max)
        uint8 or int8 tensor of shape (..., K).
    b : (data, min, max)
        uint8 or int8 matrix (K, N), K at most 131071.
    out : ndarray of int32, optional
        Where the codes are written; of shape (..., N).
    num_threads : int, optional
        How many threads share the product; the bits are the same.

    Returns
    -------
    QTensor
        int32 codes of shape (..., N), ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not fit, an
        ``out`` that does not fit or overlaps an input, an output range beyond float32, a number of threads below 1.

    See Also
    --------
    qops.nnlib.quantized_matmul_8x8to32, qops.tensorflow.quantized_matmul : what those systems compute.

    Examples
    --------
    >>> a, b = (np.uint8([[0, 3], [9, 200]]), -1.0, 254.0), (np.int8([[2], [-4]]), -128.0, 127.0)
    >>> t = matmul(a, b)
    >>> t.data.tolist(), t.scale  # -1 * 2 + 2 * -4, 8 * 2 + 199 * -4
    ([[-10], [-780]], 1.0)
    >>> t = matmul((np.uint8([[0, 255]]), 1.0, 2.0), (np.uint8([[255], [255]]), 0.0, 3.0))
    >>> round(float(t.data[0, 0] * t.scale), 5)  # 1 * 3 + 2 * 3
    9.0
    """
    x, w = centred(a, "a"), centred(b, "b")
    num_threads = int32(num_threads, "num_threads", 1)
    if x.codes.ndim < 1 or w.codes.ndim != 2 or x.codes.shape[-1] != len(w.codes):
        raise ValueError(f"a, b: expected shapes (..., K) and (K, N), got {x.codes.shape} and {w.codes.shape}")
    k, n = w.codes.shape
    shape = (*x.codes.shape[:-1], n)
    top = highest(x, w, k, "a, b")
    if out is not None:
        check_out(out, S32, shape, [x.given, w.given])
    left = x.codes.reshape(-1, k) if k else np.zeros((int(np.prod(shape[:-1])), 0), np.int8)
    sums = product(left, w.codes, num_threads=num_threads)
    rows, columns = code_sums(left, w.codes)
    terms = Terms(rows, columns, np.array([k], np.int64), np.zeros(1, np.int64))
    return scaled(sums, x, w, top, terms, out, shape)


class Centred(NamedTuple):
    """An operand: its value is ``base + codes * step``."""

    given: NDArray[Any]
    codes: NDArray[np.int8]
    """uint8 codes less 128, int8 codes as they are."""
    step: float
    base: float
    farthest: float
    """The largest absolute value in its range."""


def centred(t: TensorLike, name: str) -> Centred:
    """The operand `t`, checked; `name` is what the caller calls it."""
    given, lo, hi = operand(t, name, U8, _S8)
    row = _codes.of(given)
    step, middle = (hi - lo) / row.steps, (row.lowest + row.highest + 1) // 2
    signed = given if middle == 0 else (given ^ np.uint8(middle)).view(np.int8)
    return Centred(given, signed, step, lo + (middle - row.lowest) * step, max(abs(lo), abs(hi)))


def highest(x: Centred, w: Centred, k: int, names: str) -> float:
    """The upper end of the range of sums of k products, a float32; ValueError of too long or too large sums."""
    if k > _MOST:
        raise ValueError(f"{names}: sums of {k} products, int32 holds those of {_MOST}")
    wanted = max(_HIGHEST * x.step * w.step, k * x.farthest * w.farthest * _MARGIN)
    with np.errstate(over="ignore"):
        near = np.float32(wanted)
        top = float(near if float(near) >= wanted else np.nextafter(near, np.float32(np.inf)))
    if not isfinite(top):
        if k == 0:
            return 0.0
        raise ValueError(f"{names}: sums of {k} products of the ranges are beyond float32")
    return top


class Terms(NamedTuple):
    """What the bases of both operands are multiplied by in the values of sums."""

    rows: NDArray[np.int32]
    """What the codes of the first operand add up to, for each row of sums."""
    columns: NDArray[np.int32]
    """What those of the second add up to, for each column, and for each way to cut it at the ends of an image."""
    counts: NDArray[np.int64]
    """How many products a sum has, for each cut."""
    which: NDArray[np.int64]
    """The cuts that the rows of sums take, in turn."""


def scaled(
    sums: NDArray[np.int32],
    x: Centred,
    w: Centred,
    top: float,
    terms: Terms,
    out: NDArray[np.int32] | None,
    shape: tuple[int, ...],
) -> QTensor:
    """The codes of sums in the range (-top, top); in `out` if there is one."""
    factors = x.step * w.step, x.step * w.base, x.base * w.step, x.base * w.base
    place = sums if out is None or not out.flags.carray else out
    if sums.size:
        matrix, codes = sums.reshape(-1, shape[-1]), place.reshape(-1, shape[-1])
        codes_of_sums(matrix, terms, factors, _HIGHEST / top if top else 0.0, codes)
    return tensor(put(place.reshape(shape), out), -top, top)

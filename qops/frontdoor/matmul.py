"""matmul: the product of two matrices of 8-bit codes, whatever their ranges, into int32 codes."""

from __future__ import annotations

from math import isfinite, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import codes as _codes
from qops._kernels.frontdoor.matmul import codes_of_sums
from qops._kernels.gemm.gemm import code_sums, product
from qops._kernels.gemm.packed import pack_b
from qops.prepared import Prepared
from qops.qtensor import S32, U8, QTensor, TensorLike, check_out, int32, operand, put, tensor, unshared

__all__ = ["BOUND_MATMUL", "MatMul", "matmul"]

BOUND_MATMUL = 0.5 + 2**-16
"""Largest error of `matmul` and of `conv2d` against the exact sum of products, in output LSB.

0.5 for the rounding of the sum. The sum has four terms of at most about 2**31 LSB; the relative error of each in
float64 is about 2**-51.
"""
_S8 = np.dtype(np.int8).num
_MOST = 2**17 - 1
_HIGHEST = _codes.TABLE["s32"].steps / 2  # codes from 0 to max
_MARGIN = 1 + 2**-20  # keeps the highest code below 2**31
_NO_COLUMNS = np.empty((1, 0), np.int8)


def matmul(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> QTensor:
    """Multiply two matrices of uint8 or int8 codes: int32 codes of the exact sums of products, rounded once.

    With the values ``a = a_0 + qa * a_step`` of centred codes (uint8 less 128), the same for b, and output step ``s``::

        c[i, j] = round((sum(qa * qb) * a_step * b_step + sum(qa) * a_step * b_0 + sum(qb) * b_step * a_0
                         + K * a_0 * b_0) / s)

    The three sums are exact integers; all else is float64. ``max`` is ``2**31 * a_step * b_step``, rounded up to
    float32, or more if K products of the farthest ends need it; ``min = -max``. So if 0 is on a code of both, sums
    below 2**22 are the plain integers ``sum((qa - za) * (qb - zb))``. **Error: at most** ``0.5 + 2**-16`` output LSB
    (`BOUND_MATMUL`) against the exact sum of products, for every pair of ranges, also those that exclude 0 or have it
    between two codes.

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
    MatMul : the same with a `b` that is packed once, for many `a`.
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
    return MatMul(b)(a, unshared(out, b), num_threads)


class MatMul(Prepared):
    """Prepared form of `matmul`: the matrix `b` is packed once, for many `a`.

    Called as ``op(a, out=None, num_threads=1)``, it gives what ``matmul(a, b, out=out, num_threads=num_threads)``
    gives. Each `a` may have its own type, range and leading axes.

    Parameters
    ----------
    b : (data, min, max)
        As `matmul` takes it. The codes are copied.

    Attributes
    ----------
    b : QTensor
        The matrix. Its codes are read-only.

    Raises
    ------
    TypeError, ValueError
        A `b` that `matmul` refuses.

    Examples
    --------
    >>> op = MatMul((np.int8([[2], [-4]]), -128.0, 127.0))
    >>> op
    MatMul(QTensor(np.int8([[2], [-4]]), -128.0, 127.0))
    >>> op((np.uint8([[0, 3], [9, 200]]), -1.0, 254.0)).data.tolist()
    [[-10], [-780]]
    """

    __slots__ = ("_line", "_packed", "_terms", "b")

    b: QTensor

    def __init__(self, b: TensorLike) -> None:
        w = centred(b, "b")
        if w.codes.ndim != 2:
            raise ValueError(f"b: expected a matrix (K, N), got shape {w.codes.shape}")
        k = check_length(len(w.codes), "b")
        self.b, self._line, self._packed = w.kept(), w.line, pack_b(w.codes)
        self._terms = Terms(self._packed.colsum[None], np.array([k], np.int64), np.zeros(1, np.int64))
        self._keep(self.b)

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result for an `a` of a shape.

        Parameters
        ----------
        shape : tuple of int
            (..., K).

        Returns
        -------
        tuple of int
            (..., N).
        """
        k, n = self.b.shape
        if not shape or shape[-1] != k:
            raise ValueError(f"a: expected shape (..., {k}) for a b of shape {(k, n)}, got {shape}")
        return (*shape[:-1], n)

    def __call__(self, a: TensorLike, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> QTensor:
        """Multiply `a` with the matrix, as `matmul` does."""
        x = centred(a, "a")
        num_threads = int32(num_threads, "num_threads", 1)
        shape, k = self.shape_of(x.codes.shape), len(self.b.data)
        top = highest(x.line, self._line, k, "a, b")
        if out is not None:
            check_out(out, S32, shape, [x.given])
        left = x.codes.reshape(prod(shape[:-1]), k)
        rows = code_sums(left, _NO_COLUMNS)[0] if self._line.base else np.zeros(len(left), np.int32)
        sums = product(left, self._packed, num_threads=num_threads)
        return scaled(sums, x.line, self._line, top, rows, self._terms, out, shape)


class Line(NamedTuple):
    """The values of centred codes: ``base + code * step``."""

    step: float
    base: float
    min: float
    max: float


class Centred(NamedTuple):
    """A checked operand."""

    given: NDArray[Any]
    """The codes as they were given."""
    codes: NDArray[np.int8]
    """uint8 codes less 128, int8 codes as they are."""
    line: Line

    def kept(self) -> QTensor:
        """Copy the operand for a prepared op. The copied codes are read-only."""
        codes = self.given.copy()
        codes.flags.writeable = False
        return tensor(codes, self.line.min, self.line.max)


def centred(t: TensorLike, name: str) -> Centred:
    """Check the operand `t`; `name` is the caller's word for it."""
    given, lo, hi = operand(t, name, U8, _S8)
    row = _codes.of(given)
    step, middle = (hi - lo) / row.steps, (row.lowest + row.highest + 1) // 2
    signed = given if middle == 0 else (given ^ np.uint8(middle)).view(np.int8)
    return Centred(given, signed, Line(step, lo + (middle - row.lowest) * step, lo, hi))


def check_length(k: int, name: str) -> int:
    """Give `k`, the number of products of a sum; ValueError if int32 does not hold the sum."""
    if k > _MOST:
        raise ValueError(f"{name}: sums of {k} products, int32 holds those of {_MOST}")
    return k


def highest(x: Line, w: Line, k: int, names: str) -> float:
    """Give the max of the range of sums of k products, a float32; ValueError if float32 does not hold it."""
    farthest = k * max(abs(x.min), abs(x.max)) * max(abs(w.min), abs(w.max))
    wanted = max(_HIGHEST * x.step * w.step, farthest * _MARGIN)
    with np.errstate(over="ignore"):
        near = np.float32(wanted)
        top = float(near if float(near) >= wanted else np.nextafter(near, np.float32(np.inf)))
    if not isfinite(top):
        if k == 0:
            return 0.0
        raise ValueError(f"{names}: sums of {k} products of the ranges are beyond float32")
    return top


class Terms(NamedTuple):
    """The parts of sums that do not depend on the codes of the first operand."""

    columns: NDArray[np.int32]
    """The sums of the second operand's codes in each column, for each cut that the border of an image makes."""
    counts: NDArray[np.int64]
    """How many products a sum has, for each cut."""
    which: NDArray[np.int64]
    """The cut of each row of sums; it repeats with its length."""


def scaled(
    sums: NDArray[np.int32],
    x: Line,
    w: Line,
    top: float,
    rows: NDArray[np.int32],
    terms: Terms,
    out: NDArray[np.int32] | None,
    shape: tuple[int, ...],
) -> QTensor:
    """Give the codes of sums in the range (-top, top), in `out` if it is given.

    `rows` has, for each row of sums, the sum of the first operand's codes.
    """
    factors = x.step * w.step, x.step * w.base, x.base * w.step, x.base * w.base
    place = sums if out is None or not out.flags.carray else out
    if sums.size:
        matrix, codes = sums.reshape(-1, shape[-1]), place.reshape(-1, shape[-1])
        codes_of_sums(matrix, (rows, *terms), factors, _HIGHEST / top if top else 0.0, codes)
    return tensor(put(place.reshape(shape), out), -top, top)

"""matmul: the product of a tensor and a matrix of 8-bit codes, whatever their ranges, a bias, and one rounding."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.frontdoor.matmul import MatMul as Product
from qops._kernels.gemm.packed import pack_b
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import check_out, unshared
from qops.frontdoor.layer import (
    BOUND_LAYER,
    BOUND_LAYER_8,
    LayerOp,
    check_length,
    epilogue,
    options,
    row_ranges,
    weights,
)
from qops.frontdoor.targets import OpenRange, Range
from qops.qtensor import QTensor, TensorLike, tensor

__all__ = ["BOUND_MATMUL", "BOUND_MATMUL_8", "MatMul", "matmul"]

BOUND_MATMUL = BOUND_LAYER
"""Largest error of `matmul` with int32 codes against the exact result, in output LSB."""
BOUND_MATMUL_8 = BOUND_LAYER_8
"""Largest error of `matmul` with 8-bit codes, for results within the range, in output LSB."""


@refusing_unknown
def matmul(
    a: TensorLike,
    b: TensorLike,
    bias: ArrayLike | None = None,
    *,
    dtype: DTypeLike = "int32",
    guess: OpenRange | None = None,
    range: Range | None = None,
    clip: OpenRange | None = None,
    out: NDArray[Any] | None = None,
    num_threads: int = 1,
    **unknown: Never,
) -> QTensor:
    """Multiply a tensor of uint8 or int8 codes by a matrix of them, add a bias, clip, and round the result once.

    With values ``a_0 + qa * a_step``, where qa counts codes from the one nearest to 0 (`QTensor.zero_point`) and a_0 is
    that one's value, exactly 0 where float32 ends cannot tell it from 0; and the same for b::

        value[i, j] = sum(qa * qb) * a_step * b_step + sum(qa) * a_step * b_0 + sum(qb) * b_step * a_0
                      + K * a_0 * b_0 + bias[j]
        code[i, j] = round(clip(value[i, j]) / step)

    relative to the range's lowest code. The three sums are exact integers; all else is float64, where b_step and b_0
    may differ by column. **Error: at most** ``0.5 + 2**-16`` output LSB (`BOUND_MATMUL`) in int32 and ``0.5 + 2**-13``
    (`BOUND_MATMUL_8`) in 8 bits, against the exact value, for all ranges, also those that exclude 0 or have it between
    two codes.

    Parameters
    ----------
    a : (data, min, max)
        uint8 or int8 tensor of shape (..., K), with one range or one for each row: ends of shape (..., 1), as
        ``quantize(a, axis=0)`` gives them of a matrix. Each row is then multiplied as an `a` of its own.
    b : (data, min, max)
        uint8 or int8 matrix (K, N), K at most 131071, with one range or one for each column: ends of shape (1, N), as
        ``quantize(b, axis=1)`` gives them.
    bias : array_like of float, or of int32, (N,), optional
        Real values; or int32 codes, which count ``a_step * b_step``, as accumulators do.
    dtype : {int32, uint8, int8}, optional
        Type of the codes.
    guess : (float or None, float or None), optional
        Real values that the range of 8-bit codes holds beside the results, so that it is the same for most data.
    range : (float, float), optional
        A fixed range for 8-bit codes; results outside saturate. If min == max, every code is the lowest, which stands
        for that value.
    clip : (float or None, float or None), optional
        Values are cut to this range before they are rounded: (0, None) is a relu, (0, 6) a relu6.
    out : ndarray of `dtype`, optional
        Where the codes are written; of shape (..., N).
    num_threads : int, optional
        How many threads share the product; the bits are the same.

    Returns
    -------
    QTensor
        Codes of shape (..., N). 8 bits: in `range`, or in the smallest range that holds the results, the guess and, on
        a code, 0; the product is computed once in any case. int32: ``max`` is ``2**31 * a_step * b_step``, rounded up
        to float32, or more if the farthest sums need it, and ``min = -max``; arrays of shape (1, N) if `b` has a range
        for each column. If `a` has a range for each row, so has the result: ends of shape (..., 1) or (..., N).
        So if 0 is on a code of both, sums below 2**22 are the plain integers
        ``sum((qa - za) * (qb - zb))``.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite or with min > max, shapes that do not fit, a bias
        that float32 does not hold, `range` or `guess` for int32, both of them, a `range` narrower than 2**-25 of what
        the sums can be, an ``out`` that does not fit or overlaps an input, an output range beyond float32, a number of
        threads below 1.

    See Also
    --------
    MatMul : the same with a `b` that is packed once, for many `a`.
    qops.nnlib.quantized_matmul_8x8to32, qops.tensorflow.quantized_matmul : what those systems compute.

    Examples
    --------
    >>> a, b = (np.array([[0, 3], [9, 200]], np.uint8), -1.0, 254.0), (np.array([[2], [-4]], np.int8), -128.0, 127.0)
    >>> t = qops.matmul(a, b)
    >>> t.data.tolist(), t.scale  # -1 * 2 + 2 * -4, 8 * 2 + 199 * -4
    ([[-10], [-780]], 1.0)
    >>> t = qops.matmul((np.array([[0, 255]], np.uint8), 1.0, 2.0), (np.array([[255], [255]], np.uint8), 0.0, 3.0))
    >>> round(float(t.data[0, 0] * t.scale), 5)  # 1 * 3 + 2 * 3
    9.0

    A whole layer, with a bias and a relu6, into 8 bits:

    >>> qops.matmul(a, b, [13.0], dtype="uint8", range=(0.0, 25.5), clip=(0, 6))  # 6 for 3 - 13 + 16 = 3; 0
    QTensor(np.uint8([[30], [0]]), 0.0, 25.5)
    """
    if unknown:
        raise unknown_keyword(matmul, unknown)
    return MatMul._once(locals())(a, unshared(out, b, bias), num_threads)


class MatMul(LayerOp):
    """Prepared form of `matmul`: the matrix `b` is packed once, for many `a`.

    Called as ``op(a, out=None, num_threads=1)``, it gives what `matmul` gives with the same arguments. Each `a` may
    have its own type, range and leading axes.

    Parameters
    ----------
    b, bias, dtype, guess, range, clip
        As `matmul` takes them. Arrays are copied.

    Attributes
    ----------
    b : QTensor
        The matrix. Its codes are read-only.
    bias, dtype, guess, range, clip
        As they were given.

    Raises
    ------
    TypeError, ValueError
        An argument that `matmul` refuses.

    Examples
    --------
    >>> op = qops.MatMul((np.array([[2], [-4]], np.int8), -128.0, 127.0), clip=(0, None))
    >>> op
    MatMul(QTensor(np.int8([[2], [-4]]), -128.0, 127.0), clip=(0.0, None))
    >>> op((np.array([[4, 2], [9, 200]], np.uint8), -1.0, 254.0)).data.tolist()
    [[2], [0]]
    """

    __slots__ = ()

    @refusing_unknown
    def __init__(
        self,
        b: TensorLike,
        bias: ArrayLike | None = None,
        *,
        dtype: DTypeLike = "int32",
        guess: OpenRange | None = None,
        range: Range | None = None,
        clip: OpenRange | None = None,
        **unknown: Never,
    ) -> None:
        if unknown:
            raise unknown_keyword(MatMul, unknown)
        self._keep(locals())
        self._prepare(once=False)

    def _prepare(self, once: bool) -> None:
        w = weights(self.b, "b")
        if w.codes.ndim != 2:
            raise bad_value("b", f"expected a matrix (K, N), got shape {w.codes.shape}")
        k = check_length(len(w.codes), "b")
        given = options(w.codes.shape[1], self._arguments)
        self._run = Product(pack_b(w.codes), epilogue(w, k, given, "a, b"))
        if not once:
            self._keep({"b": w.kept(), **given._asdict()})

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
        return super().shape_of(shape)

    def __call__(self, a: TensorLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> QTensor:
        """Multiply `a` with the matrix, as `matmul` does."""
        ends = a.min if isinstance(a, QTensor) else a[1] if isinstance(a, (tuple, list)) and len(a) == 3 else None
        if isinstance(ends, (np.ndarray, list, tuple)) and np.ndim(ends):
            return self._rows(a, out, num_threads)
        made: QTensor = self._run(QTensor, a, out, num_threads)
        return made

    def _rows(self, a: TensorLike, out: NDArray[Any] | None, num_threads: int) -> QTensor:
        """Multiply each row of `a`, which has a range of its own."""
        codes, lo, hi = row_ranges(a, "a")
        shape = self.shape_of(codes.shape)
        dtype = np.dtype(self.dtype)
        if out is not None:
            check_out(out, dtype.num, shape, [codes])
        rows = codes.reshape(lo.size, 1, codes.shape[-1])
        ends = zip(lo.ravel().tolist(), hi.ravel().tolist(), strict=True)
        made = [self._run(QTensor, (row, *own), None, num_threads) for row, own in zip(rows, ends, strict=True)]
        result = np.empty(shape, dtype) if out is None else out
        result[...] = np.reshape([t.data for t in made], shape) if made else 0
        if not made:
            return tensor(result, *np.zeros((2, *shape[:-1], 1), np.float32))
        both = zip(*map(_ends, made), strict=True)
        return tensor(result, *(np.array(end, np.float32).reshape(*shape[:-1], -1) for end in both))


def _ends(t: QTensor) -> tuple[Any, Any]:
    return t.min, t.max

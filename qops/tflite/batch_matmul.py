"""BATCH_MATMUL: products of two batches of matrices."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.matmul import MatMul
from qops._kernels.gemm.packed import pack_b
from qops.checks import broadcast_shape, int32, native, put
from qops.tflite import _checks as check
from qops.tflite.weights import Rounding, WeightedOp, scale_of_pair

__all__ = ["BatchMatmul", "batch_matmul"]


class BatchMatmul(WeightedOp):
    """The prepared form of `batch_matmul` of int8 or int16, called ``op(a, out=None, num_threads=1)``.

    The second batch of matrices is packed once.
    """

    __slots__ = ("_adjoint", "_b", "_matrices", "_stage", "_zeros")
    _name = "BATCH_MATMUL"
    _data = "a"

    def __init__(
        self,
        b: ArrayLike,
        *,
        a_scale: float,
        a_zero_point: int,
        b_scale: float,
        b_zero_point: int,
        y_scale: float,
        y_zero_point: int,
        adj_x: bool = False,
        adj_y: bool = False,
        dtype: DTypeLike = "int8",
        kernel: str = "reference",
    ) -> None:
        self._make(locals())

    def _fill(self, given: SimpleNamespace) -> None:
        facts, is_8 = self._facts, self._dtype == np.int8
        data = native(given.b, "b", ("int8",) if is_8 else ("int16", *facts.matmul_16x8))
        if data.ndim < 2:
            raise bad_value("b", f"expected at least 2 dimensions, got shape {data.shape}")
        rule = facts.matmul if given.b_zero_point == 0 else facts.matmul_offset
        derive = facts.matmul_scale if given.b_zero_point == 0 and is_8 else facts.matmul_other_scale
        numbers = scale_of_pair(given, derive), given.y_zero_point, check.ends(self._dtype)
        self._rounding = Rounding(rule if is_8 else "tflite-int64acc", *numbers)
        self._stage = self._rounding.stage()
        self._zeros, self._adjoint = (given.a_zero_point, given.b_zero_point), given.adj_x
        transposed = data.swapaxes(-1, -2) if given.adj_y else data
        self._b = transposed if is_8 else transposed.astype(np.float64)
        shape = transposed.shape[-2:]  # without elements all matrices are equal, and there may be any number of them
        flat = transposed.reshape(-1, *shape) if data.size else np.zeros((1, *shape), np.int8)
        each = flat if is_8 else ()
        self._matrices = [MatMul(pack_b(one), given.b_zero_point, self._stage, self._dtype.num) for one in each]

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) < 2:
            raise bad_value("a", f"expected at least 2 dimensions, got shape {shape}")
        rows, depth = shape[:-3:-1] if self._adjoint else shape[-2:]
        try:
            batch = broadcast_shape(shape[:-2], self._b.shape[:-2])
            if depth != self._b.shape[-2]:
                raise ValueError
        except ValueError:
            raise bad_value("a, b", f"shapes {shape} and {self._b.shape} do not fit a matrix product") from None
        return (*batch, rows, self._b.shape[-1])

    def __call__(self, a: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Multiply a batch on so many threads, into `out` if it is given."""
        threads, data = int32(num_threads, "num_threads", 1), self._codes(a, "a")
        shape = self._shape(data.shape)
        check.out(out, self._dtype, shape, data)
        left = data.swapaxes(-1, -2) if self._adjoint else data
        made = np.empty(shape, self._dtype)
        if self._dtype == np.int16:  # exact in double
            sums: NDArray[Any] = (left.astype(np.float64) @ self._b).astype(np.int64)
            if sums.size:
                self._stage.run(sums, made)
            return put(made, out)
        lefts = np.broadcast_to(left, shape[:-2] + left.shape[-2:])
        own = self._b.shape[:-2] if self._b.size else ()
        numbers = np.broadcast_to(np.arange(len(self._matrices)).reshape(own), shape[:-2])
        for at in np.ndindex(shape[:-2] if made.size else (0,)):
            self._matrices[numbers[at]](lefts[at], self._zeros[0], made[at], threads)
        return put(made, out)


def batch_matmul(
    a: ArrayLike,
    b: ArrayLike,
    *,
    a_scale: float,
    a_zero_point: int,
    b_scale: float,
    b_zero_point: int,
    y_scale: float,
    y_zero_point: int,
    adj_x: bool = False,
    adj_y: bool = False,
    kernel: str = "reference",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply two batches of matrices and make codes.

    ``y = clamp(round((a - a_zero_point) @ (b - b_zero_point) * a_scale * b_scale / y_scale) + y_zero_point)``, with
    sums of int32, or of 64 bits for int16. XNNPACK takes only a `b_zero_point` of 0; others go to the optimised
    kernels.

    Parameters
    ----------
    a : ndarray of int8 or int16, (..., M, K)
        Codes.
    b : ndarray of the type of `a`, (..., K, N)
        Codes; LiteRT takes int8 beside int16 too. Leading axes broadcast.
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point : float, int
        A value is ``scale * (code - zero_point)``.
    adj_x, adj_y : bool
        Whether the matrices of `a` and of `b` are transposed.
    kernel, num_threads, out : optional
        See `conv_2d`.

    Returns
    -------
    ndarray of the type of `a`, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes and numbers that do not fit; an `out` that does not fit; a kernel library that has no such
        op.

    Notes
    -----
    Sources: TFLite ``batch_matmul.cc``, ``reference/batch_matmul.h``; XNNPACK ``qs8-gemm``.

    Examples
    --------
    >>> how = {"a_scale": 1.0, "a_zero_point": 0, "b_scale": 1.0, "b_zero_point": 1, "y_scale": 2.0, "y_zero_point": 0}
    >>> qops.tflite.batch_matmul(np.array([[1, 2]], np.int8), np.array([[3], [4]], np.int8), **how)
    array([[4]], dtype=int8)
    """
    return BatchMatmul._on(locals(), a, out, num_threads)

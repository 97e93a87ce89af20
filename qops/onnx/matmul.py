"""MatMulInteger: products of 8 bit matrices, to int32."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.gemm.gemm import MatMul
from qops._kernels.gemm.packed import PackedB, pack_b
from qops.onnx import _checks as check
from qops.prepared import Prepared
from qops.qtensor import as_array, broadcast_shape, int32

__all__ = ["MatMulInteger", "matmul_integer"]


class Products(NamedTuple):
    """What is prepared for data of one type."""

    a_zero: int | NDArray[Any]
    """One number, or one a row."""
    of_matrices: list[MatMul]
    """The products with each matrix of B."""
    dtype: np.dtype[Any]
    """The type of their results."""
    y_zero: NDArray[Any] = np.zeros((), np.uint8)
    """The zero point of codes that are made of the results."""


class Product(Prepared):
    """The base of both products: matrices B that are packed, and the call."""

    __slots__ = ("_batch", "_names", "_of_type", "_packed", "_shape")

    _batch: tuple[int, ...]
    """The dimensions of B before those of a matrix."""
    _names: tuple[str, str]
    _of_type: dict[np.dtype[Any], Products | Exception]
    _packed: list[PackedB]
    _shape: tuple[int, ...]

    def _prepare(self, b: ArrayLike, names: tuple[str, str]) -> NDArray[Any]:
        """Check B, pack its matrices and give them."""
        found = check.array(b, names[1], check.CODES_8)
        if found.ndim == 0:
            raise ValueError(f"{names[1]}: expected at least 1 dimension, got a scalar")
        columns = found[:, np.newaxis] if found.ndim == 1 else found
        self._shape, self._batch, self._names = found.shape, columns.shape[:-2], names
        self._packed = [pack_b(columns[at]) for at in np.ndindex(self._batch)]
        return columns

    def shape_of(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the result.

        Parameters
        ----------
        shape : tuple of int
            That of the first matrix, (..., M, K) or (K,).

        Returns
        -------
        tuple of int
            (..., M, N), without M if the first matrix has 1 dimension, without N if the second one has.

        Raises
        ------
        ValueError
            A shape that does not fit.
        """
        if not shape:
            raise ValueError(f"{self._names[0]}: expected at least 1 dimension, got a scalar")
        try:
            batch = broadcast_shape(shape[:-2], self._batch)
            if shape[-1] != self._packed_shape[0]:
                raise ValueError
        except ValueError:
            names = ", ".join(self._names)
            raise ValueError(f"{names}: shapes {shape} and {self._shape} do not fit a matrix product") from None
        return (*batch, *shape[-2:-1], *self._shape[1:][-1:])

    @property
    def _packed_shape(self) -> tuple[int, int]:
        """(K, N)."""
        return self._shape[-2 if len(self._shape) > 1 else 0], self._shape[-1] if len(self._shape) > 1 else 1

    @property
    def nbytes(self) -> int:
        """Bytes of the packed matrices."""
        return sum(int(packed.nbytes) for packed in self._packed)

    def _product(self, a: ArrayLike, out: NDArray[Any] | None, num_threads: int) -> NDArray[Any]:
        """Give the products of a with each matrix of B."""
        threads, data = int32(num_threads, "num_threads", 1), as_array(a, self._names[0])
        of = check.of_type(self._of_type, data, self._names[0])
        is_one = not self._batch and type(of.a_zero) is int
        if is_one and data.ndim == 2 == len(self._shape) and data.shape[-1] == self._shape[0]:
            made: NDArray[Any] = of.of_matrices[0](data, of.a_zero, out, threads)
            return made
        shape = self.shape_of(data.shape)
        check.out(out, of.dtype, shape, (data,))
        if is_one:  # all matrices of the batch are one, of more rows
            rows = data.reshape(prod(data.shape[:-1]), data.shape[-1])
            return check.put(of.of_matrices[0](rows, of.a_zero, None, threads).reshape(shape), out)
        return check.put(self._batches(np.atleast_2d(data), of, threads).reshape(shape), out)

    def _batches(self, rows: NDArray[Any], of: Products, threads: int) -> NDArray[Any]:
        """Give (..., M, N), a matrix of the batch at a time."""
        batch, (k, n) = broadcast_shape(rows.shape[:-2], self._batch), self._packed_shape
        m = rows.shape[-2]
        made, left = np.empty((*batch, m, n), of.dtype), np.broadcast_to(rows, (*batch, m, k))
        zeros = np.broadcast_to(check.per_row(np.asarray(of.a_zero), "a_zero_point", rows.shape, -2), (*batch, m, 1))
        number = np.broadcast_to(np.arange(len(self._packed)).reshape(self._batch), batch)
        for at in np.ndindex(batch):
            zero = of.a_zero if type(of.a_zero) is int else zeros[at]
            of.of_matrices[number[at]](left[at], zero, made[at], threads)
        return made


def zero_of_rows(value: ArrayLike, dtype: np.dtype[Any]) -> int | NDArray[Any]:
    """Give the zero point of data of a type: one number, or one a row."""
    zero = check.zero_point(value, "a_zero_point", dtype)
    return int(zero.item()) if zero.size == 1 else zero


def zeros_of_columns(value: ArrayLike, b: NDArray[Any]) -> list[int | NDArray[np.int64]]:
    """Give the zero points of each matrix of b: one number, or one a column."""
    zero = check.per_row(check.zero_point(value, "b_zero_point", b.dtype), "b_zero_point", b.shape, -1)
    each = np.broadcast_to(zero, (*b.shape[:-2], 1, zero.shape[-1])).astype(np.int64)
    return [int(one.item()) if one.size == 1 else one.ravel() for one in (each[at] for at in np.ndindex(b.shape[:-2]))]


class MatMulInteger(Product):
    """The prepared form of `matmul_integer`: the second matrix is packed once.

    Called ``op(A, out=None, num_threads=1)``, with the arguments of `matmul_integer`.

    Parameters
    ----------
    B, a_zero_point, b_zero_point
        Those of `matmul_integer`, which are checked here. A plain `a_zero_point` has the type of the data of each call.

    Attributes
    ----------
    a_zero_point, b_zero_point
        The arguments.
    nbytes : int
        Bytes of the packed matrices.

    Examples
    --------
    >>> import numpy as np
    >>> op = MatMulInteger(np.int8([[127], [-1]]), 12)
    >>> op
    MatMulInteger(np.int8([[127], [-1]]), a_zero_point=12)
    >>> op(np.uint8([[13, 14]])), op.shape_of((5, 2))
    (array([[125]], dtype=int32), (5, 1))
    """

    __slots__ = ()

    def __init__(self, B: ArrayLike, a_zero_point: ArrayLike | None = 0, b_zero_point: ArrayLike | None = 0) -> None:
        B = check.own(B, "B")
        zeros = check.own(a_zero_point, "a_zero_point"), check.own(b_zero_point, "b_zero_point")
        a_zero, b_zero = check.optional(*zeros)
        columns = self._prepare(B, ("A", "B"))
        pairs = zip(self._packed, zeros_of_columns(b_zero, columns), strict=True)
        sums = [MatMul(packed, zero) for packed, zero in pairs]
        self._of_type = check.of_types(lambda a: Products(zero_of_rows(a_zero, a), sums, np.dtype(np.int32)))
        self._keep(B, a_zero, b_zero)

    a_zero_point, b_zero_point = check.given(1), check.given(2)

    def __call__(self, A: ArrayLike, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> NDArray[np.int32]:
        """Multiply `A` by the matrix that was given, on so many threads, into `out` if it is given."""
        return self._product(A, out, num_threads)


def matmul_integer(
    A: ArrayLike,
    B: ArrayLike,
    a_zero_point: ArrayLike | None = 0,
    b_zero_point: ArrayLike | None = 0,
    *,
    num_threads: int = 1,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Multiply 8 bit matrices: ``Y = (A - a_zero_point) @ (B - b_zero_point)`` in int32, which wraps.

    Parameters
    ----------
    A : ndarray of uint8 or int8, (..., M, K)
        As in `numpy.matmul`, a 1-D array is a row, and leading dimensions broadcast.
    B : ndarray of uint8 or int8, (..., K, N)
        A 1-D array is a column.
    a_zero_point : int or ndarray of the type of `A`, optional
        One value, or one a row: (M,) or (..., M, 1). None is 0.
    b_zero_point : int or ndarray of the type of `B`, optional
        One value, or one a column: (N,) or (..., 1, N). None is 0.
    num_threads : int
        How many threads share the work; the bits are the same.
    out : ndarray of int32, (..., M, N), optional
        Where the result is written, apart from the inputs.

    Returns
    -------
    ndarray of int32, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, also that of `out`.

    Notes
    -----
    Source: onnx, ``reference/ops/op_matmul_integer.py``; onnxruntime, ``matmul_integer.cc``.

    This function follows the standard for an `a_zero_point` of M values. The reference takes them along K, and
    onnxruntime has no kernel for them.

    **Hazards.** On AVX2 without VNNI, onnxruntime saturates sums of two products of uint8 by int8 to 16 bits. The
    standard and this function do not:

    >>> import numpy as np
    >>> matmul_integer(np.uint8([[255, 255]]), np.int8([[127], [127]]))
    array([[64770]], dtype=int32)

    Examples
    --------
    >>> A, B = np.uint8([[11, 7, 3], [10, 6, 2]]), np.uint8([[1, 4], [2, 5], [3, 6]])
    >>> matmul_integer(A, B, 12, 0)
    array([[-38, -83],
           [-44, -98]], dtype=int32)
    """
    return MatMulInteger(B, a_zero_point, b_zero_point)(A, out, num_threads)

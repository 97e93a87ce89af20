"""MatMulInteger: products of 8 bit matrices, to int32."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.matmul import MatMul
from qops._kernels.gemm.packed import pack_b
from qops._kernels.stage.prepared import PreparedStage
from qops.checks import as_array, broadcast_shape, int32, native, put
from qops.onnx import _checks as check
from qops.onnx.pairs import STARTS, sums_of
from qops.onnx.runtimes import COLUMNS, Pairs
from qops.prepared import Prepared, argument

__all__ = ["MatMulInteger", "matmul_integer"]

FEW = 1024
"""Rows of A up to which packing B on the way takes less time than packing it first."""
INT32 = np.dtype(np.int32)
TYPES = np.dtype(np.uint8), np.dtype(np.int8)


class Streamed(NamedTuple):
    """The product with one matrix for a single call, called as `MatMul`. For few rows it is not packed as a whole."""

    b: NDArray[Any]
    b_zero: int | NDArray[np.int64]
    codes: PreparedStage | None
    dtype: np.dtype[Any]
    pairs: Pairs

    def __call__(self, a: NDArray[Any], a_zero: Any, out: NDArray[Any] | None, num_threads: int) -> NDArray[Any]:
        """Multiply `a` by the matrix."""
        check.out(out, self.dtype, (len(a), self.b.shape[1]), a, self.b)
        if len(a) > FEW and self.pairs in STARTS:
            packed = pack_b(self.b, pairs=STARTS[self.pairs])
            return MatMul(packed, self.b_zero, self.codes, self.dtype.num)(a, a_zero, out, num_threads)
        sums_out = out if self.codes is None and out is not None and out.flags.carray else None
        sums = sums_of(a, self.b, self.pairs, (a_zero, self.b_zero), num_threads, sums_out)
        if self.codes is None:
            return put(sums, out)
        made = np.empty(sums.shape, self.dtype)
        if made.size:
            self.codes.run(sums, made)
        return put(made, out)


Kernel = tuple[int | NDArray[np.int64], list[MatMul | Streamed], np.dtype[Any]]
"""What runs for data of one type: its zero point, the products with each matrix of B, the type of their results."""


_MOST_MATRICES = 2**24
"""Of a batch; arrays without elements may have more, on which work would not end."""


def _places(batch: tuple[int, ...], names: str) -> Iterable[tuple[int, ...]]:
    """Give the places of the matrices of a batch; ValueError if there are too many."""
    if prod(batch) > _MOST_MATRICES:
        raise bad_value(names, f"expected at most {_MOST_MATRICES} matrices, got a batch of {batch}")
    return product(*map(range, batch))


class MatrixProduct(Prepared):
    """The base of both products: matrices B, which are packed unless the op is for a single call, and the call."""

    __slots__ = ("_b", "_each", "_is_vector", "_kernels", "_matrices", "_names")

    def _pack(self, b: ArrayLike, names: tuple[str, str], once: bool) -> None:
        """Check B, (..., K, N), pack its matrices and prepare for each type of data; a single call does that itself."""
        found = native(b, names[1], check.CODES_8)
        if found.ndim == 0:
            raise bad_value(names[1], "expected at least 1 dimension, got a scalar")
        self._names, self._is_vector = names, found.ndim == 1
        self._b = found[:, np.newaxis] if self._is_vector else found
        each = [self._b[at] for at in _places(self._b.shape[:-2], names[1])]
        self._matrices: dict[Pairs, list[Any]] = {}
        for pairs in map(self.pairs_of, () if once else TYPES):
            if pairs in STARTS and pairs not in self._matrices:
                self._matrices[pairs] = [pack_b(one, pairs=STARTS[pairs]) for one in each]
        self._each = each
        self._kernels: dict[np.dtype[Any], Kernel] = {} if once else check.of_types(self._kernel)

    def pairs_of(self, dtype: DTypeLike = "uint8") -> Pairs:
        """Give what two products that share a word of 16 bits do in this op, with data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the codes that the op multiplies.

        Returns
        -------
        {"", "saturate", "lowest"}
            See `qops.onnx`: "" where all sums are exact, "saturate" on x86 without VNNI, "lowest" on ARM without dot
            products.
        """
        return COLUMNS[self.runtime].pairs_of(np.dtype(dtype), self._b.dtype)

    def _kernel(self, a: np.dtype[Any]) -> Kernel:
        """Make the kernel for data of type `a`; a zero point that is a plain number has that type too."""
        return self._products(a)

    def _products(self, a: np.dtype[Any], stages: Sequence[PreparedStage] = (), dtype: np.dtype[Any] = INT32) -> Kernel:
        """Make the products with each matrix: sums, or codes of type `dtype` by the stage of each matrix."""
        a_zero = check.zero_point(self.a_zero_point, "a_zero_point", a)
        b_zero = check.zero_point(self.b_zero_point, "b_zero_point", self._b.dtype)
        zeros = check.of_matrices(check.per_row(b_zero, "b_zero_point", self._b.shape, -1), self._b.shape)
        pairs = self.pairs_of(a)
        matrices = self._matrices.get(pairs, self._each)
        each = zip(matrices, map(check.offset, zeros), stages or [None] * len(zeros), strict=True)
        is_packed = matrices is not self._each
        products = [MatMul(*one, dtype.num) if is_packed else Streamed(*one, dtype, pairs) for one in each]
        return check.offset(a_zero), products, dtype

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape:
            raise bad_value(self._names[0], "expected at least 1 dimension, got a scalar")
        try:
            batch = broadcast_shape(shape[:-2], self._b.shape[:-2])
            if shape[-1] != self._b.shape[-2]:
                raise ValueError
        except ValueError:
            b, names = self._b.shape[: -1 if self._is_vector else None], ", ".join(self._names)
            raise bad_value(names, f"shapes {shape} and {b} do not fit a matrix product") from None
        return (*batch, *shape[-2:-1], *(() if self._is_vector else self._b.shape[-1:]))

    @property
    def nbytes(self) -> int:
        """Bytes of the packed matrices."""
        return sum(int(matrix.nbytes) for each in self._matrices.values() for matrix in each)

    def _run(
        self, a: NDArray[Any], out: NDArray[Any] | None, num_threads: int, a_zero: int | NDArray[np.int64] | None = None
    ) -> NDArray[Any]:
        """Give the products of `a` with each matrix of B; `a_zero` is used instead of `a_zero_point` if it is given."""
        kernel = self._kernels.get(a.dtype) or self._kernel(check.among(a.dtype, self._names[0], check.CODES_8))
        zero, products, dtype = kernel
        threads = int32(num_threads, "num_threads", 1)
        a_zero = zero if a_zero is None else a_zero
        is_one = self._b.ndim == 2 and type(a_zero) is int
        if is_one and a.ndim == 2 and not self._is_vector and a.shape[1] == len(self._b):
            return products[0](a, a_zero, out, threads)
        shape = self._shape(a.shape)
        check.out(out, dtype, shape, a, self)
        if is_one:  # all matrices of the batch are one, of more rows
            made = products[0](a.reshape(prod(a.shape[:-1]), a.shape[-1]), a_zero, None, threads)
        else:
            made = self._batches(np.atleast_2d(a), (a_zero, products, dtype), threads)
        return put(made.reshape(shape), out)

    def _batches(self, a: NDArray[Any], kernel: Kernel, threads: int) -> NDArray[Any]:
        """Give (..., M, N), a matrix of the batch at a time."""
        a_zero, products, dtype = kernel
        zeros, own_batch = check.per_row(np.asarray(a_zero), "a_zero_point", a.shape, -2), self._b.shape[:-2]
        batch = broadcast_shape(a.shape[:-2], own_batch)
        made, left = np.empty((*batch, a.shape[-2], self._b.shape[-1]), dtype), np.broadcast_to(a, batch + a.shape[-2:])
        zeros = np.broadcast_to(zeros, (*batch, a.shape[-2], 1))
        number = np.broadcast_to(np.arange(len(products)).reshape(own_batch), batch)
        for at in _places(batch, ", ".join(self._names)):
            products[number[at]](left[at], a_zero if type(a_zero) is int else zeros[at], made[at], threads)
        return made


class MatMulInteger(MatrixProduct):
    """The prepared form of `matmul_integer`: the second matrix is packed once.

    Called ``op(A, out=None, num_threads=1)``. The constructor takes all other arguments of `matmul_integer`. A plain
    `a_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.MatMulInteger(np.array([[127], [-1]], np.int8), 12)
    >>> op, op(np.array([[13, 14]], np.uint8)), op.shape_of((5, 2))
    (MatMulInteger(np.int8([[127], [-1]]), a_zero_point=12), array([[125]], dtype=int32), (5, 1))
    """

    __slots__ = ()

    def __init__(
        self,
        B: ArrayLike,
        a_zero_point: ArrayLike | None = 0,
        b_zero_point: ArrayLike | None = 0,
        *,
        runtime: str = "onnx",
    ) -> None:
        a_zero_point, b_zero_point = check.optional(a_zero_point, b_zero_point)
        runtime = check.runtime(runtime)
        self._make(locals())

    weights = argument("B")

    def _prepare(self, once: bool) -> None:
        self._pack(self.B, ("A", "B"), once)
        if not COLUMNS[self.runtime].is_ort:
            return
        check.one_value(as_array(self.a_zero_point, "a_zero_point"), "a_zero_point")
        b_zero = as_array(self.b_zero_point, "b_zero_point")
        if b_zero.size > 1 and b_zero.ndim < self._b.ndim - 1:
            raise bad_value("b_zero_point", f"onnxruntime takes (..., 1, N) beside B of shape {self._b.shape}")
        if not self._b.shape[-2]:
            raise bad_value("B", f"of no rows, {self._b.shape}, onnxruntime leaves the result as it was in memory")

    def __call__(self, A: ArrayLike, out: NDArray[np.int32] | None = None, num_threads: int = 1) -> NDArray[np.int32]:
        """Multiply `A` by the matrix that was given, on so many threads, into `out` if it is given."""
        return self._run(as_array(A, "A"), out, num_threads)


def matmul_integer(
    A: ArrayLike,
    B: ArrayLike,
    a_zero_point: ArrayLike | None = 0,
    b_zero_point: ArrayLike | None = 0,
    *,
    runtime: str = "onnx",
    num_threads: int = 1,
    out: NDArray[np.int32] | None = None,
) -> NDArray[np.int32]:
    """Multiply 8 bit matrices: ``Y = (A - a_zero_point) @ (B - b_zero_point)`` in int32, which wraps.

    Parameters
    ----------
    A, B : ndarray of uint8 or int8, (..., M, K) and (..., K, N)
        As in `numpy.matmul`, 1-D arrays are a row and a column, and leading dimensions broadcast.
    a_zero_point, b_zero_point : int or ndarray of the type of `A` and of `B`, optional
        One value; or for `A` one for each row, (M,) or (..., M, 1), for `B` one for each column, (N,) or (..., 1, N).
        None is 0.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The standard, or onnxruntime on a kind of CPU, see `qops.onnx`. "onnxruntime" is another name for "ort".
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
        Other types, shapes that do not fit, also that of `out`. With onnxruntime also an `a_zero_point` of
        several values, N values for `b_zero_point` beside several matrices, and a `B` without rows.

    Notes
    -----
    Source: onnx, ``reference/ops/op_matmul_integer.py``; onnxruntime, ``matmul_integer.cc``. This function follows the
    standard for an `a_zero_point` of M values. The reference takes them along K; onnxruntime has no kernel for them.

    **Hazards.** On AVX2 without VNNI, onnxruntime saturates sums of two neighbouring products of uint8 by int8 to 16
    bits. The standard, and onnxruntime on other CPUs, do not:

    >>> a, b = np.array([[255, 255]], np.uint8), np.array([[127], [127]], np.int8)
    >>> [qops.onnx.matmul_integer(a, b, runtime=runtime).item() for runtime in ("onnx", "ort", "ort_avx2")]
    [64770, 64770, 32767]

    On ARM cores without dot products, as in a Raspberry Pi 4, two products share a word of 16 bits too. It wraps if
    both codes are the lowest, 0 of uint8, and both weights are -128, at places 8 apart:

    >>> a, b = np.zeros((1, 16), np.uint8), np.full((16, 1), -128, np.int8)
    >>> [qops.onnx.matmul_integer(a, b, 128, runtime=runtime).item() for runtime in ("ort_arm", "ort_neon")]
    [262144, -262144]

    Examples
    --------
    >>> A, B = np.array([[11, 7, 3], [10, 6, 2]], np.uint8), np.array([[1, 4], [2, 5], [3, 6]], np.uint8)
    >>> qops.onnx.matmul_integer(A, B, 12, 0)
    array([[-38, -83],
           [-44, -98]], dtype=int32)
    """
    a_zero_point, b_zero_point = check.optional(a_zero_point, b_zero_point)
    runtime = check.runtime(runtime)
    return MatMulInteger._once(locals())(A, out, num_threads)

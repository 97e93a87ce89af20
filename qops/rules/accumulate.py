"""Accumulators of a layer: exact sums of products of codes of 16 or 8 bits by weights of 8, for `requantize`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.gemm.gemm import product
from qops._kernels.gemm.packed import pack_b
from qops.checks import check_out, dtype_among, int32, native, put
from qops.prepared import Prepared

__all__ = ["Accumulate", "accumulate"]

_AT_ONCE = 2**15
"""Rows of weights that are multiplied together: a sum of so many products of bytes fits int32."""


class Accumulate(Prepared):
    """Prepared form of `accumulate`: the weights are packed once.

    Called ``op(x, out=None, num_threads=1)``, it gives what `accumulate` gives with the same arguments.

    Parameters
    ----------
    w, bias, x_zero_point, w_zero_point, dtype
        As `accumulate` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        What `accumulate` refuses, except `x` and `out`, which are checked at each call.

    Examples
    --------
    >>> op = qops.rules.Accumulate(np.int8([[127], [-1]]))
    >>> op(np.int16([[30000, 1]]))
    array([[3809999]])
    """

    __slots__ = ("_blocks", "_dtype", "_offset", "_w")

    def __init__(
        self,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_zero_point: int = 0,
        w_zero_point: int = 0,
        dtype: DTypeLike = "int64",
    ) -> None:
        bias = None if bias is None else native(bias, "bias", ("int32", "int64"))
        dtype = _type(dtype)
        self._make(locals())

    def _prepare(self, once: bool) -> None:
        self._w = native(self.w, "w", ("int8", "uint8"))
        if self._w.ndim != 2:
            raise bad_value("w", f"expected (K, N), got shape {self._w.shape}")
        x_zero, w_zero = int32(self.x_zero_point, "x_zero_point"), int32(self.w_zero_point, "w_zero_point")
        sums = self._w.sum(0, dtype=np.int64)
        self._offset = len(self._w) * x_zero * w_zero - x_zero * sums
        if self.bias is not None:
            added = native(self.bias, "bias", ("int32", "int64"))
            if added.shape != sums.shape:
                raise bad_value("bias", f"expected one value a column of w, {sums.shape}, got shape {added.shape}")
            self._offset = self._offset + added
        self._dtype = np.dtype(self.dtype)
        parts = [self._w[i : i + _AT_ONCE] for i in range(0, len(self._w), _AT_ONCE)]
        self._blocks: list[Any] = parts if once else [pack_b(part) for part in parts]

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape or shape[-1] != len(self._w):
            raise bad_value("x, w", f"shapes {shape} and {self._w.shape} do not fit a matrix product")
        return *shape[:-1], self._w.shape[1]

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Give the accumulators of `x`, on so many threads, in `out` if it is given."""
        threads, codes = int32(num_threads, "num_threads", 1), native(x, "x", ("int16", "int8", "uint8"))
        shape = self._shape(codes.shape)
        if out is not None:
            check_out(out, self._dtype.num, shape, [codes, *(v for v in (self.w, self.bias) if v is not None)])
        rows = codes.reshape(-1, len(self._w))
        total = np.zeros((len(rows), self._w.shape[1]), np.int64) + self._offset
        for i, block in enumerate(self._blocks):
            total += _products(rows[:, i * _AT_ONCE : (i + 1) * _AT_ONCE], block, threads)
        if self.w_zero_point:
            total -= self.w_zero_point * rows.sum(1, dtype=np.int64)[:, np.newaxis]
        made: NDArray[Any] = put(total.astype(self._dtype, copy=False).reshape(shape), out)  # int32 wraps
        return made


def _type(dtype: DTypeLike) -> str:
    return dtype_among(dtype, "dtype", ("int32", "int64")).name


def _products(x: NDArray[Any], w: Any, threads: int) -> NDArray[Any]:
    """Exact sums: codes of 16 bits are 256 times their signed high bytes, and their low bytes."""
    if x.dtype != np.int16:
        return product(np.ascontiguousarray(x), w, num_threads=threads)
    high, low = (x >> 8).astype(np.int8), (x & 255).astype(np.uint8)
    return product(high, w, num_threads=threads).astype(np.int64) * 256 + product(low, w, num_threads=threads)


def accumulate(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_zero_point: int = 0,
    w_zero_point: int = 0,
    dtype: DTypeLike = "int64",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the accumulators of a layer: ``acc = (x - x_zero_point) @ (w - w_zero_point) + bias``, exact in int64.

    With codes of 16 bits these are the sums of TFLite's 16x8 layers, which `requantize` takes to codes by the rules
    tflite-int64acc and cmsis-s64.

    Parameters
    ----------
    x : ndarray of int16, int8 or uint8, (..., K)
        Codes.
    w : ndarray of int8 or uint8, (K, N)
        Weights.
    bias : ndarray of int32 or int64, (N,), optional
        Added to the sums.
    x_zero_point, w_zero_point : int
        Codes of real 0.
    dtype : {"int64", "int32"}
        Type of the result; int32 is the sum modulo 2**32, as a loop with a narrow accumulator makes it.
    num_threads : int
        How many threads share the work; the bits are the same.
    out : ndarray of `dtype`, optional
        Where the result is written; (..., N), apart from the inputs.

    Returns
    -------
    ndarray of `dtype`, (..., N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, an `out` that does not fit or overlaps an input.

    See Also
    --------
    Accumulate : the same, prepared once for many inputs.

    Notes
    -----
    Source: TFLite ``integer_ops/fully_connected.h``.

    Examples
    --------
    >>> acc = qops.rules.accumulate(np.int16([[30000, -30000]]), np.int8([[127], [-128]]), np.int64([2**33]))
    >>> acc
    array([[8597584592]])
    >>> qops.rules.requantize(acc, "tflite-int64acc", scale=2.0**-20, dtype="int16")
    array([[8199]], dtype=int16)
    """
    x_zero_point, w_zero_point = int32(x_zero_point, "x_zero_point"), int32(w_zero_point, "w_zero_point")
    dtype = _type(dtype)
    return Accumulate._once(locals())(x, out, num_threads)

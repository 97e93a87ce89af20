"""Accumulators of a layer: sums of products of codes of 16 or 8 bits by weights of 8, for `requantize`."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage.given import row_named
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import check_out, int32, native, put
from qops.prepared import Prepared
from qops.rules.packed_rows import PackedRows, sum_type, weights_of
from qops.rules.sum_rules import ACCUMULATE, SumLayer

__all__ = ["Accumulate", "accumulate"]


class Accumulate(Prepared):
    """Prepared form of `accumulate`: the weights are packed once.

    Called ``op(x, out=None, num_threads=1)``, it gives what `accumulate` gives with the same arguments.

    Parameters
    ----------
    w, bias, x_zero_point, w_zero_point, dtype, rule
        As `accumulate` takes them. Arrays are copied.

    Raises
    ------
    TypeError, ValueError
        What `accumulate` refuses, except `x` and `out`, which are checked at each call.

    Examples
    --------
    >>> op = qops.rules.Accumulate(np.array([[127], [-1]], np.int8))
    >>> op(np.array([[30000, 1]], np.int16))
    array([[3809999]])
    """

    __slots__ = ("_data", "_dtype", "_offset", "_packed", "_w")

    def __init__(
        self,
        w: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        x_zero_point: int = 0,
        w_zero_point: int = 0,
        dtype: DTypeLike = "int64",
        rule: str = "exact",
    ) -> None:
        bias = None if bias is None else native(bias, "bias", ("int32", "int64"))
        dtype = sum_type(dtype)
        self._make(locals())

    def _prepare(self, once: bool) -> None:
        row = row_named(self.rule, ACCUMULATE)
        layer = SumLayer((), (), (), (), 1, 0, 0, self.w_zero_point)
        self._w, self._data = weights_of(self.w, row), row.data
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
        self._packed = PackedRows(self._w, None if row.is_exact(layer) else row.starts(len(self._w)), once)

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if not shape or shape[-1] != len(self._w):
            raise bad_value("x, w", f"shapes {shape} and {self._w.shape} do not fit a matrix product")
        return *shape[:-1], self._w.shape[1]

    def __call__(self, x: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Give the accumulators of `x`, on so many threads, in `out` if it is given."""
        threads, codes = int32(num_threads, "num_threads", 1), native(x, "x", self._data)
        shape = self._shape(codes.shape)
        if out is not None:
            inputs = [v for v in (codes, self.w, self.bias) if isinstance(v, np.ndarray)]  # a bias may be a list
            check_out(out, self._dtype.num, shape, inputs)
        rows = codes.reshape(-1, len(self._w))
        total = self._packed(rows, threads) + self._offset
        if self.w_zero_point:
            total -= self.w_zero_point * rows.sum(1, dtype=np.int64)[:, np.newaxis]
        made: NDArray[Any] = put(total.astype(self._dtype, copy=False).reshape(shape), out)  # int32 wraps
        return made


@refusing_unknown
def accumulate(
    x: ArrayLike,
    w: ArrayLike,
    bias: ArrayLike | None = None,
    *,
    x_zero_point: int = 0,
    w_zero_point: int = 0,
    dtype: DTypeLike = "int64",
    rule: str = "exact",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
    **unknown: Never,
) -> NDArray[Any]:
    """Give the accumulators of a layer: ``acc = (x - x_zero_point) @ (w - w_zero_point) + bias``, exact in int64.

    By a rule of `ACCUMULATE` other than "exact", neighbours x[k] * w[k] and x[k+1] * w[k+1] saturate together to 16
    bits, as VPMADDUBSW does on x86 without VNNI. Zero points and bias are no part of a pair.

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
    rule : str
        A name in `ACCUMULATE`: a library on a kind of CPU, which takes weights of int8.
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
    accumulate_conv : the same of a convolution.

    Notes
    -----
    Source: TFLite ``integer_ops/fully_connected.h``; the instruction VPMADDUBSW.

    **Hazard.** Two products of large codes lose a half on x86 without VNNI:

    >>> x, w = np.array([[255, 255]], np.uint8), np.array([[127], [127]], np.int8)
    >>> [qops.rules.accumulate(x, w, rule=rule).item() for rule in ("exact", "fbgemm-avx2")]
    [64770, 32767]

    Examples
    --------
    >>> acc = qops.rules.accumulate(
    ...     np.array([[30000, -30000]], np.int16), np.array([[127], [-128]], np.int8), np.array([2**33], np.int64)
    ... )
    >>> acc
    array([[8597584592]])
    >>> qops.rules.requantize(acc, "tflite-int64acc", scale=2.0**-20, dtype="int16")
    array([[8199]], dtype=int16)
    """
    if unknown:
        raise unknown_keyword(accumulate, unknown)
    x_zero_point, w_zero_point = int32(x_zero_point, "x_zero_point"), int32(w_zero_point, "w_zero_point")
    dtype = sum_type(dtype)
    return Accumulate._once(locals())(x, out, num_threads)

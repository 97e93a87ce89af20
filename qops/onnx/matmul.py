"""MatMulInteger and QLinearMatMul: products of 8 bit matrices, to int32 or to codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.gemm.gemm import PreparedProduct, product
from qops._kernels.gemm.packed import pack_b
from qops._kernels.stage.calls import KnownCalls
from qops.onnx import _checks as check
from qops.onnx.requantize import combined_scale, requantize, stage
from qops.qtensor import broadcast_shape, int32

__all__ = ["matmul_integer", "qlinear_matmul"]

KNOWN_SUMS, KNOWN_CODES = KnownCalls(), KnownCalls()
"""What calls of `matmul_integer`, and of `qlinear_matmul`, were prepared with; the second matrix is packed in it."""


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
    asked = B, a_zero_point, b_zero_point, num_threads
    known = KNOWN_SUMS(B, asked)
    made: NDArray[np.int32] | None = known(A, asked, out) if known else None
    if made is not None:
        return made
    a_zero_point, b_zero_point = check.optional(a_zero_point, b_zero_point)
    op = _operands(A, B, a_zero_point, b_zero_point, ("A", "B"))
    threads = int32(num_threads, "num_threads", 1)
    check.out(out, np.dtype(np.int32), op.shape, (op.a, op.b, a_zero_point, b_zero_point))
    if op.a is A and op.can_be_known and KNOWN_SUMS.is_second(B):
        KNOWN_SUMS.keep(PreparedProduct(op.a, pack_b(op.b), op.offsets, num_threads=threads), B, asked)
    return check.put(op.product(threads, out).reshape(op.shape), out)


def qlinear_matmul(
    a: ArrayLike,
    a_scale: ArrayLike,
    a_zero_point: ArrayLike,
    b: ArrayLike,
    b_scale: ArrayLike,
    b_zero_point: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike,
    *,
    runtime: str = "onnx",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply matrices of codes and quantize the product.

    Here ``acc = (a - a_zero_point) @ (b - b_zero_point)`` is int32, which wraps, and
    ``s = a_scale * b_scale / y_scale`` has the type of the scales, rounded after each operation::

        onnx:  y = saturate(half_even(f64(acc) * s + y_zero_point))
        ort:   y = saturate(half_even(f32(f32(acc) * s)) + y_zero_point)

    Parameters
    ----------
    a : ndarray of uint8 or int8, (..., M, K)
        A matrix as in `matmul_integer`.
    a_scale : float, or ndarray of float32, float16 or bfloat16
        One value, or one a row: (M,) or (..., M, 1).
    a_zero_point : int or ndarray of the type of `a`
        Like `a_scale`.
    b : ndarray of uint8 or int8, (..., K, N)
        A matrix as in `matmul_integer`.
    b_scale : float, or ndarray of float32, float16 or bfloat16
        One value, or one a column: (N,) or (..., 1, N).
    b_zero_point : int or ndarray of the type of `b`
        Like `b_scale`.
    y_scale : float, or ndarray of float32, float16 or bfloat16
        One value.
    y_zero_point : int, or ndarray of uint8 or int8
        One value. The result has its type; a plain int has the type of `a`.
    runtime : {"onnx", "ort"}
        Whose bits.
    num_threads, out : optional
        See `matmul_integer`; `out` has the type of `y_zero_point`.

    Returns
    -------
    ndarray of the type of `y_zero_point`, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, scales that are not finite, a `y_scale` of 0, a factor s that is beyond
        its type. With ``runtime="ort"`` also what onnxruntime has no kernel for: int8 by uint8, a result of another
        type than `a`, scales that are not float32, an `a_scale` or `a_zero_point` for each row.

    Notes
    -----
    Source: onnx, ``reference/ops/op_qlinear_matmul.py``; onnxruntime, ``quantize_linear_matmul.cc``,
    ``core/mlas/lib/quantize.cpp``.

    This function follows the standard for values for each row. The reference takes them along the columns.

    **Hazards.** One runtime rounds the product, the other the sum with the zero point. With an odd zero point they
    differ on every tie:

    >>> import numpy as np
    >>> a, b = np.uint8([[1], [3], [5]]), np.uint8([[1]])
    >>> [qlinear_matmul(a, 0.5, 0, b, 1.0, 0, 1.0, 1, runtime=r).ravel().tolist() for r in ("onnx", "ort")]
    [[2, 2, 4], [1, 3, 3]]

    Examples
    --------
    Codes of `a` and `b` are hundredths, those of the result thousandths. (0.3, -0.2) times (0.5, 0.25) is 0.1:

    >>> a, b = np.uint8([[158, 108]]), np.int8([[50], [25]])
    >>> qlinear_matmul(a, 0.01, 128, b, 0.01, 0, 0.001, 0)
    array([[100]], dtype=uint8)
    """
    scales = a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point
    asked = b, runtime, num_threads, *scales
    known = KNOWN_CODES(b, asked)
    made: NDArray[Any] | None = known(a, asked, out) if known else None
    if made is not None:
        return made
    op = _operands(a, b, a_zero_point, b_zero_point, ("a", "b"))
    threads = int32(num_threads, "num_threads", 1)
    y_zero = check.one_value(check.result_zero_point(y_zero_point, op.a.dtype), "y_zero_point")
    is_ort = check.runtime(runtime) == "ort"
    allowed = ("float32",) if is_ort else check.SCALES
    by_row, by_column = check.scale(a_scale, "a_scale", allowed), check.scale(b_scale, "b_scale", allowed)
    last = check.one_value(check.scale(y_scale, "y_scale", allowed, divides=True), "y_scale")
    if is_ort:
        check.ort_has_kernel(op.a, op.b, y_zero, "a, b, y_zero_point")
        check.one_value(op.a_zero, "a_zero_point")
        check.one_value(by_row, "a_scale")
    by_row = check.per_row(by_row, "a_scale", op.a.shape, -2)
    by_column = check.per_row(by_column, "b_scale", op.b.shape, -1)
    factor = combined_scale(by_row, by_column, last, "a_scale, b_scale, y_scale")
    check.out(out, y_zero.dtype, op.shape, (op.a, op.b, *scales))
    by_columns = by_row.size == 1 and by_column.ndim == 2 and factor.dtype == np.float32
    if op.a is a and op.can_be_known and by_columns and KNOWN_CODES.is_second(b):
        codes = stage(factor.ravel(), y_zero, runtime)
        prepared = PreparedProduct(op.a, pack_b(op.b), op.offsets, codes, y_zero.dtype.num, threads)
        KNOWN_CODES.keep(prepared, b, asked)
    return check.put(requantize(op.product(threads), factor, y_zero, runtime).reshape(op.shape), out)


class Operands(NamedTuple):
    """The checked operands of a product, with two dimensions or more."""

    a: NDArray[Any]
    b: NDArray[Any]
    a_zero: NDArray[Any]
    b_zero: NDArray[Any]
    shape: tuple[int, ...]
    """That of the result, which lacks a dimension for each operand of one dimension."""

    @property
    def can_be_known(self) -> bool:
        """Whether later calls may find what was prepared: of two matrices, not empty, the first with one zero point."""
        return (
            self.a.ndim == self.b.ndim == len(self.shape) == 2
            and self.a_zero.size == 1
            and 0 not in (*self.shape, len(self.b))
        )

    @property
    def offsets(self) -> tuple[int, int | NDArray[Any]]:
        """The zero points as `PreparedProduct` takes them, in arrays of their own."""
        return int(self.a_zero.item()), self.b_zero.astype(np.int64).ravel() if self.b_zero.any() else 0

    def product(self, num_threads: int, out: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Give ``(a - a_zero) @ (b - b_zero)``, a matrix of the batch at a time; in `out`, if that is in C order."""
        batch = broadcast_shape(self.a.shape[:-2], self.b.shape[:-2])
        whole = (*batch, self.a.shape[-2], self.b.shape[-1])
        acc = np.empty(whole, np.int32) if out is None or not out.flags.carray else out.reshape(whole)
        left, right, rows, columns = (np.broadcast_to(x, batch + x.shape[-2:]) for x in self[:4])
        for at in np.ndindex(batch):
            product(left[at], right[at], acc[at], offsets=(rows[at], columns[at]), num_threads=num_threads)
        return acc


def _operands(
    a: ArrayLike, b: ArrayLike, a_zero_point: ArrayLike, b_zero_point: ArrayLike, names: tuple[str, str]
) -> Operands:
    left, right = (check.array(x, name, check.CODES_8) for x, name in zip((a, b), names, strict=True))
    for x, name in zip((left, right), names, strict=True):
        if x.ndim == 0:
            raise ValueError(f"{name}: expected at least 1 dimension, got a scalar")
    a_zero = check.zero_point(a_zero_point, "a_zero_point", left.dtype)
    b_zero = check.zero_point(b_zero_point, "b_zero_point", right.dtype)
    rows, columns = np.atleast_2d(left), right[:, np.newaxis] if right.ndim == 1 else right
    try:
        batch = broadcast_shape(rows.shape[:-2], columns.shape[:-2])
        if rows.shape[-1] != columns.shape[-2]:
            raise ValueError
    except ValueError:
        shapes = f"{left.shape} and {right.shape}"
        raise ValueError(f"{', '.join(names)}: shapes {shapes} do not fit a matrix product") from None
    a_zero = check.per_row(a_zero, "a_zero_point", rows.shape, -2)
    b_zero = check.per_row(b_zero, "b_zero_point", columns.shape, -1)
    m, n = rows.shape[-2:-1] if left.ndim > 1 else (), columns.shape[-1:] if right.ndim > 1 else ()
    return Operands(rows, columns, a_zero, b_zero, (*batch, *m, *n))

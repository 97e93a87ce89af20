"""QLinearMatMul: products of matrices of codes, to codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.gemm.gemm import MatMul
from qops.onnx import _checks as check
from qops.onnx.matmul import Product, Products, zero_of_rows, zeros_of_columns
from qops.onnx.requantize import combined_scale, requantize, stage
from qops.qtensor import as_array

__all__ = ["QLinearMatMul", "qlinear_matmul"]


class QLinearMatMul(Product):
    """The prepared form of `qlinear_matmul`: the second matrix is packed once.

    Called ``op(a, out=None, num_threads=1)``, with the arguments of `qlinear_matmul`.

    Parameters
    ----------
    a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point, runtime
        Those of `qlinear_matmul`. Plain `a_zero_point` and `y_zero_point` have the type of the data of each call.

    Attributes
    ----------
    a_scale, a_zero_point, b_scale, b_zero_point, y_scale, y_zero_point, runtime
        The arguments.
    nbytes : int
        Bytes of the packed matrices.

    Examples
    --------
    >>> import numpy as np
    >>> op = QLinearMatMul(0.5, 0, np.uint8([[1]]), 1.0, 0, 1.0, 1, runtime="ort")
    >>> op
    QLinearMatMul(0.5, 0, np.uint8([[1]]), 1.0, 0, 1.0, 1, runtime='ort')
    >>> op(np.uint8([[1], [3], [5]])).ravel()
    array([1, 3, 3], dtype=uint8)
    """

    __slots__ = ("_by_row",)

    _by_row: tuple[NDArray[Any], NDArray[Any], NDArray[Any], str] | None
    """The scales and the runtime, if there is a scale for each row of `a`; the rows are known when it is called."""

    def __init__(
        self,
        a_scale: ArrayLike,
        a_zero_point: ArrayLike,
        b: ArrayLike,
        b_scale: ArrayLike,
        b_zero_point: ArrayLike,
        y_scale: ArrayLike,
        y_zero_point: ArrayLike,
        *,
        runtime: str = "onnx",
    ) -> None:
        named = {"a_scale": a_scale, "a_zero_point": a_zero_point, "b": b, "b_scale": b_scale}
        named |= {"b_zero_point": b_zero_point, "y_scale": y_scale, "y_zero_point": y_zero_point}
        kept = [check.own(value, name) for name, value in named.items()]
        a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point = kept
        runtime = check.runtime(runtime)
        columns = self._prepare(b, ("a", "b"))
        allowed = ("float32",) if runtime == "ort" else check.SCALES
        by_row, by_column = check.scale(a_scale, "a_scale", allowed), check.scale(b_scale, "b_scale", allowed)
        last = check.one_value(check.scale(y_scale, "y_scale", allowed, divides=True), "y_scale")
        if runtime == "ort":
            check.one_value(by_row, "a_scale")
        by_column = check.per_row(by_column, "b_scale", columns.shape, -1)
        self._by_row = (by_row, by_column, last, runtime) if by_row.size != 1 else None
        w_zeros = zeros_of_columns(b_zero_point, columns)
        if self._by_row is None:
            factor = combined_scale(by_row.reshape(1, 1), by_column, last, "a_scale, b_scale, y_scale")
            factor = factor if factor.size else np.ones((1, 1), factor.dtype)
            each = np.broadcast_to(factor, (*self._batch, 1, factor.shape[-1]))
            factors = [each[at].ravel() for at in np.ndindex(self._batch)]

        def products(a: np.dtype[Any]) -> Products:
            zero = zero_of_rows(a_zero_point, a)
            y_zero = check.one_value(check.result_zero_point(y_zero_point, a), "y_zero_point")
            if runtime == "ort":
                check.ort_has_kernel(a, columns.dtype, y_zero.dtype, "a, b, y_zero_point")
                check.one_value(np.asarray(zero), "a_zero_point")
            if self._by_row is not None:
                sums = [MatMul(*one) for one in zip(self._packed, w_zeros, strict=True)]
                return Products(zero, sums, np.dtype(np.int32), y_zero)
            codes = [stage(one, y_zero, runtime) for one in factors]
            made = zip(self._packed, w_zeros, codes, strict=True)
            return Products(zero, [MatMul(*one, y_zero.dtype.num) for one in made], y_zero.dtype)

        self._of_type = check.of_types(products)
        self._keep(*kept, runtime)

    a_scale, a_zero_point, b_scale, b_zero_point = (check.given(i) for i in (0, 1, 3, 4))
    y_scale, y_zero_point, runtime = (check.given(i) for i in (5, 6, 7))

    def __call__(self, a: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Multiply `a` by the matrix that was given, on so many threads, into `out` if it is given."""
        if self._by_row is None:
            return self._product(a, out, num_threads)
        data = as_array(a, "a")
        sums, y_zero = self._product(data, None, num_threads), check.of_type(self._of_type, data, "a").y_zero
        by_row, by_column, last, runtime = self._by_row
        check.out(out, y_zero.dtype, sums.shape, (data,))
        by_row = check.per_row(by_row, "a_scale", np.atleast_2d(data).shape, -2)
        factor = combined_scale(by_row, by_column, last, "a_scale, b_scale, y_scale")
        whole = sums if len(self._shape) > 1 else sums[..., np.newaxis]
        return check.put(requantize(whole, factor, y_zero, runtime).reshape(sums.shape), out)


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
    op = QLinearMatMul(a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point, runtime=runtime)
    return op(a, out, num_threads)

"""QLinearMatMul: products of matrices of codes, to codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.checks import as_array, native, put
from qops.onnx import _checks as check
from qops.onnx.matmul import Kernel, MatrixProduct
from qops.onnx.requantize import combined_scale, requantize, requantizer, stage
from qops.onnx.runtimes import COLUMNS
from qops.rules.requantize import Requantize

__all__ = ["QLinearMatMul", "qlinear_matmul"]

NAMES = "a_scale, b_scale, y_scale"


class QLinearMatMul(MatrixProduct):
    """The prepared form of `qlinear_matmul`: the second matrix is packed once.

    Called ``op(a, out=None, num_threads=1)``. The constructor takes all other arguments of `qlinear_matmul`. A plain
    `a_zero_point` or `y_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearMatMul(0.5, 0, np.array([[1]], np.uint8), 1.0, 0, 1.0, 1, runtime="ort")
    >>> op, op(np.array([[1], [3], [5]], np.uint8)).ravel()
    (QLinearMatMul(0.5, 0, np.uint8([[1]]), 1.0, 0, 1.0, 1, runtime='ort'), array([1, 3, 3], dtype=uint8))
    """

    __slots__ = ("_scales",)

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
        runtime = check.runtime(runtime)
        self._make(locals())

    @property
    def factor(self) -> NDArray[Any]:
        """``a_scale * b_scale / y_scale``, which sums are multiplied by: one, or one for each row or column."""
        a_scale = self._scales[0]
        return self._factor(a_scale.shape if a_scale.ndim > 1 else (a_scale.size, 1))

    def requantize(self, dtype: DTypeLike = "uint8") -> Requantize:
        """Give what takes sums to codes, for data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the data, which a plain `y_zero_point` has too.

        Returns
        -------
        qops.rules.Requantize
            Its rule, scale and ends can be read. Axis -1 has the channels.
        """
        zero = check.result_zero_point(self.y_zero_point, np.dtype(dtype))
        return requantizer(self.factor, zero, self.runtime, axis=-1)

    def _prepare(self, once: bool) -> None:
        is_ort = COLUMNS[self.runtime].is_ort
        allowed = ("float32", "float16") if is_ort else check.SCALES
        a_scale, b_scale = check.scale(self.a_scale, "a_scale", allowed), check.scale(self.b_scale, "b_scale", allowed)
        y_scale = check.one_value(check.scale(self.y_scale, "y_scale", allowed, divides=True), "y_scale")
        if is_ort:
            check.one_value(a_scale, "a_scale")
            a_scale, b_scale, y_scale = (s.astype(np.float32) for s in (a_scale, b_scale, y_scale))
        self._scales = a_scale, b_scale, y_scale
        self._pack(self.b, ("a", "b"), once)

    def _kernel(self, a: np.dtype[Any]) -> Kernel:
        y_zero = check.result_zero_point(self.y_zero_point, a)
        if COLUMNS[self.runtime].is_ort:
            check.ort_has_kernel(a, self._b.dtype, y_zero.dtype, "a, b, y_zero_point")
            check.one_value(as_array(self.a_zero_point, "a_zero_point"), "a_zero_point")
        if self._scales[0].size != 1:  # as many as there are rows, which are known when the op is called
            return self._products(a)
        factors = check.of_matrices(self.factor, self._b.shape)
        return self._products(a, [stage(one, y_zero, self.runtime) for one in factors], y_zero.dtype)

    def _factor(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Give ``a_scale * b_scale / y_scale`` for a matrix of this shape, by row and column."""
        a_scale, b_scale, y_scale = self._scales
        by_row, by_column = (
            check.per_row(a_scale, "a_scale", shape, -2),
            check.per_row(b_scale, "b_scale", self._b.shape, -1),
        )
        return combined_scale(by_row, by_column, y_scale, NAMES)

    def __call__(self, a: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Multiply `a` by the matrix that was given, on so many threads, into `out` if it is given."""
        data = as_array(a, "a")
        if self._scales[0].size == 1:
            return self._run(data, out, num_threads)
        y_zero = check.result_zero_point(self.y_zero_point, native(data, "a", check.CODES_8).dtype)
        check.out(out, y_zero.dtype, self._shape(data.shape), data, self)
        sums = self._run(data, None, num_threads)
        whole, factor = sums[..., np.newaxis] if self._is_vector else sums, self._factor(np.atleast_2d(data).shape)
        return put(requantize(whole, factor, y_zero, self.runtime).reshape(sums.shape), out)


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
    ``s = a_scale * b_scale / y_scale`` has the type of the scales, with onnxruntime float32, rounded after each
    operation::

        onnx:  y = saturate(half_even(f64(acc) * s + y_zero_point))
        ort:   y = saturate(half_even(f32(f32(acc) * s)) + y_zero_point)

    Parameters
    ----------
    a : ndarray of uint8 or int8, (..., M, K)
        A matrix as in `matmul_integer`.
    a_scale, a_zero_point : float or ndarray of float32, float16 or bfloat16, int or ndarray of the type of `a`
        One value each, or one for each row: (M,) or (..., M, 1).
    b : ndarray of uint8 or int8, (..., K, N)
        A matrix as in `matmul_integer`.
    b_scale, b_zero_point : float or ndarray of float32, float16 or bfloat16, int or ndarray of the type of `b`
        One value each, or one for each column: (N,) or (..., 1, N).
    y_scale, y_zero_point : float or ndarray of float32, float16 or bfloat16, int or ndarray of uint8 or int8
        One value each. The result has the type of `y_zero_point`; a plain int has the type of `a`.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The standard, or onnxruntime on a kind of CPU, see `qops.onnx`.
    num_threads, out : optional
        See `matmul_integer`; `out` has the type of `y_zero_point`.

    Returns
    -------
    ndarray of the type of `y_zero_point`, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, scales that are not finite, a `y_scale` of 0, a factor s that is beyond
        its type. With onnxruntime also what onnxruntime has no kernel for: int8 by uint8, a result of another
        type than `a`, scales of bfloat16, an `a_scale` or `a_zero_point` for each row.

    Notes
    -----
    Source: onnx, ``reference/ops/op_qlinear_matmul.py``; onnxruntime, ``quantize_linear_matmul.cc``,
    ``core/mlas/lib/quantize.cpp``. This function follows the standard for values for each row. The reference takes
    them along the columns.

    **Hazards.** One runtime rounds the product, the other the sum with the zero point. With an odd zero point they
    differ on every tie:

    >>> a, b = np.array([[1], [3], [5]], np.uint8), np.array([[1]], np.uint8)
    >>> [qops.onnx.qlinear_matmul(a, 0.5, 0, b, 1.0, 0, 1.0, 1, runtime=r).ravel().tolist() for r in ("onnx", "ort")]
    [[2, 2, 4], [1, 3, 3]]

    Examples
    --------
    Codes of `a` and `b` are hundredths, those of the result thousandths. (0.3, -0.2) times (0.5, 0.25) is 0.1:

    >>> a, b = np.array([[158, 108]], np.uint8), np.array([[50], [25]], np.int8)
    >>> qops.onnx.qlinear_matmul(a, 0.01, 128, b, 0.01, 0, 0.001, 0)
    array([[100]], dtype=uint8)
    """
    runtime = check.runtime(runtime)
    return QLinearMatMul._once(locals())(a, out, num_threads)

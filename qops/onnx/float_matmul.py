"""DynamicQuantizeMatMul and MatMulIntegerToFloat: products of codes to float32, onnxruntime's own ops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import native, put
from qops.onnx import _checks as check
from qops.onnx.by_type import codes
from qops.onnx.dynamic_quantize import quantized_over_range
from qops.onnx.matmul import MatrixProduct
from qops.onnx.runtimes import COLUMNS
from qops.prepared import argument
from qops.rules.scales import fma

__all__ = ["DynamicQuantizeMatMul", "MatMulIntegerToFloat", "dynamic_quantize_matmul", "matmul_integer_to_float"]

F32 = np.float32
FLOAT32 = np.dtype(np.float32)


class _ToFloat(MatrixProduct):
    """A product whose sums become ``f32(acc) * (a_scale * b_scale) + bias``, on ARM by one fused multiply-add."""

    __slots__ = ("_b_scale", "_bias")

    weights = argument("B")

    def _pack_all(self, once: bool) -> None:
        self._pack(self.B, ("A", "B"), once)
        if self._is_vector:
            raise bad_value("B", f"expected a matrix, got shape {self._b.shape[:1]}")
        columns = self._b.shape[-1]
        self._b_scale = check.channels(check.scale(self.b_scale, "b_scale", ("float32",)), "b_scale", columns)
        self._bias = None if self.bias is None else native(self.bias, "bias", ("float32",))
        if self._bias is not None and self._bias.shape != (columns,):
            raise bad_value("bias", f"expected {columns} values, one for each column, got shape {self._bias.shape}")

    def _floats(self, acc: NDArray[np.int32], a_scale: np.float32, out: NDArray[Any] | None) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            made, scale = acc.astype(F32), a_scale * self._b_scale
            if self._bias is not None and COLUMNS[self.runtime].fuses:
                made = fma(made, scale, self._bias)
            else:
                made *= scale
                if self._bias is not None:
                    made += self._bias
        return put(made, out)


class DynamicQuantizeMatMul(_ToFloat):
    """The prepared form of `dynamic_quantize_matmul`: the second matrix is packed once.

    Called ``op(A, out=None, num_threads=1)``. The constructor takes all other arguments of `dynamic_quantize_matmul`.

    Examples
    --------
    >>> op = qops.onnx.DynamicQuantizeMatMul(np.array([[1], [2]], np.int8), 0.5)
    >>> op, op(np.array([[0, 255], [51, 102]], np.float32))
    (DynamicQuantizeMatMul(np.int8([[1], [2]]), 0.5), array([[255. ],
           [127.5]], dtype=float32))
    """

    __slots__ = ()

    def __init__(
        self,
        B: ArrayLike,
        b_scale: ArrayLike,
        b_zero_point: ArrayLike | None = 0,
        bias: ArrayLike | None = None,
        *,
        runtime: str = "ort",
    ) -> None:
        (b_zero_point,), runtime = check.optional(b_zero_point), check.own_runtime(runtime)
        self._make(locals())

    a_zero_point = 0

    @property
    def factor(self) -> NDArray[np.float32]:
        """``b_scale``, one or one for each column: what the sums and the scale of the data are multiplied by."""
        return np.array(self._b_scale)

    def _prepare(self, once: bool) -> None:
        self._pack_all(once)

    def __call__(
        self, A: ArrayLike, out: NDArray[np.float32] | None = None, num_threads: int = 1
    ) -> NDArray[np.float32]:
        """Multiply `A` by the matrix that was given, on so many threads, into `out` if it is given."""
        a = native(A, "A", ("float32",))
        check.out(out, FLOAT32, self._shape(a.shape), a, self)
        made = quantized_over_range(a, "A", "ort")
        acc = self._run(made.y, None, num_threads, int(made.y_zero_point))
        return self._floats(acc, made.y_scale, out)


class MatMulIntegerToFloat(_ToFloat):
    """The prepared form of `matmul_integer_to_float`: the second matrix is packed once.

    Called ``op(A, out=None, num_threads=1)``. The constructor takes all other arguments of `matmul_integer_to_float`. A
    plain `a_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.MatMulIntegerToFloat(np.array([[1], [2]], np.int8), 0.5, 0.25)
    >>> op, op(np.array([[0, 255]], np.uint8))
    (MatMulIntegerToFloat(np.int8([[1], [2]]), 0.5, 0.25), array([[63.75]], dtype=float32))
    """

    __slots__ = ("_a_scale",)

    def __init__(
        self,
        B: ArrayLike,
        a_scale: ArrayLike,
        b_scale: ArrayLike,
        a_zero_point: ArrayLike | None = 0,
        b_zero_point: ArrayLike | None = 0,
        bias: ArrayLike | None = None,
        *,
        runtime: str = "ort",
    ) -> None:
        a_zero_point, b_zero_point = check.optional(a_zero_point, b_zero_point)
        runtime = check.own_runtime(runtime)
        self._make(locals())

    @property
    def factor(self) -> NDArray[np.float32]:
        """``a_scale * b_scale``, one or one for each column: what the sums are multiplied by."""
        return np.asarray(self._a_scale * self._b_scale)

    def _prepare(self, once: bool) -> None:
        self._a_scale = F32(check.one_value(check.scale(self.a_scale, "a_scale", ("float32",)), "a_scale"))
        self._pack_all(once)

    def __call__(
        self, A: ArrayLike, out: NDArray[np.float32] | None = None, num_threads: int = 1
    ) -> NDArray[np.float32]:
        """Multiply `A` by the matrix that was given, on so many threads, into `out` if it is given."""
        a = codes(A, "A")
        if a.dtype == np.int8 != self._b.dtype:
            raise bad_type("A, B", f"onnxruntime has no kernel for {a.dtype} by {self._b.dtype}")
        check.out(out, FLOAT32, self._shape(a.shape), a, self)
        return self._floats(self._run(a, None, num_threads), self._a_scale, out)


def dynamic_quantize_matmul(
    A: ArrayLike,
    B: ArrayLike,
    b_scale: ArrayLike,
    b_zero_point: ArrayLike | None = 0,
    bias: ArrayLike | None = None,
    *,
    runtime: str = "ort",
    num_threads: int = 1,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Quantize a matrix over its range, and multiply it, as onnxruntime: ``com.microsoft.DynamicQuantizeMatMul``.

    `dynamic_quantize_linear` with ``runtime="ort"`` makes codes q, a scale and a zero point of all of `A`. Then, with
    an exact int32 sum, in float32, rounded after each operation::

        Y = f32((q - zero_point) @ (B - b_zero_point)) * (scale * b_scale) + bias

    On ARM the product and the sum with the bias are rounded once. See `matmul_integer` for sums that are not exact.

    Parameters
    ----------
    A : ndarray of float32, (..., M, K)
    B : ndarray of uint8 or int8, (..., K, N)
    b_scale : float or ndarray of float32
        One value, or N.
    b_zero_point : int or ndarray of the type of `B`
        One value, or N; None is 0.
    bias : ndarray of float32, (N,), optional
    runtime : {"ort", "ort_avx2", "ort_arm", "ort_neon"}
        onnxruntime on a kind of CPU, see `qops.onnx`.
    num_threads, out : optional
        See `matmul_integer`; `out` is float32.

    Returns
    -------
    ndarray of float32, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, scales that are not finite; an `A` that is empty or holds what
        `dynamic_quantize_linear` refuses.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/dynamic_quantize_matmul.cc``. The standard has no such operator.

    Examples
    --------
    >>> qops.onnx.dynamic_quantize_matmul(
    ...     np.array([[0, 255], [51, 102]], np.float32), np.array([[1], [2]], np.int8), 0.5
    ... )
    array([[255. ],
           [127.5]], dtype=float32)
    """
    (b_zero_point,), runtime = check.optional(b_zero_point), check.own_runtime(runtime)
    return DynamicQuantizeMatMul._once(locals())(A, out, num_threads)


def matmul_integer_to_float(
    A: ArrayLike,
    B: ArrayLike,
    a_scale: ArrayLike,
    b_scale: ArrayLike,
    a_zero_point: ArrayLike | None = 0,
    b_zero_point: ArrayLike | None = 0,
    bias: ArrayLike | None = None,
    *,
    runtime: str = "ort",
    num_threads: int = 1,
    out: NDArray[np.float32] | None = None,
) -> NDArray[np.float32]:
    """Multiply matrices of codes to float32, as onnxruntime does: ``com.microsoft.MatMulIntegerToFloat``.

    With an exact int32 sum, in float32, rounded after each operation::

        Y = f32((A - a_zero_point) @ (B - b_zero_point)) * (a_scale * b_scale) + bias

    On ARM the product and the sum with the bias are rounded once. See `matmul_integer` for sums that are not exact.

    onnxruntime makes this op of two DequantizeLinear and a MatMul whose result stays float32, and of MatMulInteger,
    Cast and Mul.

    Parameters
    ----------
    A, B : ndarray of uint8 or int8, (..., M, K) and (..., K, N)
        As in `matmul_integer`.
    a_scale, b_scale : float or ndarray of float32
        One value; of `b_scale` there may be N.
    a_zero_point, b_zero_point : int or ndarray of the type of `A` and of `B`
        One value; of `b_zero_point` there may be N; None is 0.
    bias : ndarray of float32, (N,), optional
    runtime : {"ort", "ort_avx2", "ort_arm", "ort_neon"}
        onnxruntime on a kind of CPU, see `qops.onnx`.
    num_threads, out : optional
        See `matmul_integer`; `out` is float32.

    Returns
    -------
    ndarray of float32, (..., M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, scales that are not finite; int8 by uint8, for which onnxruntime has no
        kernel.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/dynamic_quantize_matmul.cc``. The standard has no such operator.

    Examples
    --------
    >>> qops.onnx.matmul_integer_to_float(np.array([[0, 255]], np.uint8), np.array([[1], [2]], np.int8), 0.5, 0.25)
    array([[63.75]], dtype=float32)
    """
    a_zero_point, b_zero_point = check.optional(a_zero_point, b_zero_point)
    runtime = check.own_runtime(runtime)
    return MatMulIntegerToFloat._once(locals())(A, out, num_threads)

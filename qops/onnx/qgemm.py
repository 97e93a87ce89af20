"""QGemm: products of codes with a bias, to codes or to float32, onnxruntime's own op."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.checks import int32s, integer, native, put, real
from qops.onnx import _checks as check
from qops.onnx.by_type import codes
from qops.onnx.matmul import MatMulInteger
from qops.onnx.requantize import requantize, requantizer
from qops.onnx.runtimes import Pairs
from qops.prepared import Prepared, argument
from qops.rules.requantize import Requantize

__all__ = ["QGemm", "qgemm"]

F32 = np.float32


class QGemm(Prepared):
    """The prepared form of `qgemm`: the second matrix is packed once.

    Called ``op(A, out=None, num_threads=1)``. The constructor takes all other arguments of `qgemm`. A plain
    `a_zero_point` or `y_zero_point` has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QGemm(0.5, 0, np.array([[1]], np.uint8), 1.0, 0, np.array([1], np.int32), 1.0, 1)
    >>> op, op(np.array([[1], [2]], np.uint8)).ravel()
    (QGemm(0.5, 0, np.uint8([[1]]), 1.0, 0, C=np.int32([1]), y_scale=1.0, y_zero_point=1), array([2, 3], dtype=uint8))
    """

    __slots__ = ("_bias", "_factor", "_product")

    def __init__(
        self,
        a_scale: ArrayLike,
        a_zero_point: ArrayLike | None,
        B: ArrayLike,
        b_scale: ArrayLike,
        b_zero_point: ArrayLike | None,
        C: ArrayLike | None = None,
        y_scale: ArrayLike | None = None,
        y_zero_point: ArrayLike | None = None,
        *,
        alpha: float = 1.0,
        transA: int = 0,
        transB: int = 0,
        runtime: str = "ort",
    ) -> None:
        runtime = check.own_runtime(runtime)
        self._make(locals())

    weights, bias = argument("B"), argument("C")

    @property
    def factor(self) -> NDArray[np.float32]:
        """``alpha * a_scale * b_scale / y_scale``, or that without `y_scale`: what the sums are multiplied by."""
        return self._factor.copy()

    def requantize(self, dtype: DTypeLike = "uint8") -> Requantize:
        """Give what takes sums with the bias to codes, for data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the data, which a plain `y_zero_point` has too.

        Returns
        -------
        qops.rules.Requantize
            Its rule, scale and ends can be read. Axis -1 has the channels.
        """
        if self.y_zero_point is None:
            raise bad_value("y_zero_point", "None, so the result is float32 and nothing makes codes of it")
        zero = check.result_zero_point(self.y_zero_point, np.dtype(dtype))
        return requantizer(self._factor, zero, "ort", axis=-1)

    def pairs_of(self, dtype: DTypeLike = "uint8") -> Pairs:
        """Give what two products that share a word of 16 bits do in this op, with data of this type.

        Parameters
        ----------
        dtype : dtype
            The type of the codes that the op multiplies.

        Returns
        -------
        {"", "saturate", "lowest"}
            As `QLinearMatMul.pairs_of` gives it.
        """
        return self._product.pairs_of(dtype)

    def _prepare(self, once: bool) -> None:
        b = native(self.B, "B", check.CODES_8)
        if b.ndim != 2:
            raise bad_value("B", f"expected a matrix, got shape {b.shape}")
        integer(self.transA, "transA", 0, 1)
        own = b.T if integer(self.transB, "transB", 0, 1) else b
        a_zero, b_zero = check.optional(self.a_zero_point, self.b_zero_point)
        given: dict[str, Any] = {"B": own, "a_zero_point": a_zero, "b_zero_point": b_zero, "runtime": self.runtime}
        self._product = MatMulInteger._once(given) if once else MatMulInteger(**given)
        self._bias = None if self.C is None else int32s(self.C, "C")
        self._factor = self._scaled(own.shape[1])
        if (self.y_scale is None) != (self.y_zero_point is None):
            raise bad_value("y_scale, y_zero_point", "expected both or neither")
        if not once:
            check.of_types(self._result_of)

    def _scaled(self, columns: int) -> NDArray[np.float32]:
        """Give ``alpha * a_scale * b_scale / y_scale``, or without y_scale the product, in float32."""
        a_scale = check.one_value(check.scale(self.a_scale, "a_scale", ("float32",)), "a_scale")
        b_scale = check.channels(check.scale(self.b_scale, "b_scale", ("float32",)), "b_scale", columns)
        with np.errstate(all="ignore"):
            factor = F32(real(self.alpha, "alpha")) * a_scale * b_scale
            if self.y_scale is not None:
                y_scale = check.scale(self.y_scale, "y_scale", ("float32",), divides=True)
                factor = factor / check.one_value(y_scale, "y_scale")
        if not np.isfinite(factor).all():
            raise bad_value("alpha, a_scale, b_scale, y_scale", "their product is beyond float32")
        return np.asarray(factor, F32)

    def _result_of(self, a: np.dtype[Any]) -> tuple[NDArray[Any] | None, np.dtype[Any]]:
        """Give zero point and type of the result for data of type `a`; refuse what onnxruntime has no kernel for."""
        zero = None if self.y_zero_point is None else check.result_zero_point(self.y_zero_point, a)
        check.ort_has_kernel(a, self.B.dtype, a if zero is None else zero.dtype, "A, B, y_zero_point")
        return zero, np.dtype(F32) if zero is None else zero.dtype

    def _shape(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        if len(shape) != 2:
            raise bad_value("A", f"expected a matrix, got shape {shape}")
        return self._product.shape_of(shape[::-1] if self.transA else shape)

    def __call__(self, A: ArrayLike, out: NDArray[Any] | None = None, num_threads: int = 1) -> NDArray[Any]:
        """Multiply `A` by the matrix that was given, on so many threads, into `out` if it is given."""
        data = codes(A, "A")
        zero, dtype = self._result_of(data.dtype)
        check.out(out, dtype, self._shape(data.shape), data, self)
        acc = self._product(data.T if self.transA else data, None, num_threads)
        if self._bias is not None:
            acc = _with_bias(acc, self._bias)
        if zero is None:
            return put(acc.astype(F32) * self._factor, out)
        return put(requantize(acc, self._factor, zero, "ort"), out)


def _with_bias(acc: NDArray[np.int32], bias: NDArray[np.int32]) -> NDArray[np.int32]:
    """Add a bias that broadcasts to (M, N), in int32, which wraps."""
    try:
        each = np.broadcast_to(bias, acc.shape)
    except ValueError:
        raise bad_value("C", f"shape {bias.shape} does not broadcast to {acc.shape}") from None
    with np.errstate(over="ignore"):
        return np.asarray(acc + each)


def qgemm(
    A: ArrayLike,
    a_scale: ArrayLike,
    a_zero_point: ArrayLike | None,
    B: ArrayLike,
    b_scale: ArrayLike,
    b_zero_point: ArrayLike | None,
    C: ArrayLike | None = None,
    y_scale: ArrayLike | None = None,
    y_zero_point: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    runtime: str = "ort",
    num_threads: int = 1,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply two matrices of codes and add a bias, as onnxruntime does: ``com.microsoft.QGemm``.

    Here ``acc = (A - a_zero_point) @ (B - b_zero_point) + C`` is int32, which wraps. In float32, rounded after each
    operation, ``s = alpha * a_scale * b_scale``::

        with y_scale:    Y = saturate(half_even(f32(acc) * (s / y_scale)) + y_zero_point)
        without y_scale: Y = f32(acc) * s

    Parameters
    ----------
    A : ndarray of uint8 or int8, (M, K), or (K, M) with `transA`
    a_scale, a_zero_point : float or ndarray of float32, int or ndarray of the type of `A`
        One value each; a zero point that is None is 0.
    B : ndarray of uint8 or int8, (K, N), or (N, K) with `transB`
    b_scale, b_zero_point : float or ndarray of float32, int or ndarray of the type of `B`
        One value each, or N.
    C : array_like of integers in int32, optional
        The bias, which broadcasts to (M, N); its scale is ``alpha * a_scale * b_scale``.
    y_scale, y_zero_point : float or ndarray of float32, int or ndarray of uint8 or int8, optional
        One value each. Without both the result is float32.
    alpha : float
        A factor of the product.
    transA, transB : {0, 1}
        1: the matrix is given transposed.
    runtime : {"ort", "ort_avx2", "ort_arm", "ort_neon"}
        onnxruntime on a kind of CPU, see `qops.onnx`.
    num_threads, out : optional
        See `matmul_integer`; `out` has the type of the result.

    Returns
    -------
    ndarray of the type of `y_zero_point`, or of float32, (M, N)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, scales that are not finite, a `y_scale` of 0, a factor beyond float32; what
        onnxruntime has no kernel for: int8 by uint8, a result of another type than `A`.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/quant_gemm.cc``. The standard has no such operator.

    Examples
    --------
    >>> A, B = np.array([[1, 2]], np.uint8), np.array([[3], [4]], np.int8)
    >>> qops.onnx.qgemm(A, 0.5, 0, B, 0.5, 0, np.array([1], np.int32), 1.0, 0), qops.onnx.qgemm(A, 0.5, 0, B, 0.5, 0)
    (array([[3]], dtype=uint8), array([[2.75]], dtype=float32))
    """
    runtime = check.own_runtime(runtime)
    return QGemm._once(locals())(A, out, num_threads)

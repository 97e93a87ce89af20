"""QLinearMul: products of codes, onnxruntime's own op."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from qops import rules
from qops.onnx import _checks as check
from qops.onnx.binary import QLinearBinary
from qops.onnx.runtimes import COLUMNS

__all__ = ["QLinearMul", "qlinear_mul"]


class QLinearMul(QLinearBinary):
    """The prepared form of `qlinear_mul`: the numbers of its rule.

    Called ``op(A, B, out=None)``. The constructor takes all other arguments of `qlinear_mul`. A plain zero point has
    the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearMul(0.5, 0, 0.25, 0, 1.0, 1)
    >>> op, op(np.array([8, 4], np.uint8), np.array([2, 3], np.uint8))
    (QLinearMul(0.5, 0, 0.25, 0, 1.0, C_zero_point=1), array([3, 2], dtype=uint8))
    """

    __slots__ = ()
    _rule = rules.Mul

    @property
    def rule(self) -> str:
        """The rule of `qops.rules.MUL` that this runtime has."""
        return COLUMNS[self.runtime].mul


def qlinear_mul(
    A: ArrayLike,
    A_scale: ArrayLike,
    A_zero_point: ArrayLike | None,
    B: ArrayLike,
    B_scale: ArrayLike,
    B_zero_point: ArrayLike | None,
    C_scale: ArrayLike,
    C_zero_point: ArrayLike | None = 0,
    *,
    runtime: str = "ort",
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply codes element by element, as onnxruntime does: ``com.microsoft.QLinearMul``.

    Real numbers: ``C = A * B``. In float32, with ``s = A_scale * B_scale / C_scale``, rounded after each operation::

        C = saturate(half_even(f32((A - A_zero_point) * (B - B_zero_point)) * s + C_zero_point))

    This is the rule ``ort-x86`` of `qops.rules.mul`. On ARM it is ``ort-arm``, where the product with s and the sum
    with the zero point are rounded once.

    Parameters
    ----------
    A : ndarray of uint8 or int8
        Codes.
    A_scale, A_zero_point : float or ndarray of float32, int or ndarray of the type of `A`
        One value each, the scale above 0; a zero point that is None is 0. So are those of B and C.
    B : ndarray of the type of `A`
        Codes, of a shape that broadcasts against that of `A`.
    B_scale, B_zero_point : float or ndarray of float32, int or ndarray of the type of `A`
    C_scale, C_zero_point : float or ndarray of float32, int or ndarray of the type of `A`
    runtime : {"ort", "ort_avx2", "ort_arm", "ort_neon"}
        onnxruntime on a kind of CPU, see `qops.onnx`.
    out : ndarray of the type of `A`, optional
        Where the codes are written, apart from the inputs.

    Returns
    -------
    ndarray of the type of `A`

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not broadcast, scales that are not above 0 or whose quotient is beyond float32.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_binary_op.cc``, ``core/mlas/lib/qlmul.cpp``. The
    standard has no such operator.

    Examples
    --------
    >>> qops.onnx.qlinear_mul(np.array([10, 20], np.uint8), 0.5, 0, np.array([[4], [8]], np.uint8), 0.25, 0, 0.5, 0)
    array([[10, 20],
           [20, 40]], dtype=uint8)
    """
    runtime = check.own_runtime(runtime)
    return QLinearMul._once(locals())(A, B, out)

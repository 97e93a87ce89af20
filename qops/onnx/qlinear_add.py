"""QLinearAdd: sums of codes, onnxruntime's own op."""

from __future__ import annotations

from math import frexp
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops import rules
from qops.onnx import _checks as check
from qops.onnx.binary import QLinearBinary
from qops.onnx.runtimes import COLUMNS

__all__ = ["QLinearAdd", "qlinear_add"]

SMALLEST, LARGEST = 2.0**-14, 2.0**8
"""What both ratios of scales are not below, and not as large as, if integers compute a sum on ARM."""
MOST_SHIFT = 31


class QLinearAdd(QLinearBinary):
    """The prepared form of `qlinear_add`: the numbers of its rule.

    Called ``op(A, B, out=None)``. The constructor takes all other arguments of `qlinear_add`. A plain zero point has
    the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearAdd(0.5, 0, 0.25, 0, 1.0, 1)
    >>> op, op(np.array([1, 3], np.uint8), np.array([2, 2], np.uint8))
    (QLinearAdd(0.5, 0, 0.25, 0, 1.0, C_zero_point=1), array([2, 3], dtype=uint8))
    """

    __slots__ = ()
    _rule = rules.Add

    @property
    def rule(self) -> str:
        """The rule of `qops.rules.ADD` that this runtime has for these scales."""
        column = COLUMNS[self.runtime]
        return column.add_beyond if column.add_beyond and self._is_beyond() else column.add

    def _is_beyond(self) -> bool:
        """Whether the ratios of the scales have no multipliers of 22 bits and a shift of 13 to 31 bits."""
        a, b, y = (np.float32(self._scale(name)) for name in ("A_scale", "B_scale", "C_scale"))
        with np.errstate(all="ignore"):
            ratios = a / y, b / y
        if min(ratios) < SMALLEST or max(ratios) >= LARGEST:
            return True
        mantissa, exponent = frexp(max(ratios))  # the larger multiplier is mantissa * 2**22
        return 22 - exponent > MOST_SHIFT or round(mantissa * 2**22) >= 2**22


def qlinear_add(
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
    """Add codes, as onnxruntime does: ``com.microsoft.QLinearAdd``.

    Real numbers: ``C = A + B``. In float32, with ``ra = A_scale / C_scale``, ``rb = B_scale / C_scale``::

        k = C_zero_point - fma(ra, A_zero_point, rb * B_zero_point)
        C = saturate(half_even(fma(A, ra, fma(B, rb, k))))

    so the zero point is inside of the rounding. This is the rule ``ort-x86`` of `qops.rules.add`. On ARM it is
    ``qnnpack``, which has integers, if ra and rb are at least 2**-14, the larger one is at least 2**-10 and below 2**8;
    and ``ort-arm-float`` if not. Where A has one
    element along the last axis of both shapes that is longer than 1, or no axis is, onnxruntime exchanges A and B.

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
        Other types, shapes that do not broadcast, scales that are not above 0 or too far apart for float32.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_binary_op.cc``, ``core/mlas/lib/qladd.cpp``, on CPUs
    with AVX2 and on 64-bit ARM. The standard has no such operator.

    **Hazard.** Dequantize, Add, QuantizeLinear, which onnxruntime replaces by this op, round the quotient before they
    add the zero point. With an odd zero point the two differ on every tie:

    >>> a, b = np.array([1, 3, 5], np.uint8), np.array([0, 0, 0], np.uint8)
    >>> qops.onnx.qlinear_add(a, 0.5, 0, b, 0.5, 0, 1.0, 1)
    array([2, 2, 4], dtype=uint8)
    >>> qops.onnx.quantize_linear(np.float32(0.5) * a, 1.0, 1)
    array([1, 3, 3], dtype=uint8)

    Examples
    --------
    >>> qops.onnx.qlinear_add(np.array([10, 20], np.uint8), 0.5, 0, np.array([[4], [8]], np.uint8), 0.25, 0, 1.0, 0)
    array([[ 6, 11],
           [ 7, 12]], dtype=uint8)
    """
    runtime = check.own_runtime(runtime)
    return QLinearAdd._once(locals())(A, B, out)

"""QLinearSigmoid: sigmoids of codes, onnxruntime's own op."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onnx.tables import Table
from qops.rules.scales import fma

__all__ = ["QLinearSigmoid", "qlinear_sigmoid"]

F32 = np.float32
Floats = NDArray[np.float32]
NUMERATOR = (
    *(4.37031012579801e-11, 1.15627324459942e-07, 6.08574864600143e-05),
    *(8.51377133304701e-03, 2.48287947061529e-01),
)
DENOMINATOR = (
    *(6.10247389755681e-13, 5.76102136993427e-09, 6.29106785017040e-06),
    *(1.70198817374094e-03, 1.16817656904453e-01, 9.93151921023180e-01),
)
"""Factors of polynomials, that of the highest power first."""
LARGEST = F32(18)
"""From where on the sigmoid is taken to be constant."""


class QLinearSigmoid(Table):
    """The prepared form of `qlinear_sigmoid`: a table of all codes.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `qlinear_sigmoid`. A plain zero point has
    the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearSigmoid(0.25, 0, 2**-8, -128)
    >>> op, op(np.array([-20, 0, 20], np.int8))
    (QLinearSigmoid(0.25, 0, 0.00390625, Y_zero_point=-128), array([-126,    0,  126], dtype=int8))
    """

    __slots__ = ()

    def __init__(
        self,
        X_scale: ArrayLike,
        X_zero_point: ArrayLike | None,
        Y_scale: ArrayLike,
        Y_zero_point: ArrayLike | None = 0,
    ) -> None:
        self._make(locals())

    def _values(self, x: Floats) -> Floats:
        """Give MLAS's sigmoid in float32: a quotient of two polynomials, evaluated with fused steps."""
        near = np.clip(x, -LARGEST, LARGEST)
        square = near * near
        value = _polynomial(square, NUMERATOR) * near / _polynomial(square, DENOMINATOR) + F32(0.5)
        return np.clip(value, F32(0), F32(1))


def _polynomial(x: Floats, factors: tuple[float, ...]) -> Floats:
    value = np.full(x.shape, F32(factors[0]))
    for factor in factors[1:]:
        value = fma(value, x, F32(factor))
    return value


def qlinear_sigmoid(
    X: ArrayLike,
    X_scale: ArrayLike,
    X_zero_point: ArrayLike | None,
    Y_scale: ArrayLike,
    Y_zero_point: ArrayLike | None = 0,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Give the sigmoid of codes, as onnxruntime does on x86: ``com.microsoft.QLinearSigmoid``.

    Real numbers: ``Y = 1 / (1 + exp(-X))``. In float32, for ``x = X_scale * (X - X_zero_point)``, cut to -18..18, and
    polynomials p and q of degree 4 and 5, which are MLAS's::

        v = clamp(p(x * x) * x / q(x * x) + 0.5, 0, 1);  Y = saturate(half_even(v / Y_scale) + Y_zero_point)

    Parameters
    ----------
    X : ndarray of uint8 or int8
        Codes.
    X_scale, X_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each, the scale above 0; a zero point that is None is 0.
    Y_scale, Y_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        So are these.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types, scales that are not above 0.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_activations.cc``, ``core/mlas/lib/logistic.cpp``, on
    CPUs with fused steps (FMA3). The standard has no such operator.

    Examples
    --------
    >>> qops.onnx.qlinear_sigmoid(np.array([0, 128, 160, 255], np.uint8), 0.0625, 128, 2**-8, 0)
    array([  0, 128, 225, 255], dtype=uint8)
    """
    return QLinearSigmoid._once(locals())(X, out)

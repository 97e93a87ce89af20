"""QLinearLeakyRelu: codes whose negative values are multiplied, onnxruntime's own op."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.checks import real
from qops.onnx.tables import Table

__all__ = ["QLinearLeakyRelu", "qlinear_leaky_relu"]

F32 = np.float32


class QLinearLeakyRelu(Table):
    """The prepared form of `qlinear_leaky_relu`: a table of all codes.

    Called ``op(X, out=None)``. The constructor takes all other arguments of `qlinear_leaky_relu`. A plain zero point
    has the type of the data of each call.

    Examples
    --------
    >>> op = qops.onnx.QLinearLeakyRelu(0.5, 0, 0.5, 0, alpha=0.1)
    >>> op, op(np.array([-100, 0, 100], np.int8))
    (QLinearLeakyRelu(0.5, 0, 0.5, alpha=0.1), array([-10,   0, 100], dtype=int8))
    """

    __slots__ = ("_alpha",)

    def __init__(
        self,
        X_scale: ArrayLike,
        X_zero_point: ArrayLike | None,
        Y_scale: ArrayLike,
        Y_zero_point: ArrayLike | None = 0,
        *,
        alpha: float = 0.01,
    ) -> None:
        self._make(locals())

    def _check(self) -> None:
        super()._check()
        self._alpha = F32(real(self.alpha, "alpha"))

    def _values(self, x: NDArray[np.float32]) -> NDArray[np.float32]:
        with np.errstate(over="ignore"):
            return np.where(x >= 0, x, x * self._alpha)


def qlinear_leaky_relu(
    X: ArrayLike,
    X_scale: ArrayLike,
    X_zero_point: ArrayLike | None,
    Y_scale: ArrayLike,
    Y_zero_point: ArrayLike | None = 0,
    *,
    alpha: float = 0.01,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Multiply negative values of codes by `alpha`, as onnxruntime does: ``com.microsoft.QLinearLeakyRelu``.

    Real numbers: ``Y = X if X >= 0 else alpha * X``. In float32, for ``x = X_scale * (X - X_zero_point)``::

        v = x if x >= 0 else x * alpha;  Y = saturate(half_even(v / Y_scale) + Y_zero_point)

    Parameters
    ----------
    X : ndarray of uint8 or int8
        Codes.
    X_scale, X_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        One value each, the scale above 0; a zero point that is None is 0.
    Y_scale, Y_zero_point : float or ndarray of float32, int or ndarray of the type of `X`
        So are these.
    alpha : float
        What negative values are multiplied by.
    out : ndarray of the type of `X`, optional
        Where the codes are written, apart from the input.

    Returns
    -------
    ndarray of the type of `X`, of its shape

    Raises
    ------
    TypeError, ValueError
        Other types, scales that are not above 0, an `alpha` that is no finite number.

    Notes
    -----
    Source: onnxruntime, ``contrib_ops/cpu/quantization/qlinear_activations.cc``, ``qlinear_lookup_table.h``. The
    standard has no such operator.

    Examples
    --------
    >>> qops.onnx.qlinear_leaky_relu(np.array([28, 128, 228], np.uint8), 0.5, 128, 0.5, 128, alpha=0.1)
    array([118, 128, 228], dtype=uint8)
    """
    return QLinearLeakyRelu._once(locals())(X, out)

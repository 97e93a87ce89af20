"""QuantizedRelu and QuantizedRelu6 of uint8 and int32 codes."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._kernels.tensorflow.ends import fit
from qops._kernels.tensorflow.relu import cut
from qops.checks import output
from qops.qtensor import QTensor, TensorLike
from qops.tensorflow._checks import one_of, operands, passed_on, typenums_of

__all__ = ["quantized_relu", "quantized_relu6"]

KINDS = ("quint8", "qint32")
TYPENUMS = typenums_of(KINDS)


def quantized_relu(features: TensorLike, out_type: str | None = None, *, out: NDArray[Any] | None = None) -> QTensor:
    """Raise each code below the code of 0 to that code: ``max(q, code(0))``. The range does not change.

    The code of a number x is computed in double, where ``per_unit = 1 / step`` and L is the lowest code. Then it is
    clamped to the codes of the type::

        code(x) = half_away(x * per_unit) - half_away(min * per_unit) + L

    Parameters
    ----------
    features : (data, min, max)
        uint8 or int32 codes; the range in any order. If it has no width, code(0) is the lowest code.
    out_type : {"quint8", "qint32"}, optional
        The type of the features; no other is allowed.
    out : ndarray of uint8 or int32, optional
        Where the codes are written; of the type and shape of the features.

    Returns
    -------
    QTensor
        Codes of the range of the features.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; a range that is not finite, is wider than float32 or narrower than its
        normal numbers; another `out_type` than that of the features; an `out` that does not fit.

    Notes
    -----
    Source: TensorFlow, ``quantized_activation_ops.cc``, ``quantization_utils.h``.

    **Hazards.** In a range below 0, every value should become 0. But every code becomes the highest, which is max:

    >>> qops.tensorflow.quantized_relu((np.array([0, 100], np.uint8), -9.0, -4.5))
    QTensor(np.uint8([255, 255]), -9.0, -4.5)

    If 0 lies between two codes, values below 0 do not become exactly 0:

    >>> t = qops.tensorflow.quantized_relu((np.array([0], np.uint8), -1.0, 1.0))
    >>> t.data, round(float(t.min + t.data[0] * t.scale), 4)
    (array([128], dtype=uint8), 0.0039)

    Examples
    --------
    >>> qops.tensorflow.quantized_relu((np.array([0, 51, 255], np.uint8), -0.5, 2.0)).data
    array([ 51,  51, 255], dtype=uint8)
    >>> qops.tensorflow.quantized_relu((np.array([-7, 7], np.int32), -1.0, 1.0)).data
    array([0, 7], dtype=int32)
    """
    return _relu(features, out_type, None, out)


def quantized_relu6(features: TensorLike, out_type: str | None = None, *, out: NDArray[Any] | None = None) -> QTensor:
    """Clamp codes to those of 0 and 6: ``min(max(q, code(0)), code(6))``. The range does not change.

    The codes are those of `quantized_relu`.

    Parameters
    ----------
    features : (data, min, max)
        uint8 or int32 codes; the range in any order. If it has no width, both codes are the lowest code.
    out_type : {"quint8", "qint32"}, optional
        The type of the features; no other is allowed.
    out : ndarray of uint8 or int32, optional
        Where the codes are written; of the type and shape of the features.

    Returns
    -------
    QTensor
        Codes of the range of the features.

    Raises
    ------
    TypeError, ValueError
        What `quantized_relu` refuses.

    Notes
    -----
    Source: TensorFlow, ``quantized_activation_ops.cc``, ``quantization_utils.h``.

    **Hazards.** In a range above 6, every value should become 6. But every code becomes 0, which is min:

    >>> qops.tensorflow.quantized_relu6((np.array([0, 100], np.uint8), 7.0, 9.0))
    QTensor(np.uint8([0, 0]), 7.0, 9.0)

    Examples
    --------
    >>> qops.tensorflow.quantized_relu6((np.array([0, 100, 255], np.uint8), -2.0, 23.5)).data
    array([20, 80, 80], dtype=uint8)
    """
    return _relu(features, out_type, 6.0, out)


def _relu(features: TensorLike, out_type: str | None, top: float | None, out: NDArray[Any] | None) -> QTensor:
    ((q, lo, hi),) = fit(1, TYPENUMS, features) or operands(1, KINDS, features=features)
    wide = q.itemsize == 4
    if out_type is not None and one_of(out_type, "out_type", KINDS) != KINDS[wide]:
        raise bad_value("out_type", f"TensorFlow has no kernel from {KINDS[wide]} to {out_type}")
    out = output(out, TYPENUMS[wide], q)
    cut(q, lo, hi, top, out)
    return passed_on(out, lo, hi)

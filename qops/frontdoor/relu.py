"""relu: max(0, value), optionally with an upper limit, on codes of any type."""

from __future__ import annotations

from typing import Any, Never

from numpy.typing import NDArray

from qops._kernels.frontdoor import relu as _kernels
from qops._keywords import refusing_unknown, unknown_keyword
from qops.qtensor import QTensor, TensorLike

__all__ = ["BOUND_RELU", "relu"]

BOUND_RELU = 0.5 + 2**-20
"""Largest error of `relu` in LSB: 0.5 where 0, or the limit, is halfway between two codes; 0 where both are codes."""


@refusing_unknown
def relu(t: TensorLike, limit: float | None = None, *, out: NDArray[Any] | None = None, **unknown: Never) -> QTensor:
    """Clamp values to at least 0, and to at most a limit if there is one.

    ``c = min(max(q, code next to 0), code next to the limit)``. The range stays, so every other value is kept exactly;
    `requantize(t, 0.0)` cuts it too, and rounds every value once more. **Error: at most** ``0.5 + 2**-20`` LSB
    (`BOUND_RELU`), and none at all where 0 and the limit are on codes, as 0 is in all that `quantize` gives.

    Parameters
    ----------
    t : (data, min, max)
        Tensor of any code type; min and max may be arrays, per channel.
    limit : float, optional
        Upper end of the values, at least 0: 6.0 for the relu6 of mobile networks.
    out : ndarray, optional
        Where the codes are written; of the type and shape of the data.

    Returns
    -------
    QTensor
        Codes of the type and range of `t`. If the range lies wholly outside [0, limit], one value is left: every code
        stands for it, and the range is (0, 0) or (limit, limit). With ranges per channel, so it is in each channel.

    Raises
    ------
    TypeError, ValueError
        An argument that is no such tensor, a range that is not finite, with min > max or (int32) not symmetric, a limit
        that is no finite number from 0 on, an ``out`` that does not fit or overlaps the data.

    See Also
    --------
    qops.nnlib.quantized_relu_8, qops.tensorflow.quantized_relu : what those systems compute.

    Examples
    --------
    >>> t = np.array([0, 100, 200, 255], np.uint8), -10.0, 15.5
    >>> qops.relu(t)
    QTensor(np.uint8([100, 100, 200, 255]), -10.0, 15.5)
    >>> qops.relu(t, 6.0).dequantize()
    array([0., 0., 6., 6.], dtype=float32)
    """
    if unknown:
        raise unknown_keyword(relu, unknown)
    return _kernels.relu(QTensor, t, limit, out)

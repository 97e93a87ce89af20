"""nnlib's quantized subtractions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops.nnlib.add_8p8to32 import weighed
from qops.nnlib.add_node import QuantizedSub8p8to8D32
from qops.qtensor import QTensor, TensorLike

__all__ = ["quantized_sub_8p8to8_d32", "quantized_sub_8p8to32"]


def quantized_sub_8p8to32(a: TensorLike, b: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """QuantizedSub_8p8to32: ``c = ka * (a - za) - kb * (b - zb)``, exact.

    Weights, zeros and output range are those of `quantized_add_8p8to32`.

    Parameters
    ----------
    a, b, out
        As `quantized_add_8p8to32` takes them.

    Returns
    -------
    QTensor
        int32 codes of the broadcast shape.

    Raises
    ------
    TypeError, ValueError
        As `quantized_add_8p8to32`.

    Notes
    -----
    Source: ``addsub_832_execute``, ``op_addsubmul_8to32.c``.

    **Hazards.** Those of `quantized_add_8p8to32`: a range that excludes 0 loses its offset, and of two steps below
    1e-10 the finer gets too small a weight.

    >>> one = np.array([1], np.uint8)
    >>> qops.nnlib.quantized_sub_8p8to32((one, 1.0, 256.0), (one, 0.0, 255.0)).data // 0x7F80  # 2 - 1
    array([0], dtype=int32)
    >>> qops.nnlib.quantized_sub_8p8to32((one, 0.0, 255e-12), (one, 0.0, 510e-12)).data  # not -0.5 * 0x7F80
    array([-32314], dtype=int32)

    Examples
    --------
    >>> t = qops.nnlib.quantized_sub_8p8to32(
    ...     (np.array([255], np.uint8), 0.0, 255.0), (np.array([10], np.uint8), 0.0, 25.5)
    ... )
    >>> t.data, round(t.max, 3)
    (array([8290560], dtype=int32), 65793.008)
    """
    return weighed(a, b, out, subtract=True)


def quantized_sub_8p8to8_d32(
    a: TensorLike,
    b: TensorLike,
    guess_min: float | None = None,
    guess_max: float | None = None,
    *,
    out: NDArray[np.uint8] | None = None,
) -> QTensor:
    """QuantizedSub_8p8to8_d32, a - b, on its first run: one call of a new `QuantizedSub8p8to8D32`.

    Parameters
    ----------
    a, b : uint8 tensor
        Of equal shapes, in plain order and not in the blocked layout of the original.
    guess_min, guess_max : float, optional
        Given ends of the output range; the op finds an end that is left out.
    out : uint8 array, optional

    Returns
    -------
    QTensor
        uint8 codes and the range of the last pass.

    Raises
    ------
    TypeError, ValueError
        What every function refuses (`qops.nnlib`), and an output range that the original refuses: one 0 wide, or
        narrower than 1/64 of the wider input range, 1/4096 if both ends are given.

    See Also
    --------
    quantized_sub_8p8to32 : exact.

    Notes
    -----
    Source: ``op_add_d32.c``, ``op_add.c``. QuantizedSub_8p8to8, without d32, is in nnlib's list of ops but refuses
    every call.

    **Hazards.** A given end that would exclude 0 is moved to 0, and results beyond the ends saturate:

    >>> top, mid = (np.array([255], np.uint8), 0.0, 255.0), (np.array([100], np.uint8), 0.0, 255.0)
    >>> qops.nnlib.quantized_sub_8p8to8_d32(top, mid, 100.0, 150.0)  # 155
    QTensor(np.uint8([255]), 0.0, 150.0)

    A zero that is rounded, and a range that excludes 0:

    >>> one, zero = (np.array([0], np.uint8), 1.0, 2.0), (np.array([0], np.uint8), 0.0, 1.0)
    >>> qops.nnlib.quantized_sub_8p8to8_d32(one, zero, 0.0, 2.0).data  # 1 - 0
    array([0], dtype=uint8)

    Examples
    --------
    >>> qops.nnlib.quantized_sub_8p8to8_d32(
    ...     (np.array([0, 255], np.uint8), 0.0, 2.55), (np.array([255, 0], np.uint8), 0.0, 2.55), -2.56, 2.54
    ... )
    QTensor(np.uint8([1, 255]), -2.559999942779541, 2.5399999618530273)
    """
    return QuantizedSub8p8to8D32(guess_min, guess_max)(a, b, out=out)

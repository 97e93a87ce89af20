"""QuantizedMul: uint8 by uint8, to int32."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qops._kernels.tensorflow.ends import fit, in_order
from qops._kernels.tensorflow.mul import multiply, range_of_products
from qops.checks import S32, output
from qops.qtensor import QTensor, TensorLike, tensor
from qops.tensorflow._checks import STEPS, operands, typenums_of
from qops.tensorflow.broadcast import collapsed, repeated

__all__ = ["quantized_mul"]

KINDS = ("quint8",)
TYPENUMS = typenums_of(KINDS)


def quantized_mul(x: TensorLike, y: TensorLike, *, out: NDArray[np.int32] | None = None) -> QTensor:
    """Multiply two uint8 tensors into int32 codes, exactly, modulo 2**32.

    ``z = (x - zero(x)) * (y - zero(y))``. The step of z is the product of the steps of x and y, in float32; ``max`` is
    2**31 of its steps, and ``min = -max``. The zeros, in double, are not clamped to codes::

        zero = half_away(0 / step) - half_away(min / step)        step = (max - min) / 255

    Parameters
    ----------
    x, y : (data, min, max)
        uint8 tensors, min < max. Shapes: as those of `quantized_add`.
    out : ndarray of int32, optional
        Where the codes are written; of the broadcast shape.

    Returns
    -------
    QTensor
        int32 codes, ``min == -max``.

    Raises
    ------
    TypeError, ValueError
        An argument that is not such a tensor; ``max_x must be larger than min_x``, NaN included; ``Incompatible
        shapes``; ``Broadcast between ... is not supported``; no elements to repeat (``vector must have at least 1
        element``); a range whose step is below the normal float32; a product of steps beyond float32; an `out` that
        does not fit. Shapes that broadcast both ways, such as (3, 1) and (1, 4), where TensorFlow leaves outputs
        uninitialised.

    Notes
    -----
    Source: TensorFlow, ``quantized_mul_op.cc``, ``quantization_utils.h``.

    **Hazards.** The operand that repeats is repeated along the *flat* index. That is right only if it has the last
    axes. A column does not:

    >>> ones, column = np.ones((2, 3), np.uint8), np.array([[1], [7]], np.uint8)
    >>> qops.tensorflow.quantized_mul((ones, 0.0, 255.0), (column, 0.0, 255.0)).data
    array([[1, 7, 1],
           [7, 1, 7]], dtype=int32)

    A zero between two codes is rounded to one of them, here 127.5 to 128. So -1 is read as -1.0039, and 1 as 0.9961:

    >>> t = qops.tensorflow.quantized_mul((np.array([0], np.uint8), -1.0, 1.0), (np.array([255], np.uint8), -1.0, 1.0))
    >>> round(float(t.data[0] * t.scale), 5)
    -0.99998

    In a range far from 0 the zero is far from the codes, and the product wraps:

    >>> far = np.array([0], np.uint8), 1e6, 1e6 + 1
    >>> qops.tensorflow.quantized_mul(far, far).data  # 255000000 ** 2
    array([-1702555648], dtype=int32)

    Ends below 2**-126, the smallest normal float32, are read as 0. Ranges so narrow that the product of their steps is
    below the normal float32 make an output range 0 wide.

    >>> qops.tensorflow.quantized_mul((np.array([255], np.uint8), 0.0, 1e-20), (np.array([255], np.uint8), 0.0, 1e-20))
    QTensor(np.int32([65025]), -0.0, 0.0)

    Examples
    --------
    >>> t = qops.tensorflow.quantized_mul(
    ...     (np.array([0, 3], np.uint8), -1.0, 254.0), (np.array([2], np.uint8), 0.0, 255.0)
    ... )
    >>> t.data, t.scale
    (array([-2,  4], dtype=int32), 1.0)
    """
    a, b = fit(STEPS, TYPENUMS, x, y) or operands(STEPS, KINDS, x=x, y=y)
    axes = collapsed(a[0].shape, b[0].shape, "vector must have at least 1 element")
    in_order(x=a, y=b)
    top = range_of_products(a, b, "x, y")
    out = output(out, S32, a[0], b[0], "x, y")
    if len(axes) == 2:
        a, b = repeated(a, b, out.shape)
    multiply(a, b, out)
    return tensor(out, -top, top)

"""DynamicQuantizeLinear: floats to codes over the range of the data."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops._readable import shows_fields
from qops.checks import native
from qops.codes import TABLE
from qops.onnx import _checks as check
from qops.onnx.quantize import quantize_linear
from qops.onnx.runtimes import COLUMNS

__all__ = ["DynamicallyQuantized", "dynamic_quantize_linear"]

CODES = TABLE["u8"]


@shows_fields
class DynamicallyQuantized(NamedTuple):
    """The results of DynamicQuantizeLinear. Code q stands for ``y_scale * (q - y_zero_point)``.

    Attributes
    ----------
    y : ndarray of uint8
        The codes.
    y_scale, y_zero_point : numpy.float32, numpy.uint8
        Real size of one code step, and code of real 0.
    """

    y: NDArray[np.uint8]
    y_scale: np.float32
    y_zero_point: np.uint8


def dynamic_quantize_linear(x: ArrayLike, *, runtime: str = "onnx") -> DynamicallyQuantized:
    """Quantize to uint8 over the range of the data, 0 included.

    With ``lo = min(0, min(x))`` and ``hi = max(0, max(x))``, each operation rounded to float32::

        y_scale = (hi - lo) / 255;  y_zero_point = half_even(clamp(0 - lo / y_scale, 0, 255))
        y = saturate_u8(half_even(x / y_scale) + y_zero_point)

    If all data are 0, the scale is 1/255, and 1 with ``runtime="ort"``.

    Parameters
    ----------
    x : ndarray of float32
        Any shape, not empty.
    runtime : {"onnx", "ort", "ort_avx2", "ort_arm", "ort_neon"}
        The implementation whose results are reproduced.

    Returns
    -------
    DynamicallyQuantized
        y, y_scale, y_zero_point.

    Raises
    ------
    TypeError, ValueError
        Data that are not float32, or empty; NaN or infinities; a range wider than float32, or so narrow that its scale
        is 0 in float32. The originals divide by that scale.

    Notes
    -----
    Source: onnx, ``reference/ops/op_dynamic_quantize_linear.py``; onnxruntime, ``dynamicquantizelinear.cc``.

    **Hazards.** 0 is exactly on a code, so the ends of the range may not be. Here -0.5 has the code of 0:

    >>> y, scale, zero = qops.onnx.dynamic_quantize_linear(np.array([-0.5, 0.0, 254.5], np.float32))
    >>> y, float(scale), int(zero)
    (array([  0,   0, 254], dtype=uint8), 1.0, 0)

    The scale of zeros depends on the runtime:

    >>> [float(qops.onnx.dynamic_quantize_linear(np.zeros(3, np.float32), runtime=r).y_scale) for r in ("onnx", "ort")]
    [0.003921568859368563, 1.0]

    Examples
    --------
    >>> tuple(qops.onnx.dynamic_quantize_linear(np.array([0, 2, -3, -2.5, 1.34, 0.5], np.float32)))
    (array([153, 255,   0,  26, 221, 179], dtype=uint8), np.float32(0.019607844), np.uint8(153))
    """
    return quantized_over_range(native(x, "x", ("float32",)), "x", check.runtime(runtime))


def quantized_over_range(data: NDArray[np.float32], name: str, runtime: str) -> DynamicallyQuantized:
    """Quantize over the range of the data; `name` is the caller's name of them."""
    constant = np.float32(CODES.steps if COLUMNS[runtime].is_ort else 1.0)
    if data.size == 0:
        raise bad_value(name, f"expected data, got none, shape {data.shape}")
    low, high = np.minimum(data.min(), np.float32(0)), np.maximum(data.max(), np.float32(0))
    with np.errstate(over="ignore", invalid="ignore"):
        scale = (high - low if high != low else constant) / np.float32(CODES.steps)
    if not 0 < scale < np.inf:
        raise bad_value(name, f"the range ({low!s}, {high!s}) has no float32 scale above 0")
    zero = np.rint(np.clip(-low / scale, CODES.lowest, CODES.highest)).astype(np.uint8)
    return DynamicallyQuantized(quantize_linear(data, scale, zero), scale, zero)

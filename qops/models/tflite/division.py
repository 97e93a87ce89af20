"""DIV of integers: of codes, by a reciprocal in fixed point, and of int32, which C divides."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.op import Missing
from qops.models.tflite.site import OperatorRunner, PlacedOperator
from qops.tflite.arithmetic import F32, half_away
from qops.tflite.fixed_point import quotient
from qops.tflite.kernels import KERNELS

__all__ = ["make_quotient"]

Array = NDArray[Any]


def make_quotient(site: PlacedOperator) -> OperatorRunner:
    """Make DIV of uint8, int8 or int16 codes, or of int32 without a scale, which is cut off at the point."""
    a, b, y = site.tensor(0), site.tensor(1), site.outputs[0]
    if not a.dtype == b.dtype == y.dtype:
        raise Missing(f"its types are {a.dtype}, {b.dtype}, {y.dtype}")
    is_micro = KERNELS[site.kernel].ratio is np.float64
    if a.dtype == "int32" and a.scale is b.scale is y.scale is None:
        if site.activation["activation"] != "NONE":
            raise Missing("it is of int32 and has a fused activation")
        return OperatorRunner((0, 1), _whole)
    if a.dtype not in (("int8",) if is_micro else ("uint8", "int8", "int16")):
        raise Missing(f"its data are {a.dtype}, which qops does not divide")
    given = {**site.numbers("a", a), **site.numbers("b", b), **site.y}
    info = np.iinfo(y.dtype)
    limits = {"NONE": (), "RELU": (0.0,), "RELU_N1_TO_1": (-1.0, 1.0), "RELU6": (0.0, 6.0)}
    codes = [
        int(half_away(F32(v) / F32(given["y_scale"]))) + given["y_zero_point"]
        for v in limits[site.activation["activation"]]
    ]
    low = max([int(info.min), *codes[:1]])
    high = min([int(info.max), *codes[1:]])
    sa, sb, sy = (KERNELS[site.kernel].ratio(F32(given[f"{name}_scale"])) for name in "aby")
    zeros = given["a_zero_point"], given["b_zero_point"], given["y_zero_point"]
    return OperatorRunner((0, 1), partial(_quotients, zeros, float(sa / (sb * sy)), (low, high)))


def _whole(a: Array, b: Array) -> Array:
    if not b.all():
        raise ValueError("it divides by 0")
    if ((a == np.iinfo(np.int32).min) & (b == -1)).any():
        raise ValueError("it divides -2**31 by -1, which int32 does not hold")
    return np.asarray(np.trunc(a.astype(np.float64) / b)).astype(np.int32)


def _quotients(zeros: tuple[int, int, int], scale: float, ends: tuple[int, int], a: Array, b: Array) -> Array:
    """Divide codes less their zero points."""
    x, by = a.astype(np.int64) - zeros[0], b.astype(np.int64) - zeros[1]
    if not by.all():
        raise ValueError("it divides by 0")
    return np.clip(quotient(x, by, scale) + zeros[2], *ends).astype(a.dtype)

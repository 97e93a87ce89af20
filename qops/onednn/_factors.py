"""What the steps of the int8 workflow share: checks of data and factors, the peak of a tensor, the rounding."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops.onednn import _checks as check
from qops.onednn.attr import Scales
from qops.onednn.cast import F32
from qops.qtensor import integer

ROUNDINGS = {"half_even": np.rint, "truncate": np.trunc}


def code_of_peak(bits: int, top: int) -> int:
    """Give the code of R in `bits` bits, if it is `top` in 8 bits."""
    return top >> (8 - check.int32(bits, "bits", 2, 8))


def one(q: Scales, name: str) -> float:
    """Give the only factor."""
    check.instance(q, name, Scales)
    if q.mask != 0:
        raise ValueError(f"{name}: expected mask 0, got {q.mask}")
    return float(q.values[0])


def product(q_a: Scales, q_w: Scales) -> NDArray[np.float64]:
    """Give Q_a*Q_w, one or one for each channel, in float64."""
    check.instance(q_w, "q_w", Scales)
    return one(q_a, "q_a") * q_w.values.astype(np.float64)


def finite(x: ArrayLike, name: str, ndim: int | None = None) -> F32:
    """Give float32 data that are all finite."""
    data = check.array(x, name, [np.float32], ndim)
    if not np.isfinite(data).all():
        raise ValueError(f"{name}: expected finite values, got {data[~np.isfinite(data)][0]}")
    return data


def not_negative(x: ArrayLike) -> F32:
    """Give the activations, of which none may be negative."""
    data = finite(x, "activations")
    if (data < 0).any():
        raise ValueError(f"activations: expected no negative values, got {data.min()}")
    return data


def peak(x: F32, name: str, mask: int) -> NDArray[np.float64]:
    """Give R = max|T| of the whole tensor, or of each slice along the dimensions in `mask`."""
    integer(mask, "mask", 0, (1 << x.ndim) - 1)
    rest = tuple(i for i in range(x.ndim) if not mask >> i & 1)
    found = np.asarray(np.abs(x).max(axis=rest, initial=0), np.float64)
    if not (found > 0).all():
        raise ValueError(f"{name}: expected a nonzero value in every channel, got a peak of 0")
    return found


def codes_of(x: ArrayLike, names: tuple[str, str], q: Scales, rounding: str, low: int, top: int) -> NDArray[Any]:
    """Give [q*x], clamped to [low, top]."""
    name, factor_name = names
    check.instance(q, factor_name, Scales)
    check.choice(rounding, "rounding", ROUNDINGS)
    data = finite(x, name)
    factor = q.along(data.shape, factor_name, range(1 << data.ndim)).astype(np.float64)
    return np.asarray(np.clip(ROUNDINGS[rounding](data * factor), low, top))

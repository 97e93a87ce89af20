"""Lanes of instructions: arrays of a strict dtype, whole groups along the last axis, saturation."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import array, as_array, broadcast_shape, shown

__all__ = ["S16", "S32", "fit", "integer_type", "lanes", "pair_sums", "saturate"]

S16: TypeAlias = NDArray[np.int16]
S32: TypeAlias = NDArray[np.int32]


def saturate(x: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """Clamp integers to the range of an integer dtype and convert them to it.

    Parameters
    ----------
    x : ndarray of integers
    dtype : dtype
        An integer type.

    Returns
    -------
    ndarray of `dtype`

    Examples
    --------
    >>> qops.isa.saturate(np.array([-40000, 5, 64770]), np.int16)
    array([-32768,      5,  32767], dtype=int16)
    """
    info, data = np.iinfo(integer_type(dtype)), as_array(x, "x")
    if data.dtype.kind not in "iu":
        raise bad_type("x", f"expected integers, got {data.dtype}")
    own = np.iinfo(data.dtype)  # numpy 2.0 refuses ends beyond the type of the data
    clamped: NDArray[Any] = np.clip(data, max(info.min, own.min), min(info.max, own.max))
    return _converted(np.asarray(clamped), "x", info.dtype)


def integer_type(dtype: DTypeLike) -> np.dtype[Any]:
    """Give the integer type that a name or a type means."""
    try:
        found = np.dtype(dtype)
    except (TypeError, ValueError):
        raise bad_type("dtype", f"expected an integer type, got {shown(dtype)}") from None
    if found.kind not in "iu":
        raise bad_type("dtype", f"expected an integer type, got {shown(dtype)}")
    return found


def lanes(x: ArrayLike, name: str, dtype: DTypeLike, wide: DTypeLike, group: int = 1) -> NDArray[Any]:
    """Check that `x` has this dtype and whole groups along its last axis; convert it to the dtype `wide`."""
    data: NDArray[Any] = array(x, name, np.dtype(dtype).num)
    if group > 1 and (data.ndim == 0 or data.shape[-1] % group):
        raise bad_value(name, f"expected a last axis that is a multiple of {group}, got shape {data.shape}")
    return _converted(data, name, wide)


def _converted(data: NDArray[Any], name: str, dtype: DTypeLike) -> NDArray[Any]:
    """Convert `data`; ValueError if it has no elements, but longer axes than numpy counts the bytes of."""
    try:
        converted: NDArray[Any] = data.astype(dtype)
    except ValueError:
        raise bad_value(name, f"numpy has no array of shape {data.shape} and {np.dtype(dtype)}") from None
    return converted


def fit(x: NDArray[Any], y: NDArray[Any], names: str = "a, b") -> tuple[NDArray[Any], NDArray[Any]]:
    """Check that two shapes broadcast and give both arrays; `names` are the caller's arguments."""
    try:
        broadcast_shape(x.shape, y.shape)
    except ValueError:
        raise bad_value(names, f"shapes {x.shape} and {y.shape} do not broadcast") from None
    return x, y


def pair_sums(products: NDArray[Any]) -> NDArray[Any]:
    """Add neighbours along the last axis."""
    return np.asarray(products[..., 0::2] + products[..., 1::2])

"""Checks of arrays, names and numbers that oneDNN's primitives take. Each error names the argument and its value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops.checks import as_array as as_array
from qops.checks import choice as choice
from qops.checks import int32 as int32
from qops.checks import integers as integers
from qops.checks import native, shown
from qops.checks import real as real

CODES_8 = ("uint8", "int8")


def array(x: ArrayLike, name: str, allowed: Sequence[str], ndim: int | None = None) -> NDArray[Any]:
    """Give `x` as an array of one of some types, in native byte order, with `ndim` dimensions."""
    data = native(x, name, allowed)
    if ndim is not None and data.ndim != ndim:
        raise bad_value(name, f"expected {ndim} dimensions, got shape {data.shape}")
    return data


def own(x: Any, name: str) -> Any:
    """Give a copy of an array that nobody else can write to; None and numbers as they are."""
    if x is None or isinstance(x, (int, float)):
        return x
    copy = as_array(x, name).copy()
    copy.flags.writeable = False
    return copy


def shape(x: NDArray[Any], name: str, wanted: tuple[int, ...]) -> NDArray[Any]:
    """Give `x`, if its shape is `wanted`."""
    if x.shape != wanted:
        raise bad_value(name, f"expected shape {wanted}, got {x.shape}")
    return x


def instance(x: object, name: str, kind: type) -> None:
    """Raise TypeError if `x` is not a `kind`."""
    if not isinstance(x, kind):
        raise bad_type(name, f"expected a qops.onednn.{kind.__name__}, got {shown(x)}")


def sequence(x: Any, name: str) -> list[Any]:
    """Give the members of a sequence or array."""
    if isinstance(x, str) or not (isinstance(x, Sequence) or (isinstance(x, np.ndarray) and x.ndim)):
        raise bad_type(name, f"expected a sequence, got {shown(x)}")
    return list(x)


def bias(x: ArrayLike | None, channels: int) -> NDArray[Any] | None:
    """Give the bias as one value a channel; its shape may have 1s before the channels."""
    if x is None:
        return None
    data = array(x, "bias", ["float32", "int32", "int8", "uint8"])
    if data.ndim == 0 or data.size != channels or data.shape[-1] != channels:
        raise bad_value("bias", f"expected {channels} values, one for each channel, got shape {data.shape}")
    return data.reshape(channels)


def finite(x: ArrayLike, name: str, ndim: int | None = None) -> NDArray[np.float32]:
    """Give float32 data that are all finite."""
    data = array(x, name, ["float32"], ndim)
    if not np.isfinite(data).all():
        raise bad_value(name, f"expected finite values, got {data[~np.isfinite(data)][0]}")
    return data


def no_nan(x: NDArray[Any], name: str) -> NDArray[Any]:
    """Give `x`, if it holds no NaN."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        raise bad_value(name, "expected numbers, got nan")
    return x

"""Checks of arrays, names and numbers that oneDNN's primitives take. Each error names the argument and its value."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops.checks import as_array as as_array
from qops.checks import choice as choice
from qops.checks import int32 as int32
from qops.checks import integers as integers
from qops.checks import real as real
from qops.checks import shown


def array(x: ArrayLike, name: str, dtypes: Sequence[DTypeLike], ndim: int | None = None) -> NDArray[Any]:
    """Give `x` as an array of one of `dtypes`, in native byte order, with `ndim` dimensions."""
    data = x if type(x) is np.ndarray else as_array(x, name)
    if data.dtype.type in dtypes and data.dtype.isnative and data.ndim == ndim:
        return data
    if not data.dtype.isnative:
        data = data.astype(data.dtype.newbyteorder("="))
    if data.dtype.type not in dtypes and data.dtype not in dtypes:  # two names of one dtype are equal, not the same
        wanted = " or ".join(np.dtype(d).name for d in dtypes)
        raise TypeError(f"{name}: expected {wanted} data, got {data.dtype}")
    if ndim is not None and data.ndim != ndim:
        raise ValueError(f"{name}: expected {ndim} dimensions, got shape {data.shape}")
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
        raise ValueError(f"{name}: expected shape {wanted}, got {x.shape}")
    return x


def instance(x: object, name: str, kind: type) -> None:
    """Raise TypeError if `x` is not a `kind`."""
    if not isinstance(x, kind):
        raise TypeError(f"{name}: expected a qops.onednn.{kind.__name__}, got {shown(x)}")


def sequence(x: Any, name: str) -> list[Any]:
    """Give the members of a sequence or array."""
    if isinstance(x, str) or not (isinstance(x, Sequence) or (isinstance(x, np.ndarray) and x.ndim)):
        raise TypeError(f"{name}: expected a sequence, got {shown(x)}")
    return list(x)


def bias(x: ArrayLike | None, channels: int) -> NDArray[Any] | None:
    """Give the bias as one value a channel; its shape may have 1s before the channels."""
    if x is None:
        return None
    data = array(x, "bias", [np.float32, np.int32, np.int8, np.uint8])
    if data.ndim == 0 or data.size != channels or data.shape[-1] != channels:
        raise ValueError(f"bias: expected {channels} values, one for each channel, got shape {data.shape}")
    return data.reshape(channels)


def finite(x: ArrayLike, name: str, ndim: int | None = None) -> NDArray[np.float32]:
    """Give float32 data that are all finite."""
    data = array(x, name, [np.float32], ndim)
    if not np.isfinite(data).all():
        raise ValueError(f"{name}: expected finite values, got {data[~np.isfinite(data)][0]}")
    return data


def no_nan(x: NDArray[Any], name: str) -> NDArray[Any]:
    """Give `x`, if it holds no NaN."""
    if x.dtype.kind == "f" and np.isnan(x).any():
        raise ValueError(f"{name}: expected numbers, got nan")
    return x

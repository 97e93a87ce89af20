"""Roundings and conversions: one float32 rounding an operation, as oneDNN's kernels do them."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops._kernels.onednn import store as kernels

__all__ = ["DTYPES", "F32", "cvtps2dq", "fma", "ieee", "put", "round_half_away_s32", "store", "to_f32"]

F32: TypeAlias = NDArray[np.float32]

DTYPES: dict[str, DTypeLike] = {"u8": np.uint8, "s8": np.int8, "s32": np.int32, "f32": np.float32}
"""oneDNN's names of the data types."""

S32_TOP = np.float32(2147483520.0)
"""The largest float32 below 2**31: where s32 destinations saturate."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def ieee(function: _Function) -> _Function:
    """Decorate float32 arithmetic: what overflows becomes infinite and saturates later, without a warning."""
    return np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore")(function)


def to_f32(x: ArrayLike) -> F32:
    """Round to float32, half to even. s32 above 2**24 loses its low bits here.

    Examples
    --------
    >>> to_f32(np.int32(2**24 + 1))
    array(1.6777216e+07, dtype=float32)
    """
    return np.asarray(x).astype(np.float32)


def store(x: F32, dst_dt: str, out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Saturate, then round half to even: ``q(x) = rne(clamp(x, lo, hi))``; f32 is stored as it is.

    Parameters
    ----------
    x : ndarray of float32
    dst_dt : {"u8", "s8", "s32", "f32"}
    out : ndarray of `dst_dt`, optional
        Where the result is written; may be the memory of `x`.

    Returns
    -------
    ndarray of `dst_dt`

    Raises
    ------
    ValueError
        NaN on its way to an integer. oneDNN leaves it unspecified, and what it stores differs by version and CPU
        (u8 0 or 255, s8 127 or -128, s32 2147483520 or -2147483648).

    Notes
    -----
    **Hazards.** s32 never reaches 2147483647:

    >>> store(np.float32([3e9]), "s32")
    array([2147483520], dtype=int32)

    Examples
    --------
    >>> store(np.float32([-0.5, 0.5, 1.5, 300.0]), "u8")
    array([  0,   0,   2, 255], dtype=uint8)
    """
    if dst_dt == "f32":
        return put(np.asarray(x), out)
    values = np.asarray(x, np.float32, order="C")
    nans = kernels.count_nan(values)
    if nans:
        raise ValueError(f"dst: nan has no code in {dst_dt}, got {nans} of them")
    codes = out if out is not None and out.flags.carray else np.empty(values.shape, DTYPES[dst_dt])
    kernels.store(values, codes)
    return put(codes, out)


def put(result: NDArray[Any], out: NDArray[Any] | None) -> NDArray[Any]:
    """Give `result`, in `out` if that is given."""
    if out is None or out is result:
        return result
    np.copyto(out, result)
    return out


def cvtps2dq(x: F32) -> NDArray[np.int32]:
    """Convert as the bare instruction does: round half to even, and INT_MIN for all that does not fit.

    Examples
    --------
    >>> cvtps2dq(np.float32([2.5, 2147483648.0]))
    array([          2, -2147483648], dtype=int32)
    """
    fits = (x >= -(2.0**31)) & (x <= S32_TOP)
    return np.asarray(np.rint(np.where(fits, x, np.float32(-(2.0**31)))), np.int32)


@ieee
def fma(a: ArrayLike, b: ArrayLike, c: ArrayLike) -> F32:
    """``a*b + c`` in float32 with a single rounding.

    The product is exact in float64; the sum is rounded to odd there, which makes the second rounding harmless.

    Examples
    --------
    >>> a = np.float32(1 + 2**-12)
    >>> fma(a, a, -1), a * a - np.float32(1)
    (array(0.00048834, dtype=float32), np.float32(0.00048828125))
    """
    product = np.asarray(a, np.float64) * np.asarray(b, np.float64)
    addend = np.asarray(c, np.float64)
    total = np.asarray(product + addend)
    back = total - product
    residue = (product - (total - back)) + (addend - back)
    even = (total.view(np.int64) & 1) == 0
    nudged = np.nextafter(total, np.copysign(np.inf, residue))
    return np.where(np.isfinite(total) & (residue != 0) & even, nudged, total).astype(np.float32)


def round_half_away_s32(x: NDArray[np.float64]) -> NDArray[np.int32]:
    """Round float64 half away from zero and saturate to s32: GEMM's rounding when alpha or beta asks for one.

    Examples
    --------
    >>> round_half_away_s32(np.array([0.5, -0.5, 1.4, 3e9]))
    array([         1,         -1,          1, 2147483647], dtype=int32)
    """
    away = np.trunc(x + np.copysign(0.5, x))
    return np.clip(away, -(2.0**31), 2.0**31 - 1).astype(np.int32)

"""Conversions between float32 and codes, rounded as oneDNN's kernels round."""

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from qops import codes
from qops._kernels.arrays.refusal import bad_value
from qops._kernels.stage import prepared as stages
from qops._kernels.stage.range import range_float
from qops.checks import put

__all__ = ["DTYPES", "F32", "cvtps2dq", "ieee", "put", "round_half_away_s32", "stage_of", "store", "to_f32"]

F32: TypeAlias = NDArray[np.float32]

DTYPES: dict[str, DTypeLike] = {"u8": np.uint8, "s8": np.int8, "s32": np.int32, "f32": np.float32}
"""oneDNN's names of the data types."""

S32_TOP = 2147483520.0
"""The largest float32 below 2**31: s32 destinations saturate there."""

TOPS = {"u8": codes.TABLE["u8"].highest, "s8": codes.TABLE["s8"].highest, "s32": S32_TOP}


_Function = TypeVar("_Function", bound=Callable[..., Any])


def ieee(function: _Function) -> _Function:
    """Decorate a function so that float32 overflow gives an infinity, which saturates later, and no warning."""
    return np.errstate(over="ignore", invalid="ignore", under="ignore", divide="ignore")(function)


def stage_of(dst_dt: str, **terms: float) -> stages.FloatStage:
    """Give what makes codes of float32 values; `terms` are those of `store`."""
    plain = {"scales": 1.0, "rounding": "half_even", "lowest": codes.TABLE[dst_dt].lowest, "highest": TOPS[dst_dt]}
    return stages.FloatStage(**{**plain, **terms})


def to_f32(x: ArrayLike) -> F32:
    """Round to float32, half to even. s32 above 2**24 loses its low bits here.

    Examples
    --------
    >>> from qops.onednn.cast import to_f32
    >>> to_f32(np.int32(2**24 + 1))
    array(1.6777216e+07, dtype=float32)
    """
    return np.asarray(x).astype(np.float32)


def store(
    x: NDArray[Any], dst_dt: str, out: NDArray[Any] | None = None, names: str = "x", **terms: float
) -> NDArray[Any]:
    """Saturate float32 values and round them half to even: ``q(x) = rne(clamp(x, lowest, highest))``; f32 stays f32.

    `x` is float32, or int32, which becomes float32. `out`, which must not overlap it, is where the result is written.
    `terms` are more parameters: ``minus``, ``scales`` and ``plus`` store ``(x - minus)*scales + plus``, each operation
    rounded to float32, with finite terms and a scale other than 0; ``lowest_x`` and ``highest_x`` clamp `x` first.

    ValueError, which blames the arguments `names`, for a NaN that has to become an integer. oneDNN leaves that open:
    what it stores depends on the version and the CPU (u8 0 or 255, s8 127 or -128, s32 2147483520 or -2147483648).

    Notes
    -----
    **Hazards.** s32 never reaches 2147483647:

    >>> from qops.onednn.cast import store
    >>> store(np.array([3e9], np.float32), "s32")
    array([2147483520], dtype=int32)

    Examples
    --------
    >>> store(np.array([-0.5, 0.5, 1.5, 300.0], np.float32), "u8")
    array([  0,   0,   2, 255], dtype=uint8)
    >>> store(np.array([-3, 5, 7], np.int32), "u8", scales=0.5, plus=10)
    array([ 8, 12, 14], dtype=uint8)
    """
    x = np.asarray(x)
    if dst_dt == "f32":
        return put(x, out)
    if x.dtype == np.float32 and not range_float(x)[2] and np.isnan(x).any():
        raise bad_value(names, f"the result holds nan, which has no code in {dst_dt}")
    result = np.empty(x.shape, DTYPES[dst_dt]) if out is None else out
    stage_of(dst_dt, **terms).run(x, result)
    return result


def cvtps2dq(x: F32) -> NDArray[np.int32]:
    """Convert as the instruction does: round half to even; what int32 does not hold becomes INT_MIN.

    Examples
    --------
    >>> from qops.onednn.cast import cvtps2dq
    >>> cvtps2dq(np.array([2.5, 2147483648.0], np.float32))
    array([          2, -2147483648], dtype=int32)
    """
    return store(x, "s32", lowest=-np.inf, highest=np.inf)


def round_half_away_s32(x: NDArray[np.float64]) -> NDArray[np.int32]:
    """Round float64 half away from zero and saturate to s32, as GEMM does after it has applied alpha and beta.

    Examples
    --------
    >>> from qops.onednn.cast import round_half_away_s32
    >>> round_half_away_s32(np.array([0.5, -0.5, 1.4, 3e9]))
    array([         1,         -1,          1, 2147483647], dtype=int32)
    """
    away = np.trunc(x + np.copysign(0.5, x))
    return np.clip(away, codes.TABLE["s32"].lowest, codes.TABLE["s32"].highest).astype(np.int32)

"""Element-wise curves: relu, linear, clip."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.onednn import _checks as check
from qops.onednn.cast import cvtps2dq, ieee, put, store, to_f32
from qops.onednn.destination import destination, fma, made
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.output import relu

__all__ = ["eltwise"]

DST_DT = {np.dtype(np.uint8): "u8", np.dtype(np.int8): "s8", np.dtype(np.int32): "s32"}


@ieee
def eltwise(
    src: ArrayLike,
    alg: str,
    alpha: float = 0.0,
    beta: float = 0.0,
    *,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Apply a curve to codes in float32. The result has the type of the source.

    ``dst = q(curve(f32(x)))``, where q saturates, then rounds half to even. The curves are ::

        relu:    x > 0 ? x : alpha * x
        linear:  fma(x, alpha, beta)
        clip:    min(max(x, alpha), beta)

    Parameters
    ----------
    src : ndarray of uint8, int8 or int32
    alg : {"relu", "linear", "clip"}
    alpha, beta : float, optional
        They are rounded to float32.
    isa, version : str, optional
        All machines agree; see `gemm_u8s8s32`.
    out : ndarray of the dtype and shape of `src`, optional
        Where the result is written. It must not share memory with `src`.

    Returns
    -------
    ndarray of the dtype and shape of `src`

    Raises
    ------
    TypeError, ValueError
        Another dtype, an unknown `alg`, `isa` or `version`, `alpha` or `beta` that is not finite, clip with `alpha`
        above `beta`, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_eltwise_int.cpp.

    **Hazards.** s32 codes become float32 too, and lose bits above 2**24. In s32, relu does not saturate at the top:

    >>> qops.onednn.eltwise(np.array([16777217, 2147483647], np.int32), "relu")
    array([   16777216, -2147483648], dtype=int32)
    >>> qops.onednn.eltwise(np.array([16777217, 2147483647], np.int32), "linear", 1.0)
    array([  16777216, 2147483520], dtype=int32)
    """
    a, b = check.real(alpha, "alpha"), check.real(beta, "beta")
    codes = check.array(src, "src", ["uint8", "int8", "int32"])
    check.choice(alg, "alg", ["relu", "linear", "clip"])
    machine(version, isa)
    if alg == "clip" and a > b:
        raise bad_value("alpha, beta", f"expected alpha <= beta for a clip, got {a} and {b}")
    dt, x = DST_DT[codes.dtype], to_f32(codes)
    destination(codes.shape, dt, out, (codes, src))
    if alg == "clip":
        return store(x, dt, out, lowest_x=a, highest_x=b)
    if alg == "linear":
        return store(fma(x, a, b), dt, out)
    x = made(x, [relu(a)])
    return put(cvtps2dq(x), out) if codes.dtype == np.int32 else store(x, dt, out)

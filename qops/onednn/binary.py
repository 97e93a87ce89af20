"""Binary: add, sub, mul, max, min of two tensors, each with a scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.onednn import _checks as check
from qops.onednn.attr import PostOp, has_sum, ops_of
from qops.onednn.cast import DTYPES, ieee, store, to_f32
from qops.onednn.destination import destination, made
from qops.onednn.machine import DEFAULT_VERSION, machine
from qops.onednn.output import float_ops_of

__all__ = ["binary"]

CURVES = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


@ieee
def binary(
    src0: ArrayLike,
    src1: ArrayLike,
    alg: str,
    *,
    scale0: float = 1.0,
    scale1: float = 1.0,
    dst_dt: str = "u8",
    post_ops: Sequence[PostOp] = (),
    dst_in: ArrayLike | None = None,
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add, subtract or multiply two tensors of codes in float32, or take the larger or the smaller of each two.

    Each operation is rounded to float32, also with scales of 1::

        dst = q(post_ops(f32(x * scale0) op f32(y * scale1)))    q: saturate, then round half to even

    Parameters
    ----------
    src0 : ndarray of uint8 or int8
    src1 : ndarray of uint8 or int8
        It has the shape of `src0`, or a length of 1 where it repeats.
    alg : {"add", "sub", "mul", "max", "min"}
    scale0, scale1 : float, optional
        Above zero. They multiply the codes in every version.
    dst_dt : {"u8", "s8"}, optional
        Type of the result.
    post_ops : sequence of Sum and Eltwise, optional
        They are applied in this order.
    dst_in : ndarray of the dtype and shape of the destination, optional
        Needed by a Sum.
    isa, version : str, optional
        All machines agree; see `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, shape of `src0`, optional
        Where the result is written. It may be `dst_in`; it must not share memory with another input.

    Returns
    -------
    ndarray of `dst_dt`, shape of `src0`

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes that do not fit, an unknown `alg`, `dst_dt`, `isa` or `version`, scales that are not finite
        or not above zero, a missing `dst_in`, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/x64/jit_uni_binary.cpp, where a Sum is one fma. If `dst_dt` is not the type of `src0`, a Sum goes to
    src/cpu/ref_binary.cpp, which rounds its product and its sum.

    **Hazards.** Ties go to even codes, and results beyond the ends saturate:

    >>> x, y = np.array([1, 3, 250], np.uint8), np.array([0, 0, 250], np.uint8)
    >>> qops.onednn.binary(x, y, "add", scale0=0.5), qops.onednn.binary(x, y, "add", dst_dt="s8")
    (array([  0,   2, 255], dtype=uint8), array([  1,   3, 127], dtype=int8))
    """
    factors = check.real(scale0, "scale0"), check.real(scale1, "scale1")
    left, right = (check.array(x, name, check.CODES_8) for x, name in ((src0, "src0"), (src1, "src1")))
    check.choice(alg, "alg", CURVES)
    check.choice(dst_dt, "dst_dt", ("u8", "s8"))
    machine(version, isa)
    if left.ndim != right.ndim or any(y not in (1, x) for x, y in zip(left.shape, right.shape, strict=True)):
        raise bad_value("src1", f"expected the shape of src0, {left.shape}, or 1s, got {right.shape}")
    for name, factor in zip(("scale0", "scale1"), factors, strict=True):
        if not factor > 0:
            raise bad_value(name, f"expected a number above zero, got {factor}")
    ops, inputs = ops_of(post_ops), (left, right, src0, src1)
    dst = destination(left.shape, dst_dt, out, inputs, dst_in, has_sum=has_sum(ops))
    combined = CURVES[alg](to_f32(left) * np.float32(factors[0]), to_f32(right) * np.float32(factors[1]))
    float_ops = float_ops_of(ops, fused_sum=left.dtype == DTYPES[dst_dt])
    return store(made(combined, float_ops, dst.old), dst_dt, out, names="scale0, scale1, post_ops")

"""Sum: a weighted sum of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_value
from qops.onednn import _checks as check
from qops.onednn.cast import DTYPES, ieee, store, to_f32
from qops.onednn.destination import destination
from qops.onednn.machine import DEFAULT_VERSION, machine

__all__ = ["sum"]


@ieee
def sum(
    srcs: Sequence[ArrayLike],
    scales: Sequence[float],
    *,
    dst_dt: str = "u8",
    isa: str = "vnni",
    version: str = DEFAULT_VERSION,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Add tensors of codes, each times its scale, in their order.

    Each operation is rounded to float32::

        f = x0 * s0;  f = f + f32(xi * si), i = 1, 2, ...;  dst = q(f)    q: saturate, then round half to even

    Parameters
    ----------
    srcs : sequence of ndarray of uint8 or int8
        At least one. All have one shape.
    scales : sequence of float
        One for each source, of any sign.
    dst_dt : {"u8", "s8", "s32", "f32"}, optional
        Type of the result.
    isa, version : str, optional
        All machines agree; see `gemm_u8s8s32`.
    out : ndarray of `dst_dt`, shape of the sources, optional
        Where the result is written. It must not share memory with a source.

    Returns
    -------
    ndarray of `dst_dt`, shape of the sources

    Raises
    ------
    TypeError, ValueError
        Other dtypes, shapes that differ, another number of scales, a scale that is not finite, an unknown `dst_dt`,
        `isa` or `version`, an `out` that does not fit.

    Notes
    -----
    Source: src/cpu/ref_sum.hpp.

    **Hazards.** Ties go to even codes. The order of the sources matters, because each sum is rounded to float32:

    >>> qops.onednn.sum([np.array([1, 3], np.uint8), np.array([2, 2], np.uint8)], [0.5, 1.0])
    array([2, 4], dtype=uint8)
    >>> x = np.array([1], np.uint8)
    >>> [
    ...     qops.onednn.sum([x, x, x], s, dst_dt="f32").item()
    ...     for s in ([2.0**24, 1, -(2.0**24)], [2.0**24, -(2.0**24), 1])
    ... ]
    [0.0, 1.0]
    """
    codes = [check.array(x, f"srcs[{i}]", check.CODES_8) for i, x in enumerate(check.sequence(srcs, "srcs"))]
    weights = [check.real(s, f"scales[{i}]") for i, s in enumerate(check.sequence(scales, "scales"))]
    if not codes or len(codes) != len(weights):
        raise bad_value("scales", f"expected one a source, got {len(codes)} sources and {len(weights)} scales")
    for i, x in enumerate(codes):
        check.shape(x, f"srcs[{i}]", codes[0].shape)
    check.choice(dst_dt, "dst_dt", DTYPES)
    machine(version, isa)
    destination(codes[0].shape, dst_dt, out, codes)
    total = to_f32(codes[0]) * weights[0]
    for x, weight in zip(codes[1:], weights[1:], strict=True):
        total = total + to_f32(x) * weight
    return store(total, dst_dt, out, names="scales")

"""Products of blocks of codes: the exact sums of each block, and the float sums of them as a system orders them."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qops._kernels.arrays.refusal import bad_type, bad_value
from qops._kernels.machine.host import check as check_rounding
from qops._keywords import refusing_unknown, unknown_keyword
from qops.checks import as_array, choice, integer, native, shown
from qops.rules.scales import fma

__all__ = ["BLOCK_ORDERS", "block_dot", "block_sums"]

Array = NDArray[Any]
F32 = np.float32
_LANES, _NEIGHBOURS = 8, 4


@refusing_unknown
def block_sums(
    a: ArrayLike, b: ArrayLike, *, block: int = 32, a_zero_point: int = 0, b_zero_point: int = 0, **unknown: Never
) -> NDArray[np.int64]:
    """Give the exact sum of products of each block: ``sum((a - a_zero_point) * (b - b_zero_point))``.

    Parameters
    ----------
    a, b : ndarray of int8 or uint8, (..., K)
        Codes, which broadcast; K is a multiple of `block`.
    block : int
        How many neighbours along the last axis are a block.
    a_zero_point, b_zero_point : int
        Codes of real 0.

    Returns
    -------
    ndarray of int64, (..., K / block)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not broadcast, blocks that do not fit.

    Notes
    -----
    Source: none; they are sums of whole numbers, so every order gives them.

    Examples
    --------
    >>> qops.rules.block_sums(np.array([[1, 2, 3, 4]], np.int8), np.array([[1, 1, -1, 2]], np.int8), block=2)
    array([[3, 5]])
    """
    if unknown:
        raise unknown_keyword(block_sums, unknown)
    check_rounding()
    x, y, size = _blocks(a, b, block)
    zeros = integer(a_zero_point, "a_zero_point", -128, 255), integer(b_zero_point, "b_zero_point", -128, 255)
    left, right = (v.astype(np.int64) - zero for v, zero in zip((x, y), zeros, strict=True))
    products = np.asarray(left * right)
    count = products.shape[-1] // size
    sums = products.reshape(products.size // max(size, 1), size).sum(-1)
    return np.asarray(sums.reshape(*products.shape[:-1], count))


def _blocks(a: ArrayLike, b: ArrayLike, block: int) -> tuple[Array, Array, int]:
    x, y = (native(v, name, ("int8", "uint8")) for v, name in ((a, "a"), (b, "b")))
    size = integer(block, "block", 1, 2**31 - 1)
    if not (x.ndim and y.ndim and x.shape[-1] == y.shape[-1] and fits(x.shape, y.shape)):
        raise bad_value("a, b", f"shapes {x.shape} and {y.shape} have no common rows")
    if x.shape[-1] % size:
        raise bad_value("block", f"{size} does not divide {x.shape[-1]}, the length of a row")
    return x, y, size


def fits(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes broadcast, with any number of axes; numpy's own function takes 32.

    Parameters
    ----------
    one, other : tuple of int

    Returns
    -------
    bool
    """
    return all(m == n or 1 in (m, n) for m, n in zip(reversed(one), reversed(other), strict=False))


def _generic(lanes: Array, factors: Array, mins: Array | None) -> Array:
    """Block after block."""
    sums, total = lanes.sum(-1).astype(F32), np.zeros(lanes.shape[:-2], F32)
    for i in range(sums.shape[-1]):
        if mins is None:
            total = fma(sums[..., i], factors[..., i], total)
        else:
            total = np.asarray(total + fma(factors[..., i], sums[..., i], mins[..., i]))
    return total


def _x86(lanes: Array, factors: Array, mins: Array | None) -> Array:
    """Eight lanes of four neighbours, block after block; then the lanes as a tree."""
    kept = np.zeros((*lanes.shape[:-2], _LANES), F32)
    rest = np.zeros(lanes.shape[:-2], F32)
    for i in range(lanes.shape[-2]):
        kept = fma(factors[..., i, None], lanes[..., i, :].astype(F32), kept)
        rest = rest if mins is None else rest + mins[..., i]
    four = kept[..., :4] + kept[..., 4:]
    two = four[..., :2] + four[..., 2:]
    total = two[..., 0] + two[..., 1]
    return np.asarray(total if mins is None else total + rest)


BLOCK_ORDERS: dict[str, Callable[[Array, Array, Array | None], Array]] = {"ggml": _generic, "ggml-x86": _x86}
"""How float sums over blocks are ordered: ggml's C, and its kernels for x86 with AVX2 and above (0.15.3)."""


@refusing_unknown
def block_dot(
    a: ArrayLike,
    b: ArrayLike,
    a_scale: ArrayLike,
    b_scale: ArrayLike,
    *,
    order: str = "ggml",
    block: int = 32,
    a_zero_point: int = 0,
    a_minimum: ArrayLike | None = None,
    b_sums: ArrayLike | None = None,
    **unknown: Never,
) -> NDArray[np.float32]:
    """Give the dot product of rows of quantized blocks, as a system adds it up in float32, to the bit.

    In real numbers ``sum over blocks of a_scale * b_scale * sum((a - a_zero_point) * b)``, and with minima of the
    blocks of a ``+ a_minimum * b_sums``. The sum of a block is exact; what differs is the order of the float sums.

    ==========  =========================================================================================
    order       computed as
    ==========  =========================================================================================
    ggml        block by block: ``fma(sum, a_scale * b_scale, total)``; with minima ``total +
                fma(a_scale * b_scale, sum, a_minimum * b_sums)``
    ggml-x86    8 lanes of 4 neighbours: ``fma(a_scale * b_scale, lane sum, lane)``, then
                ``(l0 + l4 + l2 + l6) + (l1 + l5 + l3 + l7)``; with minima plus their sum
    ==========  =========================================================================================

    Parameters
    ----------
    a, b : ndarray of int8 or uint8, (..., K)
        Codes, which broadcast; K is a multiple of `block`.
    a_scale, b_scale : array_like of float, (..., K / block)
        Real sizes of a code step of each block; float16 as ggml keeps it, or float32.
    order : {"ggml", "ggml-x86"}
        How the float sums are ordered.
    block : int
        Size of a block; 32 for the order ggml-x86.
    a_zero_point : int
        Code of real 0 of a: 8 for q4_0, 16 for q5_0.
    a_minimum, b_sums : array_like of float, (..., K / block), optional
        For q4_1 by q8_1: `BlockCodes.minimum` of a and `BlockCodes.sums` of b.

    Returns
    -------
    ndarray of float32, (...)

    Raises
    ------
    TypeError, ValueError
        Other types, shapes that do not fit, one of a_minimum and b_sums alone, another order.

    See Also
    --------
    block_sums : the exact integer sums.

    Notes
    -----
    Sources: ggml ``ggml_vec_dot_q8_0_q8_0``, ``q4_0_q8_0``, ``q4_1_q8_1``.

    **Hazard.** The bits depend on the CPU: a tolerance has to be given for the float sum, none for the sums of blocks.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> a, b = rng.integers(-127, 128, (2, 256)).astype(np.int8)
    >>> scales = rng.uniform(0.01, 0.02, (2, 8)).astype(np.float16)
    >>> [qops.rules.block_dot(a, b, *scales, order=order).item() for order in ("ggml", "ggml-x86")]
    [19.684127807617188, 19.684127807617188]
    """
    if unknown:
        raise unknown_keyword(block_dot, unknown)
    check_rounding()
    choice(order, "order", BLOCK_ORDERS)
    x, y, size = _blocks(a, b, block)
    if order == "ggml-x86" and size != _LANES * _NEIGHBOURS:
        raise bad_value("block", f"{order} has blocks of {_LANES * _NEIGHBOURS}, got {size}")
    if (a_minimum is None) != (b_sums is None):
        raise bad_value("a_minimum, b_sums", "expected both or none")
    neighbours = _NEIGHBOURS if order == "ggml-x86" else size
    sums = block_sums(x, y, block=neighbours, a_zero_point=a_zero_point)
    *rows, k = sums.shape
    shape = *rows, k * neighbours // size
    lanes = sums.reshape(prod(rows), shape[-1], size // neighbours)
    with np.errstate(over="ignore", invalid="ignore"):
        factors = _numbers(a_scale, "a_scale", shape) * _numbers(b_scale, "b_scale", shape)
        mins = None
        if a_minimum is not None and b_sums is not None:
            mins = _numbers(a_minimum, "a_minimum", shape) * _numbers(b_sums, "b_sums", shape)
        return np.asarray(BLOCK_ORDERS[order](lanes, factors, mins).reshape(rows))


def _numbers(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Array:
    """Numbers of blocks, one for each block of each row: (rows, blocks)."""
    found = as_array(values, name)
    if found.dtype.kind not in "fiu":
        raise bad_type(name, f"expected numbers, got {found.dtype}")
    if found.ndim > len(shape) or not all(m in (1, n) for m, n in zip(found.shape[::-1], shape[::-1], strict=False)):
        raise bad_value(name, f"shape {found.shape} does not fit {shape}, one for each block")
    with np.errstate(over="ignore"):
        wide = found.astype(F32) * np.ones(shape, F32)
    if not np.isfinite(wide).all():
        raise bad_value(name, f"expected finite numbers, got {shown(values)}")
    return np.asarray(wide.reshape(prod(shape[:-1]), shape[-1]))

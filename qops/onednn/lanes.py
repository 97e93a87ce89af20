"""How a prepared op multiplies on a machine: which codes share a lane of 16 bits, or why its sums are exact."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from qops import codes
from qops.onednn.convolution import Convolution
from qops.onednn.convolution_weights import Way, reorder_weights
from qops.onednn.gemm import GemmS8S8S32, GemmU8S8S32
from qops.onednn.inner_product import InnerProduct
from qops.onednn.machine import ConvKernel, Machine
from qops.onednn.matmul import MatMul
from qops.onednn.unrolled import NARROW

__all__ = ["PRODUCTS", "Lanes", "lanes_of"]

PRODUCTS = (Convolution, GemmS8S8S32, GemmU8S8S32, InnerProduct, MatMul)
"""The prepared ops that multiply codes by weights."""
_ORDERS = {"": "channels of a tap", "rows": "taps of a row", "columns": "taps by columns"}
_ON_VNNI = "products are exact with VNNI"


class Lanes(NamedTuple):
    """One way in which an op multiplies.

    Attributes
    ----------
    weights : ndarray of int8
        The codes that it multiplies: (outputs, k), or (groups, outputs of a group, channels of a group, KH, KW).
    order : str
        How codes lie along k: "k", "channels of a tap", "taps of a row" or "taps by columns".
    starts : tuple of int
        Where along k pairs begin anew.
    swapped : bool
        Whether 128 is added to the weights in place of the data, which makes them the left operand.
    why : str
        Why sums are exact, in words; empty where pairs saturate.
    """

    weights: NDArray[Any]
    order: str
    starts: tuple[int, ...] = (0,)
    swapped: bool = False
    why: str = ""


def lanes_of(op: Any, isa: str, dtype: Any, shape: tuple[int, ...] | None = None) -> list[Lanes]:
    """Give the ways in which an op multiplies data, on an instruction set that may be another than its own.

    Parameters
    ----------
    op : prepared op
        One of `PRODUCTS`.
    isa : str
        The instruction set.
    dtype : {uint8, int8}
        The type of the data.
    shape : tuple of int, optional
        The shape of the data, (..., M, K) or (N, C, H, W); there is one way then.

    Returns
    -------
    list of Lanes

    Examples
    --------
    >>> from qops.onednn.lanes import lanes_of
    >>> op = qops.onednn.InnerProduct(np.ones((2, 257), np.int8))
    >>> [found.starts for found in lanes_of(op, "avx2", np.uint8)], lanes_of(op, "vnni", np.uint8)[0].why
    ([(0, 129)], 'products are exact with VNNI')
    """
    op = op if op.isa == isa else type(op)(**{**op._arguments, "isa": isa})
    kind = np.dtype(dtype).type
    if isinstance(op, Convolution):
        return _of_convolution(op, kind, shape)
    make: Callable[[Any, Any, int], Lanes] = _MAKE.get(type(op), _of_gemm)
    rows = (1, 2) if shape is None else (shape[-2],)
    return list({found[1:]: found for found in (make(op, kind, n) for n in rows)}.values())


def _of_convolution(op: Convolution, kind: Any, shape: tuple[int, ...] | None) -> list[Lanes]:
    filters, ways = op._filters, {}
    for is_whole, is_narrow in ((True, True), (True, False), (False, True), (False, False)):
        if shape is not None:
            is_narrow = op.shape_of(shape)[3] <= NARROW
            is_whole = all(n % stride == 0 for n, stride in zip(shape[2:], op.window.stride, strict=True))
        _, kernel, way = op._choose(kind, is_whole, is_narrow)
        w = reorder_weights(filters.weights, filters.factor, halved=way.halved)
        why = "" if way.saturating else _why(filters.is_depthwise, kernel, way)
        ways[way] = Lanes(w, _ORDERS[way.order], why=why)
    return [*ways.values()]


def _why(is_depthwise: bool, kernel: ConvKernel, way: Way) -> str:
    """Say why no pair of a convolution saturates."""
    if way.halved:
        return "weights are halved for int8 data, and no pair of halves saturates"
    if is_depthwise:
        return "products of a depthwise convolution are exact"
    return "the reference kernel is exact" if kernel.is_ref else _ON_VNNI


def _of_inner_product(op: InnerProduct, kind: Any, rows: int) -> Lanes:
    b, w = op._weights, op._weights.codes.T
    if not b.saturates:
        return _exact(w, b.machine)
    if op._kernel == "brgemm":
        return Lanes(w, "k")
    return _of_vector(w, b.machine, kind, rows == 1, len(w) == 1)


def _of_matmul(op: MatMul, kind: Any, rows: int) -> Lanes:
    """Batches of weights stand one after the other."""
    *batch, k, n = op.weights.shape
    w, m, attr = np.moveaxis(op.weights, -1, -2).reshape(prod(batch) * n, k), op._end.machine, op._end.attr
    if not m.saturates or op._is_ref:
        return _exact(w, m)
    if m.matmul == "brgemm":
        return Lanes(w, "k")
    zeros = attr.src_zp or 0, attr.wei_zp or 0
    ends = (codes.TABLE[name] for name in ("u8" if kind is np.uint8 else "s8", "s8"))
    if any(zeros) and all(row.lowest <= zero <= row.highest for zero, row in zip(zeros, ends, strict=True)):
        return _with_offsets(w, m, kind, zeros)
    return _of_vector(w, m, kind, False, op.weights.shape[-1] == 1)


def _of_gemm(op: Any, kind: Any, rows: int) -> Lanes:
    """It takes a row or a column for a vector if the other matrix is stored in the way that suits."""
    kernel = op._kernel
    w, m, offsets = kernel.codes.T, kernel.machine, (kernel.ao, kernel.bo)
    if not m.saturates:
        return _exact(w, m)
    if kernel.alpha != 1 or kernel.beta not in (0, 1) or any(offsets) or kernel.co is not None:
        return _with_offsets(w, m, kind, offsets)
    is_row = rows == 1 and op.transb == "T"
    return _of_vector(w, m, kind, is_row, len(w) == 1 and op.transa == "N")


def _exact(w: NDArray[Any], m: Machine) -> Lanes:
    return Lanes(w, "k", why="the reference kernel is exact" if m.saturates else _ON_VNNI)


def _with_offsets(w: NDArray[Any], m: Machine, kind: Any, offsets: tuple[int, int]) -> Lanes:
    """GEMM in k blocks, which leaves s8 data with offsets to an exact reference where it shifts around the product."""
    if kind is np.int8 and m.s8_gemm == "around" and any(offsets):
        return Lanes(w, "k", why="GEMM with offsets is exact for int8 data")
    return Lanes(w, "k", m.k_starts(w.shape[1]))


def _of_vector(w: NDArray[Any], m: Machine, kind: Any, is_row: bool, is_column: bool) -> Lanes:
    """GEMM, which has no k blocks for a vector on some machines, and adds 128 to weights that are one column."""
    if not m.gemv or not (is_row or is_column):
        return Lanes(w, "k", m.k_starts(w.shape[1]))
    return Lanes(w, "k", swapped=kind is np.int8 and is_column and not is_row)


_MAKE: dict[type, Callable[[Any, Any, int], Lanes]] = {MatMul: _of_matmul, InnerProduct: _of_inner_product}

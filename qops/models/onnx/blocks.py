"""MatMulNBits: float data by weights of 8 bits, which onnxruntime makes of a product with dequantized weights.

The data become codes by blocks of 32 along k. The products of a block are summed in integers, in a few parts, and the
parts of all blocks in float32: the order of the sums is part of the result, and differs between CPUs. qops has that of
x86 with AVX2 and without VNNI:

    q = rint(x * (127 / m)), a = m / 127                  m: the largest magnitude of the block, of a row of data
    part[i] = fma(sum of products, a * scale, part[i])    eight parts of each sum: see `_parts`
    y = (all parts + bias) + t                            t = fma(a * sum(q), -scale * zero_point, t), block by block
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import rules
from qops._kernels.arrays.refusal import bad_value
from qops.models.onnx.code import c_of_codes
from qops.models.onnx.file import Node
from qops.models.onnx.kind import Kind
from qops.models.onnx.site import NodeRunner, PlacedNode
from qops.models.op import Missing
from qops.onnx.runtimes import COLUMNS
from qops.rules.scales import fma

__all__ = ["BLOCK", "KINDS"]

Array = NDArray[Any]
F32 = np.float32
BLOCK = 32
"""How many values along k share a scale."""
_AT_ONCE = 2**20
"""Parts of sums that are made at a time."""
_X, _W, _SCALES, _ZEROS, _PLACES, _BIAS = range(6)


def _make(site: PlacedNode) -> NodeRunner:
    """Make what runs a node, of constant weights."""
    node = site.node
    if not COLUMNS[site.runtime].sums_blocks:
        raise Missing(f"in which order {site.runtime} sums floats is not modelled; ort_avx2 is")
    for name, usual, wanted in (("bits", 4, 8), ("block_size", 0, BLOCK), ("accuracy_level", 0, 4)):
        if node.get(name, usual) != wanted:
            raise Missing(f"its {name} is {node.get(name, usual)}, and only {wanted} is modelled")
    k, n = int(node.get("K", 0)), int(node.get("N", 0))
    count = -(-k // BLOCK)
    w, scales, zeros = (site.constant(place) for place in (_W, _SCALES, _ZEROS))
    if site.is_given(_PLACES) or w is None or scales is None or w.dtype != np.uint8 or scales.dtype != F32:
        raise Missing("its weights are no constants of uint8 in order, with scales of float32")
    if k < 1 or w.shape != (n, count, BLOCK) or scales.size != n * count:
        raise Missing(f"its weights, of shape {w.shape}, are not those of {n} columns of {k} values in blocks")
    if zeros is not None and (zeros.dtype != np.uint8 or zeros.size != n * count):
        raise Missing(f"its zero points, {zeros.dtype} of shape {zeros.shape}, are not one of uint8 for each block")
    zeros = np.full((n, count), 128, np.uint8) if zeros is None else zeros.reshape(n, count)
    weights = w.astype(F32), scales.reshape(n, count), zeros.astype(F32)

    def run(given: Sequence[Any]) -> Array:
        x, bias = given[_X], given[_BIAS] if len(given) > _BIAS else None
        if x.dtype != F32 or not x.ndim or x.shape[-1] != k:
            raise bad_value("x", f"expected float32 rows of {k} values, got {x.dtype} of shape {x.shape}")
        rows = x.reshape(-1, k)
        some = max(1, _AT_ONCE // (8 * max(n, 1)))
        made = [_product(rows[i : i + some], weights, bias) for i in range(0, len(rows), some)]
        return np.concatenate([np.zeros((0, n), F32), *made]).reshape(*x.shape[:-1], n)

    return NodeRunner(run)


def _product(x: Array, weights: tuple[Array, Array, Array], bias: Array | None) -> Array:
    w, scales, zeros = weights
    found = rules.quantize_blocks(x, "127-over-max", block=BLOCK)
    q = np.zeros((len(x), w.shape[1] * BLOCK), F32)
    q[:, : x.shape[1]] = found.data
    q = q.reshape(len(x), w.shape[1], BLOCK)
    y = _sum_of_parts(_parts(q, found.scale, w, scales))
    y = y if bias is None else y + bias
    a, b, taken = found.scale * q.sum(2), -scales * zeros, np.zeros_like(y)
    for i in range(w.shape[1]):
        taken = fma(a[:, i, None], b[:, i], taken)
    return y + taken


def _parts(q: Array, a: Array, w: Array, scales: Array) -> Array:
    """Give the eight parts of each sum: (8, rows, columns).

    Of two blocks, a part has 8 products of one of them; of a last block without a second, 4 products.
    """
    parts = np.zeros((8, len(q), len(w)), F32)
    each = a[:, :, None] * scales.T  # (rows, blocks, columns)
    for i in range(0, w.shape[1] - 1, 2):
        sums = [_sums(q[:, j], w[:, j], 8) for j in (i, i + 1)]
        both = np.concatenate([sums[0][:2], sums[1][:2], sums[0][2:], sums[1][2:]])
        parts = fma(both, np.repeat([each[:, i], each[:, i + 1]] * 2, 2, axis=0), parts)
    if w.shape[1] % 2:
        parts = fma(_sums(q[:, -1], w[:, -1], 4), each[:, -1], parts)
    return parts


def _sums(q: Array, w: Array, size: int) -> Array:
    """Sum up so many neighbouring products: (BLOCK / size, rows, columns). float32 holds these integers."""
    left, right = (x.reshape(len(x), -1, size).swapaxes(0, 1) for x in (q, w))
    return left @ right.swapaxes(1, 2)


def _sum_of_parts(parts: Array) -> Array:
    """Sum up the parts: of columns in fours each half in order, of up to three last columns both halves first."""
    n = parts.shape[2] // 4 * 4
    low, high = parts[:4, :, :n], parts[4:, :, :n]
    whole = (low[0] + low[1] + low[2] + low[3]) + (high[0] + high[1] + high[2] + high[3])
    halves = parts[:4, :, n:] + parts[4:, :, n:]
    return np.concatenate([whole, (halves[0] + halves[2]) + (halves[1] + halves[3])], 1)


def _real(node: Node, given: Sequence[Any]) -> Any:
    w, scales, zeros = given[_W], given[_SCALES], given[_ZEROS] if len(given) > _ZEROS else None
    shape = (*w.shape[:2], 1)
    near = w - (128 if zeros is None else zeros.reshape(shape))
    y = given[_X] @ (near * scales.reshape(shape)).reshape(len(w), -1)[:, : node.get("K")].T
    return y + given[_BIAS] if len(given) > _BIAS else y


KINDS = {"MatMulNBits": Kind(make=_make, real=_real, code=c_of_codes, is_own=True, result="float32", least=3)}

"""Sums of products and pools of ONNX in real numbers, in double, over any number of spatial axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from qops.models.onnx.file import Node
from qops.models.onnx.moves import bounded
from qops.models.tensor import Values
from qops.onnx.pool_window import Axis, PoolWindow, taps

__all__ = ["SUMS", "conv", "gemm", "matmul", "window_of"]

Given = Sequence[Any]
_FARTHEST = 2**20  # the most pixels of padding, strides and dilations


def window_of(node: Node, kernel: Sequence[int] | None = None) -> PoolWindow:
    """Give the window of a pool or a convolution.

    Parameters
    ----------
    node : Node
        A node with the attributes of a window.
    kernel : sequence of int, optional
        The sizes of the window where the weights tell them.

    Returns
    -------
    PoolWindow

    Raises
    ------
    ValueError, TypeError
        Attributes that do not fit each other, or are too large.
    """
    moves = {name: node.get(name) for name in ("strides", "dilations", "pads")}
    if any(n > _FARTHEST for part in moves.values() for n in part or ()):
        raise ValueError("its strides, dilations or pads are too large")
    how = node.get("auto_pad", "NOTSET")
    moves |= {"kernel_shape": list(kernel or node.get("kernel_shape") or ()), "auto_pad": how}
    moves |= {"ceil_mode": node.get("ceil_mode", 0)} | ({"pads": None} if how != "NOTSET" else {})
    return PoolWindow.of(moves, is_pool=kernel is None)


def _grid(node: Node, x: Values, kernel: Sequence[int] | None = None) -> list[Axis]:
    axes = window_of(node, kernel).axes(x.shape[2:], "X")
    bounded([*x.shape[:2], *(axis.positions for axis in axes)])
    return axes


def conv(node: Node, x: Values, w: Values) -> Values:
    """Give the sums of products of a convolution, exactly if they are integers that double holds.

    Parameters
    ----------
    node : Node
        Conv, or a node with its attributes.
    x, w : ndarray of float64
        (N, C, ...) and (M, C / group, ...).

    Returns
    -------
    ndarray of float64, (N, M, ...)

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    group, axes = node.get("group", 1), _grid(node, x, w.shape[2:])
    if w.ndim != x.ndim or group < 1 or len(w) % group or x.shape[1] != w.shape[1] * group:
        raise ValueError(f"weights of shape {w.shape}, group {group}, do not fit {x.shape}")
    made = np.zeros((len(x), len(w), *bounded([axis.positions for axis in axes])))
    parts, each = np.split(x, group, 1), len(w) // group
    for (of_result, of_image), tap in zip(taps(axes), np.ndindex(w.shape[2:]), strict=True):
        for g, part in enumerate(parts):
            factors = w[(slice(g * each, (g + 1) * each), slice(None), *tap)]
            found = np.moveaxis(np.tensordot(factors, part[of_image], (1, 1)), 0, 1)
            made[:, g * each : (g + 1) * each][of_result] += found
    return made


def _conv(node: Node, given: Given) -> Values:
    x, w, bias = (*given, None)[:3]
    made = conv(node, x, w)
    return made if bias is None else made + bias.reshape(-1, *[1] * (x.ndim - 2))


def _conv_transpose(node: Node, given: Given) -> Values:
    """Each pixel of the image adds its product with the filter to a part of the result."""
    x, w, bias = (*given, None)[:3]
    group, rank = node.get("group", 1), x.ndim - 2
    if node.get("auto_pad", "NOTSET") != "NOTSET" or node.get("output_shape"):
        raise ValueError("ConvTranspose with auto_pad or output_shape is not read")
    strides, dilations = node.get("strides") or [1] * rank, node.get("dilations") or [1] * rank
    pads, more = node.get("pads") or [0] * 2 * rank, node.get("output_padding") or [0] * rank
    if min([0, *pads, *more]) < 0 or min([1, *strides, *dilations]) < 1 or len(x.shape) != len(w.shape):
        raise ValueError("its attributes do not fit")
    each = zip(x.shape[2:], w.shape[2:], strides, dilations, more, strict=True)
    full = [(n - 1) * s + (k - 1) * d + 1 + m for n, k, s, d, m in each]
    made = np.zeros(bounded([len(x), w.shape[1] * group, *full]))
    outs = w.shape[1]
    for g, (part, factors) in enumerate(zip(np.split(x, group, 1), np.split(w, group, 0), strict=True)):
        for tap in np.ndindex(w.shape[2:]):
            found = np.moveaxis(np.tensordot(factors[(..., *tap)], part, (0, 1)), 0, 1)
            first = [t * d for t, d in zip(tap, dilations, strict=True)]
            where = [slice(f, f + (n - 1) * s + 1, s) for f, n, s in zip(first, x.shape[2:], strides, strict=True)]
            made[(slice(None), slice(g * outs, (g + 1) * outs), *where)] += found
    ends = [n - pads[rank + i] for i, n in enumerate(full)]
    inside: Any = (..., *(slice(pads[i], end) for i, end in enumerate(ends)))
    made = made[inside]
    return made if bias is None else made + bias.reshape(-1, *[1] * rank)


def matmul(a: Values, b: Values) -> Values:
    """Give a product of matrices, if the size of the result is `bounded`.

    Parameters
    ----------
    a, b : ndarray of float64

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    bounded([*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), *a.shape[-2:-1], *b.shape[-1:]])
    return np.asarray(np.matmul(a, b))


def gemm(node: Node, a: Values, b: Values) -> Values:
    """Give the product of Gemm without its bias.

    Parameters
    ----------
    node : Node
        Gemm, or a node with its attributes.
    a, b : ndarray of float64
        Matrices.

    Returns
    -------
    ndarray of float64

    Raises
    ------
    ValueError
        Shapes that do not fit.
    """
    return matmul(a.T if node.get("transA", 0) else a, b.T if node.get("transB", 0) else b)


def _gemm(node: Node, given: Given) -> Values:
    a, b, bias = (*given, None)[:3]
    made = gemm(node, a, b) * node.get("alpha", 1.0)
    return made if bias is None else made + bias * node.get("beta", 1.0)


def _max_pool(node: Node, given: Given) -> Values:
    x, axes = given[0], _grid(node, given[0])
    made = np.full((*x.shape[:2], *(axis.positions for axis in axes)), -np.inf)
    for of_result, of_image in taps(axes):
        np.maximum(made[of_result], x[of_image], out=made[of_result])
    return made


def _average_pool(node: Node, given: Given) -> Values:
    x, axes = given[0], _grid(node, given[0])
    grid = [axis.positions for axis in axes]
    sums, counts = np.zeros((*x.shape[:2], *grid)), np.zeros(grid)
    for of_result, of_image in taps(axes):
        sums[of_result] += x[of_image]
        counts[of_result] += 1
    return sums / (prod(node.get("kernel_shape")) if node.get("count_include_pad", 0) else counts)


def _over_space(reduce: Callable[..., Any]) -> Callable[[Node, Given], Values]:
    return lambda node, given: np.asarray(reduce(given[0], axis=tuple(range(2, given[0].ndim)), keepdims=True))


SUMS: dict[str, Callable[[Node, Given], Any]] = {
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "MatMul": lambda node, given: matmul(given[0], given[1]),
    "Gemm": _gemm,
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _over_space(np.mean),
    "GlobalMaxPool": _over_space(np.max),
}
"""The function of each operator: it takes the node and its inputs, None for one that is left out."""

"""Makes MatMulNBits of a product of floats by dequantized weights, as onnxruntime does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.blocks import BLOCK
from qops.models.onnx.file import Node
from qops.models.onnx.kinds import OWN_DOMAIN
from qops.models.onnx.net import Net, Source

__all__ = ["to_blocks"]

Array = NDArray[Any]


def to_blocks(net: Net, node: Node, weights: Source, has: Callable[[int], bool]) -> Node | None:
    """Give the MatMulNBits that onnxruntime makes of a node.

    Parameters
    ----------
    net : Net
        Gets the weights by blocks as constants.
    node : Node
        MatMul or Gemm, of which `weights` are the second input.
    weights : Source
    has : callable
        Whether so many bytes of constants may be kept.

    Returns
    -------
    Node or None
        None for weights or a bias that are not of the usual types, and for factors of Gemm.
    """
    codes, scale = _constant(net, weights.codes), _constant(net, weights.scale)
    zero = _constant(net, weights.zero_point) if weights.zero_point else None
    bias = _constant(net, node.inputs[2]) if node.inputs[2:] else np.zeros(0)
    factors = {"alpha": 1.0, "beta": 1.0, "transA": 0}
    if codes is None or scale is None or bias is None or bias.ndim != 1:
        return None
    if net.type_of(weights.codes) not in ("uint8", "int8") or scale.dtype != np.float32:
        return None
    if any(node.get(name, usual) != usual for name, usual in factors.items()) or not has(_padded(codes)):
        return None
    constants = {"weights": _in_blocks(codes), **_of_blocks(codes, scale, zero)}
    names = (net.added(f"{node.name} {what}", x) for what, x in constants.items())
    inputs = (node.inputs[0], *names, *(("", node.inputs[2]) if node.inputs[2:] else ()))
    sizes = {"K": codes.shape[0], "N": codes.shape[1], "bits": 8, "block_size": BLOCK, "accuracy_level": 4}
    return replace(node, kind="MatMulNBits", domain=OWN_DOMAIN, inputs=inputs, attributes=sizes)


def _constant(net: Net, name: str) -> Array | None:
    return net.tensors[name].data if name in net.tensors else None


def _padded(codes: Array) -> int:
    return BLOCK * _count(codes) * codes.shape[1]


def _count(codes: Array) -> int:
    return -(-codes.shape[0] // BLOCK)


def _shift(codes: Array) -> int:
    """Give what makes codes of uint8 of these."""
    return 128 if codes.dtype == np.int8 else 0


def _in_blocks(codes: Array) -> Array:
    """Give weights (k, n) as uint8 (n, blocks, BLOCK)."""
    made = np.full((codes.shape[1], _count(codes) * BLOCK), 128, np.uint8)
    made[:, : len(codes)] = (codes.T.astype(np.int16) + _shift(codes)).astype(np.uint8)
    return made.reshape(len(made), -1, BLOCK)


def _of_blocks(codes: Array, scale: Array, zero: Array | None) -> dict[str, Array]:
    """Give a scale and a zero point for each block, of one for all columns or for each."""
    zeros = (np.ravel(0 if zero is None else zero).astype(np.int16) + _shift(codes)).astype(np.uint8)
    each = {"scales": np.ravel(scale), "zero points": zeros}
    shape = codes.shape[1], _count(codes)
    return {what: np.ascontiguousarray(np.broadcast_to(x[:, None], shape)) for what, x in each.items()}

"""Weights and biases of float32 that onnxruntime quantizes itself, where data and result of a layer are codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops import onnx
from qops.models.onnx.file import Node
from qops.models.onnx.kinds import kind_of
from qops.models.onnx.net import Net
from qops.models.tensor import Tensor
from qops.rules import choose_range

__all__ = ["quantized"]

F32 = np.float32


def quantized(
    nodes: Sequence[Node], tensors: dict[str, Tensor], outputs: Sequence[str]
) -> tuple[list[Node], list[str]]:
    """Give layers codes in place of constant weights and biases of float32.

    Weights become int8, with one scale and one zero point of their lowest and highest value. Biases become int32, with
    the scale of the sums.

    For the arguments and results see `fused`.
    """
    net = Net(nodes, tensors, outputs)
    made: list[Node] = []
    words: list[str] = []
    for node in nodes:
        is_layer = kind_of(node).quantizes_weights and not node.domain
        is_between = is_layer and _reads_codes(net, node) and _leads_to_codes(net, node)
        made += _layer(net, node, words) if is_between else [node]
    return made, words


def _reads_codes(net: Net, node: Node) -> bool:
    """Whether the data of a node are dequantized, with one scale."""
    return _scale_of(net, _writer(net, node.inputs[0])) is not None


def _writer(net: Net, name: str) -> Node | None:
    """Find what writes a tensor, before moves."""
    while (node := net.writer.get(name)) is not None and kind_of(node).crosses_pairs:
        name = node.inputs[0]
    return node


def _scale_of(net: Net, node: Node | None) -> NDArray[Any] | None:
    """Give the one scale of a DequantizeLinear; None if it is no such node, or no constant of float32."""
    scale = None if node is None or node.kind != "DequantizeLinear" else net.constant(node, 1)
    return scale.reshape(()) if scale is not None and scale.size == 1 and scale.dtype == F32 else None


def _leads_to_codes(net: Net, node: Node) -> bool:
    """Whether the result of a node is read once, by a QuantizeLinear, behind clamps and then moves.

    onnxruntime repeats a QuantizeLinear in front of moves, and looks for it behind clamps.
    """
    moved = False
    while (reader := net.only_reader(node) if moved else net.data_reader(node)) is not None:
        node = reader
        if node.kind == "QuantizeLinear":
            return True
        row = kind_of(node)
        if not (row.crosses_pairs or (row.clamps and not moved)):
            return False
        moved = moved or row.crosses_pairs
    return False


def _layer(net: Net, node: Node, words: list[str]) -> list[Node]:
    """Give a layer, behind what dequantizes its weights and its bias."""
    weights, writer = net.constant(node, 1), net.writer.get(node.inputs[1])
    dequantizes = writer is not None and writer.kind == "DequantizeLinear"
    has_bias = len(node.inputs) > 2 and bool(node.inputs[2])
    bias = net.constant(node, 2) if has_bias else None
    is_plain = not dequantizes and weights is not None and weights.dtype == F32 and weights.size > 0
    if not (is_plain or dequantizes) or (has_bias and (bias is None or bias.ndim != 1 or bias.dtype != F32)):
        return [node]
    if dequantizes and (bias is None or not _fits(net, node, writer, bias)):
        return [node]
    made, inputs = [], list(node.inputs)

    def dequantized(place: int, *numbers: NDArray[Any], **attributes: int) -> None:
        """Put codes, and what dequantizes them, in place of a constant."""
        words = ("codes", "scale", "zero_point")[: len(numbers)]
        names = (net.added(f"{inputs[place]}:{word}", x) for word, x in zip(words, numbers, strict=True))
        name = net.free(f"{inputs[place]}:dequantized")
        made.append(Node("DequantizeLinear", "", name, tuple(names), (name,), attributes, node.opset))
        inputs[place] = name

    scale = net.constant(writer, 1) if writer is not None and dequantizes else None
    if scale is None:
        assert weights is not None
        codes, scale, zero = _codes_of(weights)
        dequantized(1, codes, scale, zero)
        said = f"became int8, with scale {scale!s} and zero point {zero!s}"
        words.append(f"{node.kind} ({node.name}): its weights of float32 {said}.")
    if bias is not None:
        data = _scale_of(net, _writer(net, node.inputs[0]))
        assert data is not None
        step = data * (scale.reshape(()) if scale.size == 1 else scale)
        dequantized(2, _whole(bias, step), step, **({"axis": 0} if step.ndim else {}))
    return [*made, replace(node, inputs=tuple(inputs))]


def _fits(net: Net, node: Node, dequantize: Node | None, bias: NDArray[Any]) -> bool:
    """Whether weights that are codes have one scale, or one for each bias, along the axis of the results."""
    scale = None if dequantize is None else net.constant(dequantize, 1)
    if dequantize is None or scale is None or scale.dtype != F32 or dequantize.get("block_size", 0):
        return False
    weights = net.tensors.get(dequantize.inputs[0])
    rank = 0 if weights is None else len(weights.shape)
    wanted = 1 if node.kind == "Gemm" and not node.get("transB", 0) else 0
    axis = int(dequantize.get("axis", 1))
    return bool(scale.size == 1 or (scale.shape == bias.shape and rank and axis % rank == wanted))


def _codes_of(weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Quantize weights to int8, in the range that onnxruntime chooses for all their values."""
    chosen = choose_range(float(weights.min()), float(weights.max()), "ort-dynamic", dtype="int8")
    scale, zero = np.asarray(chosen.scale, F32), np.asarray(chosen.zero_point, np.int8)
    return onnx.quantize_linear(weights, scale, zero, runtime="ort"), scale, zero


def _whole(bias: NDArray[Any], step: NDArray[Any]) -> NDArray[np.int32]:
    """Quantize a bias: half to even; what int32 does not hold is its lowest number."""
    with np.errstate(all="ignore"):
        near = np.rint(bias / step)
    return np.where(np.abs(near) < 2.0**31, near, -(2.0**31)).astype(np.int32)

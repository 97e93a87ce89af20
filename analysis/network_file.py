"""The network that reads digits as an .onnx file: uint8 data by int8 weights, as onnxruntime runs it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from analysis.network import F32, Layer

__all__ = ["save"]

CONVOLUTION = {"pads": [1, 1, 1, 1]}


def save(layers: Sequence[Layer], seen: Sequence[F32], path: Path, *, per_channel: bool) -> None:
    """Write the network as onnxruntime runs it: QLinearConv, MaxPool and QGemm, whose results are real.

    `seen` is what each layer read in float of the images that it learned from; its largest value is code 255.
    """
    tops = [float(x.max()) / 255 for x in seen[: len(layers)]]
    constants: dict[str, NDArray] = {"zero": np.uint8(0), **{f"scale_{i}": np.float32(s) for i, s in enumerate(tops)}}
    nodes = [helper.make_node("QuantizeLinear", ["images", "scale_0", "zero"], ["x_0"], "codes")]
    for i, layer in enumerate(layers):
        constants |= weights_of(layer, i, tops[i], per_channel)
        inputs = [f"x_{i}", f"scale_{i}", "zero", f"w_{i}", f"w_scale_{i}", f"w_zero_{i}"]
        if i < len(layers) - 1:
            inputs += [f"scale_{i + 1}", "zero", f"bias_{i}"]
            last = i == len(layers) - 2
            to = f"y_{i}" if last else f"x_{i + 1}"
            nodes.append(helper.make_node("QLinearConv", inputs, [to], layer.name, **CONVOLUTION))
        else:
            inputs.append(f"bias_{i}")
            nodes.append(helper.make_node("QGemm", inputs, ["logits"], layer.name, domain="com.microsoft", transB=1))
            halves = {"kernel_shape": [2, 2], "strides": [2, 2]}
            before = helper.make_node("MaxPool", [f"y_{i - 1}"], ["pooled"], "pool", **halves)
            turned = helper.make_node("Transpose", ["pooled"], ["by_place"], "by place", perm=[0, 2, 3, 1])
            nodes[-1:-1] = [before, turned, helper.make_node("Flatten", ["by_place"], [f"x_{i}"], "flatten")]
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["images", *shape])
        for name, shape in (("images", (1, 8, 8)), ("logits", (10,)))
    ]
    parts = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "digits", ends[:1], ends[1:], parts)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=versions, ir_version=9), path)


def weights_of(layer: Layer, i: int, scale: float, per_channel: bool) -> dict[str, NDArray]:
    """Give codes, scales and bias of a layer, by names with its number."""
    rows = layer.weights.reshape(len(layer.bias), -1)
    tops = np.abs(rows).max(axis=1)
    scales = ((tops if per_channel else np.full_like(tops, tops.max())) / 127).astype(np.float32)
    codes = np.rint(rows / scales[:, None]).astype(np.int8).reshape(layer.weights.shape)
    bias = np.rint(layer.bias / (scales.astype(np.float64) * scale)).astype(np.int32)
    zeros = np.zeros(len(scales), np.int8)
    return {f"w_{i}": codes, f"w_scale_{i}": scales, f"w_zero_{i}": zeros, f"bias_{i}": bias}

"""What the sums of a layer lose on a CPU on which two products share a word of 16 bits, beside the exact sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qops.models.onnx.file import Node
from qops.models.onnx.kinds import spec_of
from qops.models.onnx.make import as_uint8
from qops.models.onnx.site import PlacedNode
from qops.onnx.paired_convolution import ConvolutionSums, PairedConv
from qops.onnx.pairs import sums_of
from qops.onnx.runtimes import Pairs
from qops.onnx.window import ConvolutionWindow

__all__ = ["lost_of"]

_WINDOW = ("auto_pad", "dilations", "kernel_shape", "pads", "strides")
Loss = Callable[[NDArray[Any], NDArray[Any]], NDArray[np.int64]]


def lost_of(site: PlacedNode, op: Any, x_zero: int) -> Loss | None:
    """Give what computes the loss of a layer's sums.

    Parameters
    ----------
    site : PlacedNode
        QLinearConv, QLinearMatMul or QGemm.
    op : Prepared
        The prepared op of the node, which says what pairs of products do.
    x_zero : int
        The zero point of the data, in its own type.

    Returns
    -------
    callable or None
        ``lost(x, w)``, of codes of the data and of the weights: the sums as the runtime makes them, less the exact
        ones, int64, of the shape of the result. None where products do not share words.
    """
    node, spec = site.node, spec_of(site.node)
    assert spec is not None
    on_uint8, x_type = bool(node.get("as_uint8")), site.tensors[node.inputs[spec.of[0].tensor]].dtype
    pairs = op.pairs_of("uint8" if on_uint8 else x_type)
    if not pairs:
        return None
    x_zero += 128 if on_uint8 and x_type == "int8" else 0

    def lost(x: NDArray[Any], w: NDArray[Any]) -> NDArray[np.int64]:
        seen = as_uint8(x) if on_uint8 else x
        own, exact = (_sums(node, spec.real, seen, w, x_zero, each) for each in (pairs, ""))
        return own.astype(np.int64) - exact

    return lost


def _sums(node: Node, real: str, x: NDArray[Any], w: NDArray[Any], x_zero: int, pairs: Pairs) -> NDArray[np.int32]:
    """Give the sums of products of codes, as pairs make them."""
    if real == "Conv":
        given = {name: node.get(name) for name in _WINDOW} | {"group": node.get("group", 1)}
        given["auto_pad"] = given["auto_pad"] or "NOTSET"
        axes = ConvolutionWindow.of(w, given).axes(x.shape[2:])
        made: NDArray[np.int32] = PairedConv(w, x_zero, given["group"], pairs, False, ConvolutionSums(0))(x, axes, 1)
        return made
    left = x.T if node.get("transA", 0) else x
    right = w.T if node.get("transB", 0) else w
    rows = np.ascontiguousarray(left).reshape(-1, left.shape[-1])
    return sums_of(rows, right, pairs, (0, 0), 1).reshape(*left.shape[:-1], right.shape[-1])

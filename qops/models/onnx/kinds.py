"""All kinds of operators of ONNX, by name; each is told in the file of its family."""

from __future__ import annotations

from qops.models.onnx import (
    binary,
    blocks,
    codes,
    convolutions,
    floats,
    indices,
    lstm,
    moves,
    pools,
    products,
    resize,
    rows,
)
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import Spec
from qops.models.onnx.kind import Kind

__all__ = ["KINDS", "ON_CODES", "OWN_DOMAIN", "kind_of", "spec_of"]

OWN_DOMAIN = "com.microsoft"
"""The domain of onnxruntime's own operators."""
KINDS: dict[str, Kind] = {
    **convolutions.KINDS,
    **products.KINDS,
    **blocks.KINDS,
    **binary.KINDS,
    **codes.KINDS,
    **rows.KINDS,
    **pools.KINDS,
    **floats.KINDS,
    **moves.KINDS,
    **resize.KINDS,
    **indices.KINDS,
    **lstm.KINDS,
}
ON_CODES = {
    row.inputs.real: kind
    for kind, row in KINDS.items()
    if row.inputs is not None and row.inputs.real and row.inputs.y is not None
}
"""By operators of real numbers, the operators that compute them on codes alone."""
_UNKNOWN = Kind()


def kind_of(node: Node) -> Kind:
    """Give the row of a node; one that says nothing if qops has no such operator."""
    return KINDS.get(node.kind, _UNKNOWN)


def spec_of(node: Node) -> Spec | None:
    """Give where the numbers of a node stand; None if it says nothing of scales."""
    row = kind_of(node)
    return row.inputs if row.inputs_of is None else row.inputs_of(node)

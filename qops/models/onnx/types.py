"""What ONNX's nodes write: types of tensors, and what their codes mean."""

from __future__ import annotations

from qops.models.onnx.file import Node
from qops.models.onnx.inputs import constant, with_scales
from qops.models.onnx.kinds import KINDS, kind_of, spec_of
from qops.models.tensor import Tensor

__all__ = ["results_of"]

_OF_GAPS = {"TopK": ["", "int64"], "NonMaxSuppression": ["int64"], "NonZero": ["int64"]}
"""Types of results of operators that qops does not have, where they are not that of the data, which is ""."""


def results_of(node: Node, tensors: dict[str, Tensor]) -> list[Tensor]:
    """Give the tensors that a node writes: their types, and what their codes mean.

    Parameters
    ----------
    node : Node
    tensors : dict of str to Tensor
        Those before it, and what the file says of its results.

    Returns
    -------
    list of Tensor
    """
    first = tensors[node.inputs[0]] if node.inputs and node.inputs[0] else None
    row, types, found = kind_of(node), _types(node, tensors), list[Tensor]()
    for i, name in enumerate(node.outputs):
        if not name:
            continue
        announced = tensors.get(name)
        own_type = types[min(i, len(types) - 1)]
        if announced is not None and node.kind not in KINDS:
            own_type = announced.dtype
        tensor = Tensor(name, () if announced is None else announced.shape, own_type)
        spec = spec_of(node)
        if spec is not None and spec.y is not None:
            scale, zero = (constant(tensors, node, place) for place in spec.y)
            tensor = with_scales(tensor, scale, zero, None)
        elif (row.moves or row.crosses_pairs or row.clamps) and _keeps(node, tensors, tensor):
            assert first is not None
            tensor = with_scales(tensor, first.scale, first.zero_point, None)
        found.append(tensor)
    return found


def _numbers(tensor: Tensor) -> tuple[float, int] | None:
    """Give the scale and zero point of a tensor that has one of each."""
    if tensor.scale is None or tensor.zero_point is None or tensor.scale.ndim:
        return None
    return float(tensor.scale), int(tensor.zero_point)


def _keeps(node: Node, tensors: dict[str, Tensor], made: Tensor) -> bool:
    """Whether all codes that a node moves have one scale."""
    moved = [tensors[name] for name in node.inputs[slice(*kind_of(node).operands)] if name]
    numbers = {_numbers(t) for t in moved}
    return len(numbers) == 1 and None not in numbers and made.dtype == moved[0].dtype


def _types(node: Node, tensors: dict[str, Tensor]) -> list[str]:
    """Give the types of the results."""

    def of(place: int, otherwise: str) -> str:
        name = node.inputs[place] if place < len(node.inputs) else ""
        return tensors[name].dtype if name in tensors else otherwise

    own, row, spec = of(0, "float32"), kind_of(node), spec_of(node)
    if node.kind not in KINDS and node.kind in _OF_GAPS:
        return [dtype or own for dtype in _OF_GAPS[node.kind]]
    if callable(row.result):
        return row.result(node, of)
    return [of(spec.y[1], own) if spec is not None and spec.y is not None else row.result or own]

"""Sums and products of two tensors of codes, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qops import onnx
from qops.models.cut import Index
from qops.models.graph import Graph
from qops.models.onnx.code import ENDS, constant_ends, has_numbers, numbers_of_input
from qops.models.onnx.cut import CutNode
from qops.models.onnx.file import Node
from qops.models.onnx.inputs import QuantizedInput, Spec
from qops.models.onnx.kind import Kind
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import zero_of
from qops.rules.scales import fma

__all__ = ["KINDS"]


F32 = np.float32
_SCALED, _WHOLE = ("a_ratio", "b_ratio", "constant", *ENDS[1:]), ("scale", *ENDS)
_INPUTS = Spec((QuantizedInput(0, 1, 2), QuantizedInput(3, 4, 5)), (6, 7))


def _cut_pair(node: Node, data: Sequence[Any], index: Index) -> CutNode | None:
    """One element of each operand."""
    shape = np.broadcast_shapes(data[0].shape, data[3].shape)
    inputs = {i: np.broadcast_to(data[i], shape)[index].reshape(1) for i in (0, 3)}
    return CutNode(dict(node.attributes), inputs, (1,), "one element")


def _numbers_of_pair(op: Op, graph: Graph) -> list[tuple[np.float32, int]] | None:
    """Give scale and zero point of both operands and of the result; None if they are not all there."""
    y = graph.tensors[op.outputs[0]]
    found = [numbers_of_input(op, graph, place) for place in (0, 3)] if len(op.inputs) == 8 else [None]
    both = [numbers for numbers in found if numbers is not None]
    return [*both, (F32(y.scale), zero_of(y))] if len(both) == 2 and has_numbers(op, graph, ()) else None


def _of_ratios(a: tuple[np.float32, int], b: tuple[np.float32, int], y: tuple[np.float32, int]) -> dict[str, Any]:
    """QLinearAdd: two fused steps on whole codes."""
    ra, rb = a[0] / y[0], b[0] / y[0]
    return {"a_ratio": ra, "b_ratio": rb, "constant": F32(y[1]) - fma(ra, F32(a[1]), rb * F32(b[1]))}


def _of_product(a: tuple[np.float32, int], b: tuple[np.float32, int], y: tuple[np.float32, int]) -> dict[str, Any]:
    """QLinearMul: a product of codes less their zero points, by one scale."""
    return {"input1_zero_point": a[1], "input2_zero_point": b[1], "scale": F32(a[0] * b[0] / y[0])}


def _c_of_pair(
    rule: str, numbers: Callable[..., dict[str, Any]], operand: str, taken: tuple[str, ...]
) -> Callable[..., PortedLayer | None]:
    """Two codes: the numbers that the rule takes, and how it takes operands."""

    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
        given = _numbers_of_pair(op, graph)
        if given is None or op.rule != "ort-x86":
            return None
        constants = numbers(*given) | constant_ends(graph.tensors[op.outputs[0]])
        operands = (operand.format(x=x, n=made.name, i=i) for i, x in ((1, "a"), (2, "b")))
        words = ", ".join([*operands, *(f"{made.name}_{part}" for part in taken)])
        code = function(made.name, "int32_t a, int32_t b", [f"    return {rule}_ort_x86({words});"])
        return made._replace(rules=[f"{rule} ort-x86"], constants=constants, code=code, arguments=("a", "b"))

    return make


KINDS = {
    "QLinearAdd": Kind(
        function=onnx.qlinear_add,
        prepared=onnx.QLinearAdd,
        data=(0, 3),
        is_own=True,
        inputs=_INPUTS._replace(real="Add"),
        rounds_zero_point=True,
        explained="add",
        cut=_cut_pair,
        code=_c_of_pair("add", _of_ratios, "{x}", _SCALED),
    ),
    "QLinearMul": Kind(
        function=onnx.qlinear_mul,
        prepared=onnx.QLinearMul,
        data=(0, 3),
        is_own=True,
        inputs=_INPUTS._replace(real="Mul"),
        rounds_zero_point=True,
        explained="mul",
        cut=_cut_pair,
        code=_c_of_pair("mul", _of_product, "{x} - {n}_input{i}_zero_point", _WHOLE),
    ),
}

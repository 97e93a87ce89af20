"""What the C of ONNX's operators shares, as onnxruntime holds their numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qops.models.code.tables import c_of_table, is_by_code
from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Tensor, zero_of

__all__ = [
    "ENDS",
    "WORDS",
    "c_of_codes",
    "c_of_expression",
    "c_of_prepared_table",
    "constant_ends",
    "has_numbers",
    "numbers_of_input",
]


F32 = np.float32
ENDS = ("output_zero_point", "output_min", "output_max")


WORDS = ("bool", "int8", "uint8", "int16", "uint16", "int32")


def numbers_of_input(op: Op, graph: Graph, place: int) -> tuple[np.float32, int] | None:
    """Give scale and zero point of an operand, which follow it; None if they are no constants, or left out."""
    scale, zero = (graph.tensors[name].data for name in op.inputs[place + 1 : place + 3])
    one = scale is not None and scale.size == 1 and zero is not None and zero.size == 1
    return (F32(np.ravel(scale)[0]), int(np.ravel(zero)[0])) if one and scale is not None and zero is not None else None


def constant_ends(y: Tensor) -> dict[str, int]:
    """Give the zero point of a result and the ends of its type, by their names in C."""
    info = np.iinfo(y.dtype)
    return dict(zip(ENDS, (zero_of(y), int(info.min), int(info.max)), strict=True))


def has_numbers(op: Op, graph: Graph, places: tuple[int, ...]) -> bool:
    """Whether scales of these inputs, and of the result, are constants."""
    tensors = [graph.tensors[op.inputs[i]] for i in places if i < len(op.inputs)]
    return all(t.scale is not None and t.scale.ndim == 0 for t in (*tensors, graph.tensors[op.outputs[0]]))


def c_of_prepared_table(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """Give a node of one code as a table; None if its numbers are not constant."""
    return c_of_table(made, op, graph, target) if op.prepared is not None else None


def c_of_codes(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
    """An op of floats that reads codes instead, one after another."""
    is_one = len(op.reads) == 1 and graph.tensors[op.reads[0]].dtype in ("int8", "uint8")
    return c_of_table(made, op, graph, target) if is_one and is_by_code(op, graph.tensors[op.reads[0]]) else None


def c_of_expression(text: str, arguments: tuple[str, ...]) -> Callable[..., PortedLayer | None]:
    """A comparison or logical operator that is one C expression."""

    def make(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer | None:
        if any(graph.tensors[name].dtype not in WORDS for name in op.inputs):
            return None
        code = function(made.name, ", ".join(f"int32_t {name}" for name in arguments), [f"    return {text};"])
        return made._replace(code=code, arguments=arguments)

    return make

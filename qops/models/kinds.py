"""All kinds of operators, of both formats, by name."""

from qops.models.onnx.kinds import KINDS as NODES
from qops.models.operator import OperatorKind
from qops.models.tflite.kinds import KINDS as OPERATORS

__all__ = ["KINDS", "NODES", "OPERATORS", "kind_named"]

KINDS: dict[str, OperatorKind] = {**OPERATORS, **NODES}
"""The names of TFLite's are in upper case, so that none is one of ONNX."""
_UNKNOWN = OperatorKind()


def kind_named(name: str) -> OperatorKind:
    """Give the row of a kind of operator; one that says nothing if qops has no such operator."""
    return KINDS.get(name, _UNKNOWN)

"""Model files as graphs of prepared ops: what a file computes, tensor by tensor, bit for bit.

``qops.models.load("model.tflite")`` gives a `Graph`: tensors by name, with their scales and zero points, and ops in the
order in which they run. ``graph.run(x)`` runs it on codes, and ``graph.real(x)`` in real numbers, without any rounding.
``load("model.onnx")`` does the same, and with ``runtime="ort"`` `Graph.fused` says which nodes onnxruntime makes one op
of, with other bits on ties. Reading a format needs a small package: ``pip install 'qops[tflite]'`` or ``'qops[onnx]'``.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from qops._keywords import name_keywords_of_class, no_attribute

if TYPE_CHECKING:  # these are imported when they are first used: see __getattr__
    from qops.models.graph import Graph
    from qops.models.loader import load
    from qops.models.op import Layer, Op
    from qops.models.session import Session
    from qops.models.tensor import Tensor
    from qops.models.tflite.file import Operator
    from qops.models.tflite.writer import tflite_bytes

__all__ = ["Graph", "Layer", "Op", "Operator", "Session", "Tensor", "load", "tflite_bytes"]
__dir__ = __all__.copy

_HOMES = {
    "Graph": "graph",
    "Layer": "op",
    "Op": "op",
    "Operator": "tflite.file",
    "Session": "session",
    "Tensor": "tensor",
    "load": "loader",
    "tflite_bytes": "tflite.writer",
}


if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Import a public name when it is first used: what models do with lanes needs no reader of files."""
        if name not in _HOMES:
            raise no_attribute(__name__, name, __all__)
        value = globals()[name] = getattr(import_module(f"qops.models.{_HOMES[name]}"), name)
        if isinstance(value, type):
            name_keywords_of_class(value)
        return value

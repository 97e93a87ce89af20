"""Model files as graphs of prepared ops: what a file computes, tensor by tensor, bit for bit.

``qops.models.load("model.tflite")`` gives a `Graph`: tensors by name, with their scales and zero points, and ops in the
order in which they run. ``graph.run(x)`` runs it on codes, and ``graph.real(x)`` in real numbers, without any rounding.
``load("model.onnx")`` does the same, and with ``runtime="ort"`` `Graph.fused` says which nodes onnxruntime makes one op
of, with other bits on ties. Reading a format needs a small package: ``pip install 'qops[tflite]'`` or ``'qops[onnx]'``.
"""

from typing import TYPE_CHECKING

from qops._keywords import no_attribute
from qops.models.graph import Graph
from qops.models.load import load
from qops.models.op import Layer, Op
from qops.models.session import Session
from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator
from qops.models.tflite.writer import tflite_bytes

__all__ = ["Graph", "Layer", "Op", "Operator", "Session", "Tensor", "load", "tflite_bytes"]
__dir__ = __all__.copy


if not TYPE_CHECKING:  # a type checker would take it for a promise of every name

    def __getattr__(name):
        """Raise the AttributeError that tells which name is near."""
        raise no_attribute(__name__, name, __all__)

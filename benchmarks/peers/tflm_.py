"""TFLite Micro: its reference kernels, on models of one layer."""

from tflite_micro.python.tflite_micro.runtime import Interpreter

from benchmarks.case import Candidate
from benchmarks.peers.tflite_layers import ONE_STEP, forms

ARENA = 1 << 24  # bytes; by itself it takes ten times the size of the file


def invoked(content, arrays):
    """Make a candidate that invokes the model."""
    interpreter = Interpreter.from_bytes(content, arena_size=ARENA)
    for i, x in enumerate(arrays):
        interpreter.set_input(x, i)
    return Candidate(interpreter.invoke, lambda: interpreter.get_output(0), ONE_STEP)


FORMS = forms(invoked)

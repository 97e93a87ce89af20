"""onnxruntime's models, run through io_binding on arrays that it does not copy."""

from itertools import chain

import numpy as np
import onnxruntime as ort

from benchmarks.peers.onnx_model import model
from qops.codes import TABLE


def bound(nodes, constants, inputs, outputs):
    """Make a call of the model with the arrays `inputs` and `outputs`, by name."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    proto = model(nodes, constants, inputs, outputs)
    session = ort.InferenceSession(proto, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    kept = {name: ort.OrtValue.ortvalue_from_numpy(x) for name, x in chain(inputs.items(), outputs.items())}
    for name in inputs:
        binding.bind_ortvalue_input(name, kept[name])
    for name in outputs:
        binding.bind_ortvalue_output(name, kept[name])
    call = session.run_with_iobinding

    def run(kept=kept):  # the values alias the arrays, which must stay
        call(binding)

    return run


def parameters(letter, scale, zero_point, code_type="u8"):
    """Scale and zero point, members of an `Affine`, as constants of the model."""
    scale, zero = np.array(scale, np.float32), np.array(zero_point, TABLE[code_type].dtype)
    return {f"{letter}_scale": scale, f"{letter}_zero": zero}

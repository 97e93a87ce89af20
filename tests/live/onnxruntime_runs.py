"""Models of one op on onnxruntime, and what the draws of its matrices and products share."""

from types import SimpleNamespace

import numpy as np
import onnxruntime as ort
from draws import TYPES, codes, length, pick, result_scale, zero_point

from benchmarks.peers.onnx_model import model

__all__ = ["matrices", "numbers", "ran", "result"]


def ran(op, inputs, outputs, **attributes):
    """A function that runs the op on arrays by name; those without a name are left out. `outputs`: (dtype, rank)."""
    given = {name: x for name, x in inputs.items() if x is not None}
    made = {f"y{i}": SimpleNamespace(dtype=np.dtype(t), shape=(None,) * rank) for i, (t, rank) in enumerate(outputs)}
    names = [name if name in given else "" for name in inputs]
    data = {name: given[name] for name in [*given][:1]}
    constants = {name: x for name, x in given.items() if name not in data}

    def run():
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        proto = model([(op, names, [*made], attributes)], constants, data, made)
        found = ort.InferenceSession(proto, options, providers=["CPUExecutionProvider"]).run(None, data)
        return found[0] if len(found) == 1 else found

    return run


def numbers(name, s, zero, dtype):
    """Scale and zero point as arrays."""
    return {f"{name}_scale": np.array(s, np.float32), f"{name}_zero": np.array(zero, dtype)}


def result(rng, of_x, of_w):
    """The scale of a product as an array."""
    return np.array(result_scale(rng, of_x.item(), float(of_w.flat[0])), np.float32)


def matrices(rng):
    """Codes of two matrices, and zero points; those of the second may be one for each column."""
    m, k, n = length(rng, 17), length(rng), length(rng, 40)
    a_type, b_type = pick(rng, TYPES), pick(rng, TYPES)
    a_zero, b_zero = zero_point(rng, a_type), np.array(zero_point(rng, b_type), b_type)
    if rng.random() < 0.4:
        b_zero = codes(rng, n, b_type)
    return codes(rng, (m, k), a_type, a_zero), codes(rng, (k, n), b_type, 0), np.array(a_zero, a_type), b_zero

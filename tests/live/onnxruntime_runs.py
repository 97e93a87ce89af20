"""Models of one op on onnxruntime, and what the draws of its matrices and products share."""

from types import SimpleNamespace

import numpy as np
from draws import TYPES, Pair, codes, length, pick, result_scale, zero_point
from elsewhere import call

from benchmarks.peers.onnx_model import model

__all__ = ["called", "matrices", "numbers", "result"]


def called(op, inputs, outputs, ours, attributes=(), models_refusals=True, data=""):
    """The pair of an op on arrays by name, and of `ours` on the same; the first of them is its data, or this one.

    Those without a name are left out. `outputs`: (dtype, rank). The system takes the others as constants.
    """
    given = {name: x for name, x in inputs.items() if x is not None}
    made = {f"y{i}": SimpleNamespace(dtype=np.dtype(t), shape=(None,) * rank) for i, (t, rank) in enumerate(outputs)}
    names = [name if name in given else "" for name in inputs]
    fed = {name: given[name] for name in [data or next(iter(given))]}
    constants = {name: x for name, x in given.items() if name not in fed}
    content = model([(op, names, [*made], attributes)], constants, fed, made)

    def all_of(feeds):
        found = [ours(inputs | fed) for fed in feeds]
        return [y for one in found for y in (one if isinstance(one, tuple) else [one])]

    return Pair(
        lambda feeds: call("system_onnxruntime", "run", content, feeds),
        all_of,
        {**inputs, **dict(attributes)},
        models_refusals,
        fed=fed,
    )


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

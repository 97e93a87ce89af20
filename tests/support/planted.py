"""Devices that run a network with a fault in one layer, and what they dump."""

import numpy as np

from qops import rules

INT32 = 32


def device(graph, x, faults):
    """All tensors of a device; `faults` are functions of op, inputs and right codes, by the tensor that they make."""
    values = dict(zip(graph.inputs, [x], strict=True))
    for op in graph.ops:
        inputs = [values[name] for name in op.reads]
        (made,) = op.call(*inputs)
        name = op.outputs[0]
        values[name] = faults[name](op, inputs, made) if name in faults else made
    return values


def rounded(op, made, sums, rule=None, **changes):
    """Codes of sums by a rule, by default the op's own."""
    n = {**op.layer.numbers, **changes}
    scales = n["in_scale"], n["w_scale"], n["out_scale"]
    own = {name: n[name] for name in ("zero_point", "qmin", "qmax")}
    return rules.requantize(sums, rule or op.rule, scales=scales, dtype=made.dtype, **own)


def sums_with(op, x, w):
    """The sums of a layer with other weights: those of a conv of one tap or more, by shifting, or of a matrix."""
    zero, bias = op.layer.x_zero_point, 0 if op.layer.bias is None else op.layer.bias
    data = x.astype(np.int64) - zero
    if w.ndim == 2:
        return data @ w.T.astype(np.int64) + bias
    kh, kw = w.shape[1:3]
    padded = np.pad(data, [(0, 0), (kh // 2, kh // 2), (kw // 2, kw // 2), (0, 0)])
    height, width = x.shape[1:3]
    taps = ((i, j, padded[:, i : i + height, j : j + width]) for i in range(kh) for j in range(kw))
    return sum(part @ w[:, i, j].T.astype(np.int64) for i, j, part in taps) + bias


def by_rule(rule):
    """Rounded by another rule."""
    return lambda op, inputs, made: rounded(op, made, op.layer.sums(inputs[0], op.layer.bias), rule)


def with_numbers(**changes):
    """Rounded with other numbers; a change is a function of the right one."""

    def fault(op, inputs, made):
        numbers = {name: change(op.layer.numbers[name]) for name, change in changes.items()}
        return rounded(op, made, op.layer.sums(inputs[0], op.layer.bias), **numbers)

    return fault


def without_activation(op, inputs, made):
    """A fused ReLU left out."""
    info = np.iinfo(made.dtype)
    return rounded(op, made, op.layer.sums(inputs[0], op.layer.bias), qmin=info.min, qmax=info.max)


def input_zero_point(by):
    """The zero point of the input is wrong by so much."""

    def fault(op, inputs, made):
        sums, x = op.layer.sums, inputs[0]
        each = sums(np.ones_like(x), None) - sums(np.zeros_like(x), None)
        return rounded(op, made, sums(x, op.layer.bias) - by * each)

    return fault


def narrow_bias(bits):
    """A bias kept in so many bits, which wraps."""
    return lambda op, inputs, made: rounded(op, made, op.layer.sums(inputs[0], wrapped(op.layer.bias, bits)))


def narrow_sums(bits):
    """Sums kept in so many bits, which wrap."""
    return lambda op, inputs, made: rounded(op, made, wrapped(op.layer.sums(inputs[0], op.layer.bias), bits))


def wrapped(values, bits):
    half = 2 ** (bits - 1)
    return (values.astype(np.int64) + half) % (2 * half) - half


def moved(by):
    """Each code so much away, as with another zero point of the result: of any op."""

    def fault(op, inputs, made):
        info = np.iinfo(made.dtype)
        return np.clip(made.astype(np.int64) + by, info.min, info.max).astype(made.dtype)

    return fault

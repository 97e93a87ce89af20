"""A random .tflite model that grows op by op, with the shapes that the ops of qops give."""

import tempfile
from dataclasses import replace
from pathlib import Path

import draws
import numpy as np
from draws import codes, length, pick

from qops import models
from qops.models import Operator, Tensor, tflite_bytes
from qops.tflite.kernels import KERNELS

CHANNELS = (1, 2, 3, 4, 5, 8, 9, 16, 17, 24, 33)
LIMITS = (12.0, 4.0, 2.4, 12 / 7, 2.0, 2 / 3, 1.0)
"""Scales in which the limits 6 and 1 of an activation are ties, and two in which they are not."""


class Net:
    """A model that grows op by op; `x` is the last result."""

    def __init__(self, rng, kernel, dtype):
        self.rng, self.kernel, self.dtype = rng, kernel, dtype
        self.tensors, self.operators, self.fed = [], [], {}
        self.x, self.results = None, []
        """The last result, and those before it."""

    def tensor(self, dtype, s=None, z=0, shape=(), data=None, axis=None):
        """One more tensor, of a scale or of one for each channel along `axis`."""
        if s is not None:
            s, z = np.float32(s), np.broadcast_to(np.int64(z), np.shape(s)).copy()
        made = Tensor(f"t{len(self.tensors)}", shape, dtype, s, None if s is None else z, axis, data)
        self.tensors.append(made)
        return made

    def input(self, shape, dtype=None, s=None, z=None):
        """Codes that a call takes."""
        kind = np.dtype(dtype or self.dtype)
        if s is None:
            s, z = scale(self.rng), zero_point(self.rng, kind)
        x = codes(self.rng, shape, kind.type, z)
        made = self.tensor(kind.name, s, z, shape)
        self.fed[made.name] = x
        return made

    def second(self, shape, s, z):
        """Another operand: an input, or one of the results so far that has this shape."""
        fitting = [t for t in self.results if t.shape == shape and t.dtype == self.dtype and t is not self.x]
        if fitting and self.rng.random() < 0.6:
            return pick(self.rng, fitting)
        return self.input(shape, s=s, z=z)

    def image(self):
        """The last result, or the first input: images NHWC."""
        n, h, w = (int(self.rng.integers(1, most)) for most in (3, 9, 9))
        return self.x or self.input((n, h, w, pick(self.rng, CHANNELS)))

    def any(self):
        """The last result, or the first input, of any shape."""
        return self.x or self.input(shape(self.rng))

    def constant(self, data, s=None, z=0, axis=None, dtype=None):
        """Data that stand in the file."""
        return self.tensor(dtype or data.dtype.name, s, z, data.shape, data, axis)

    def op(self, kind, inputs, y, inner=(), **options):
        """One more operator, whose result becomes `x`; `inner` are tensors that only carry its inner scales."""
        self.operators.append(Operator(kind, list(inputs), [y], options, list(inner)))
        self.x = y

    def shaped(self):
        """Give all tensors the shapes that the kernels of qops make."""
        found = self.load(self.bytes({}), self.kernel).run(self.fed, keep="all")
        self.tensors = [replace(t, shape=found[t.name].shape) if t.name in found else t for t in self.tensors]
        named = {t.name: t for t in self.tensors}
        self.x = named[self.x.name]
        self.results = [*(named[t.name] for t in self.results), self.x]

    def result(self, *scales, dtype=None):
        """A result whose scale is in proportion to the product of those of the operands, and not far below it."""
        dtype = dtype or self.dtype
        whole = [float(s) for s in scales]
        s = draws.result_scale(self.rng, *whole) if self.rng.random() < 0.9 else pick(self.rng, LIMITS)
        return self.tensor(dtype, min(max(s, float(np.prod(whole)) / 64), 2.0**12), zero_point(self.rng, dtype))

    def bytes(self, shapes, operators=None, fed=None, results=()):
        """The file, with these shapes of results; `operators` are all if not given, and `fed` is what a call takes.

        `results` are names of tensors: the last result if not given.
        """
        tensors = [replace(t, shape=shapes.get(t.name, t.shape)) for t in self.tensors]
        inputs = [t for t in tensors if t.name in (fed or self.fed)]
        named = {t.name: t for t in tensors}
        return tflite_bytes(tensors, operators or self.operators, inputs, [named[n] for n in results] or [self.x])

    def load(self, content, kernel, **how):
        """The graph of qops, by way of a file."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.tflite"
            path.write_bytes(content)
            return models.load(path, runtime=kernel, **how)

    def finished(self):
        """The file, with the shapes that results have by the first kernels of qops that take it, or its last operator.

        LiteRT's XNNPACK leaves an operator to other kernels if the file does not say the shape of its result.
        """
        last = self.operators[-1:]
        alone = {t.name: np.zeros(t.shape, t.dtype) for t in last[0].inputs if t is not None and t.data is None}
        for operators, fed in ((self.operators, self.fed), (last, alone)):
            for kernel in (self.kernel, *KERNELS):
                try:
                    found = self.load(self.bytes({}, operators, fed), kernel).run(fed, keep="all")
                    return self.bytes({name: x.shape for name, x in found.items()})
                except (ValueError, TypeError):
                    continue
        return self.bytes({})

    def described(self):
        """What a difference shows."""
        text = {f"op {i}": f"{op.kind} {op.options}" for i, op in enumerate(self.operators)}
        for t in self.tensors:
            text[t.name] = [f"{t.dtype}{t.shape} scale {t.scale} zero {t.zero_point}", self.fed.get(t.name, t.data)]
        return text


def scale(rng):
    """A scale; larger ones than these are beyond what the integers of the systems hold."""
    return draws.scale(rng, largest=9)


def zero_point(rng, dtype):
    """A zero point; that of 16 bits is 0."""
    return 0 if np.dtype(dtype) in ("int16", "int32") else draws.zero_point(rng, np.dtype(dtype).type)


def shape(rng, axes=None):
    """A shape of up to four axes."""
    axes = axes or int(rng.integers(1, 5))
    return (*(int(n) for n in rng.integers(1, 5, axes - 1)), int(length(rng, 130)))


def activation(rng):
    """None in half of the calls, RELU, RELU_N1_TO_1 or RELU6."""
    return {"FusedActivationFunction": int(pick(rng, [0, 0, 0, 1, 2, 3]))}

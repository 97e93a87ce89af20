"""The numpy forms of TensorFlow's Uniform* ops."""

import numpy as np

from benchmarks import uniform
from benchmarks.case import Candidate, blank, shared


def uniform_quantize(x):
    """Multiply, add, floor, add and clip in float32."""
    t, out = blank(x.size, np.float32), shared(x.size, np.int8)

    def run():
        np.multiply(x, np.float32(1 / uniform.SCALE), out=t)
        np.add(t, np.float32(0.5), out=t)
        np.floor(t, out=t)
        np.add(t, np.float32(uniform.ZERO), out=t)
        np.clip(t, -128, 127, out=t)
        np.copyto(out, t, casting="unsafe")

    return Candidate(run, lambda: out, 0)


def uniform_dequantize(q):
    """Subtract and multiply in float32."""
    out = shared(q.size, np.float32)

    def run():
        np.subtract(q, np.float32(uniform.ZERO), out=out)
        np.multiply(out, np.float32(uniform.SCALE), out=out)

    return Candidate(run, lambda: out, 0)


def scaled(q, zero, factor, t):
    """Subtract, multiply, add and floor in float64, into t."""
    np.subtract(q, np.float64(zero), out=t)
    np.multiply(t, factor, out=t)
    np.add(t, 0.5, out=t)
    np.floor(t, out=t)


def uniform_requantize(in_zero, factor, zero):
    """Give a maker for the step from one scale and zero point to others."""

    def make(q):
        t, out = blank(q.size, np.float64), shared(q.size, np.int8)

        def run():
            scaled(q, in_zero, factor, t)
            np.add(t, zero, out=t)
            np.clip(t, -128, 127, out=t)
            np.copyto(out, t, casting="unsafe")

        return Candidate(run, lambda: out, 0)

    return make


def uniform_add(a, b):
    """Bring both to the scale of the sum, then add; the terms are exact."""
    x, y, out = blank(a.size, np.float64), blank(a.size, np.float64), shared(a.size, np.int32)

    def run():
        scaled(a, uniform.WIDE_ZERO, uniform.WIDE / uniform.FINE, x)
        scaled(b, uniform.ZERO, uniform.WIDE / uniform.FINE, y)
        np.add(x, y, out=x)
        np.add(x, 7, out=x)
        np.copyto(out, x, casting="unsafe")

    return Candidate(run, lambda: out, 32)


FORMS = {
    "uniform_quantize": {"float32": uniform_quantize},
    "uniform_dequantize": {"float32": uniform_dequantize},
    "uniform_requantize_8to8": {"float64": uniform_requantize(uniform.ZERO, 0.75, 5)},
    "uniform_requantize_32to8": {
        "float64": uniform_requantize(uniform.WIDE_ZERO, uniform.WIDE / uniform.SCALE, uniform.ZERO)
    },
    "uniform_quantized_add": {"float64": uniform_add},
}

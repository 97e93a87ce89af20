"""numpy's forms of the front door's differences and products: in float32, every step into a buffer made beforehand."""

import numpy as np

from benchmarks.case import Candidate, blank, shared
from benchmarks.frontdoor import PRODUCT, PRODUCT_LEVEL, SUM, SUM_LEVEL
from benchmarks.network import TANH_STEP, padded
from benchmarks.nnlib import A, B
from qops.frontdoor.add import BOUND_8P8TO32

EXACT = 0.5 + 2**-13  # one rounding of a float32


def rounded(x, out):
    """Round float32 values by rint, and cut them to 8 bits."""
    np.rint(x, out=x)
    if out.dtype == np.uint8:
        np.clip(x, 0, 255, out=x)
    np.copyto(out, x, casting="unsafe")


def difference(step, zero_point, dtype, within):
    """Give a maker, which takes two products, a difference and an offset."""

    def make(a, b):
        x, y, out = blank(a.size, np.float32), blank(a.size, np.float32), shared(a.size, dtype)
        ka, kb = np.float32(A.scale / step), np.float32(B.scale / step)
        offset = np.float32(zero_point - A.zero_point * ka + B.zero_point * kb)

        def run():
            np.multiply(a, ka, out=x)
            np.multiply(b, kb, out=y)
            np.subtract(x, y, out=x)
            np.add(x, offset, out=x)
            rounded(x, out)

        return Candidate(run, lambda: out, within)

    return make


def product(step, zero_point, dtype, within):
    """Give a maker, which takes two differences, a product, a factor and an offset."""

    def make(a, b):
        x, y, out = blank(a.size, np.float32), blank(a.size, np.float32), shared(a.size, dtype)
        factor = np.float32(A.scale * B.scale / step)

        def run():
            np.subtract(a, np.float32(A.zero_point), out=x)
            np.subtract(b, np.float32(B.zero_point), out=y)
            np.multiply(x, y, out=x)
            np.multiply(x, factor, out=x)
            np.add(x, np.float32(zero_point), out=x)
            rounded(x, out)

        return Candidate(run, lambda: out, within)

    return make


def tanh(a):
    """Take from a table of all codes."""
    table = np.uint8(np.rint((np.tanh(A.scale * (np.arange(256.0) - A.zero_point)) + 1) / TANH_STEP))
    out = shared(a.size, np.uint8).reshape(a.shape)
    return Candidate(lambda: np.take(table, a, out=out), lambda: out, EXACT)


def pad(a):
    """np.pad, into a new result."""
    found = []

    def run():
        found[:] = (padded(a),)

    return Candidate(run, lambda: found[0], 0)


def softmax(a):
    """Take the exponentials in float32, of differences from the highest code of each row."""
    x, out = blank(a.size, np.float32).reshape(a.shape), shared(a.size, np.uint8).reshape(a.shape)

    def run():
        np.subtract(a, a.max(-1, keepdims=True), out=x, dtype=np.float32)
        np.multiply(x, np.float32(A.scale), out=x)
        np.exp(x, out=x)
        np.multiply(x, 255 / x.sum(-1, keepdims=True), out=x)
        rounded(x, out)

    return Candidate(run, lambda: out, 0.5 + 2**-9)


SUB_8 = {"float32": difference(SUM.scale, SUM.zero_point, np.uint8, EXACT)}
FORMS = {
    "quantized_sub_8p8to8": SUB_8,
    "sub_int8": SUB_8,
    "quantized_sub_8p8to32": {"float32": difference(SUM_LEVEL, 0, np.int32, BOUND_8P8TO32)},
    "quantized_mul_8x8to8": {"float32": product(PRODUCT.scale, PRODUCT.zero_point, np.uint8, EXACT)},
    "lookup": {"take": tanh},
    "pad": {"copy": pad},
    "softmax": {"float32": softmax},
    "quantized_mul_8x8to32": {"float32": product(PRODUCT_LEVEL, 0, np.int32, 0.5 + 2**-3)},
}

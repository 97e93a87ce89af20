"""numpy: every step with ``out=``, into buffers made beforehand."""

from functools import partial

import numpy as np

from benchmarks import (
    frontdoor,
    layers,
    mlperf_networks,
    mlperf_tiny,
    nnlib,
    nnlib_activations,
    nnlib_nodes,
    onnx,
    onnx_own,
    pools,
    products,
    systems,
    tflite,
)
from benchmarks import quantized_convolution as conv
from benchmarks.case import Candidate, blank, shared
from benchmarks.cases import FACTOR, LEVEL, MULTIPLIER, RIGHT_SHIFT, SHARES, STEP, A, B, C
from benchmarks.peers import frontdoor_numpy, rules_numpy, uniform_numpy
from qops.frontdoor.add import BOUND_8P8TO32

EXACT = 0.5 + 2**-13  # one rounding of a float32


def add_8(a, b):
    """Add in float32, by two products, one sum, rint and clip."""
    x, y, out = blank(a.size, np.float32), blank(a.size, np.float32), shared(a.size, np.uint8)
    ka, kb = np.float32(A.scale / C.scale), np.float32(B.scale / C.scale)
    offset = np.float32(C.zero_point - A.zero_point * ka - B.zero_point * kb)

    def run():
        np.multiply(a, ka, out=x)
        np.multiply(b, kb, out=y)
        np.add(x, y, out=x)
        np.add(x, offset, out=x)
        np.rint(x, out=x)
        np.clip(x, 0, 255, out=x)
        np.copyto(out, x, casting="unsafe")

    return Candidate(run, lambda: out, EXACT)


def add_32(a, b):
    """Add in float32, by two products, two sums and rint."""
    x, y, out = blank(a.size, np.float32), blank(a.size, np.float32), shared(a.size, np.int32)
    ma, mb = np.float32(A.scale / LEVEL), np.float32(B.scale / LEVEL)
    offset = np.float32(-A.zero_point * ma - B.zero_point * mb)

    def run():
        np.multiply(a, ma, out=x)
        np.multiply(b, mb, out=y)
        np.add(x, y, out=x)
        np.add(x, offset, out=x)
        np.rint(x, out=x)
        np.copyto(out, x, casting="unsafe")

    return Candidate(run, lambda: out, BOUND_8P8TO32)


def quantize(x):
    """Multiply, rint, add and clip."""
    t, out, inverse = blank(x.size, np.float32), shared(x.size, np.uint8), np.float32(1 / A.scale)

    def run():
        np.multiply(x, inverse, out=t)
        np.rint(t, out=t)
        np.add(t, np.float32(A.zero_point), out=t)
        np.clip(t, 0, 255, out=t)
        np.copyto(out, t, casting="unsafe")

    return Candidate(run, lambda: out, EXACT)


def dequantize(a):
    """Subtract the zero point, then multiply."""
    out, scale, zero = shared(a.size, np.float32), np.float32(A.scale), np.float32(A.zero_point)

    def run():
        np.subtract(a, zero, out=out)
        np.multiply(out, scale, out=out)

    return Candidate(run, lambda: out, 2**-20)


def requantize(x, shares=1):
    """Multiply in float32."""
    x, factor = x.reshape(-1, np.size(shares)), np.float32(shares * (STEP / A.scale))
    t, out = blank(x.size, np.float32).reshape(x.shape), shared(x.size, np.uint8).reshape(x.shape)

    def run():
        np.copyto(t, x, casting="unsafe")
        np.multiply(t, factor, out=t)
        np.add(t, np.float32(A.zero_point), out=t)
        np.rint(t, out=t)
        np.clip(t, 0, 255, out=t)
        np.copyto(out, t, casting="unsafe")

    return Candidate(run, out.ravel, EXACT)


def min_max(x):
    """Find the extremes by two reductions."""
    found = [0, 0]

    def run():
        found[:] = np.minimum.reduce(x), np.maximum.reduce(x)

    return Candidate(run, lambda: np.array(found), 0)


def shifter(multiplier, shift, term):
    """Give a maker for x * multiplier + term >> shift, in int64."""

    def make(x):
        t, out = blank(x.size, np.int64), shared(x.size, np.int32)

        def run():
            np.multiply(x, multiplier, out=t)
            if term:
                np.add(t, term, out=t)
            np.right_shift(t, shift, out=t)
            np.copyto(out, t, casting="unsafe")

        return Candidate(run, lambda: out, 0)

    return make


def gemmlowp(x):
    """Make both roundings in int64."""
    t, sign, out = blank(x.size, np.int64), blank(x.size, np.int64), shared(x.size, np.int32)
    right, multiplier = RIGHT_SHIFT - 31, np.int64(MULTIPLIER)

    def run():
        np.multiply(x, multiplier, out=t)
        np.add(t, 1 << 30, out=t)
        np.right_shift(t, 31, out=t)
        np.right_shift(t, 63, out=sign)
        np.add(t, sign, out=t)
        np.add(t, 1 << right >> 1, out=t)
        np.right_shift(t, right, out=t)
        np.copyto(out, t, casting="unsafe")

    return Candidate(run, lambda: out, 0)


def product(a, b):
    """Multiply in float64, as its products of integers do not use BLAS."""
    x, y, z = a.astype(float), b.astype(float), blank(len(a) * b.shape[1], float).reshape(len(a), -1)
    return Candidate(lambda: np.matmul(x, y, out=z), lambda: z, 0)


def centred_product(a, b):
    """Multiply codes less their zero points, in float64."""
    return product(nnlib.centred(a, nnlib.A), nnlib.centred(b, nnlib.B))


def modelled(model):
    """Give a maker of the numpy form itself, on inputs that lie as in a model, into a new result."""

    def make(**inputs):
        found = []

        def run():
            found[:] = (model(**inputs),)

        return Candidate(run, lambda: found[0], 0)

    return make


def maximum(a):
    """Call np.maximum."""
    out, zero = shared(a.size, np.uint8), np.uint8(nnlib.A.zero_point)
    return Candidate(lambda: np.maximum(a, zero, out=out), lambda: out, 0)


def multiplied(dtype):
    """Give a maker for the products, in int32, or for their codes as well."""

    def make(a, b):
        x, y, z = (blank(a.size, np.int32).reshape(a.shape) for _ in range(3))
        t, out = blank(a.size, np.float32).reshape(a.shape), shared(a.size, dtype).reshape(a.shape)
        za, zb = np.int32(nnlib.A.zero_point), np.int32(nnlib.B.zero_point)
        ends = [0.0, 1.0]

        def run():
            np.subtract(a, za, out=x)
            np.subtract(b, zb, out=y)
            np.multiply(x, y, out=out if dtype == np.int32 else z)
            if dtype == np.uint8:
                ends[:] = min(0.0, float(z.min())), max(0.0, float(z.max()))
                np.subtract(z, np.float32(ends[0]), out=t)
                np.multiply(t, np.float32(255 / (ends[1] - ends[0])), out=t)
                np.rint(t, out=t)
                np.copyto(out, t, casting="unsafe")

        def result():
            return out if dtype == np.int32 else ends[0] + out * ((ends[1] - ends[0]) / 255)

        return Candidate(run, result, 0 if dtype == np.int32 else 255 * 255 / 254)

    return make


def concat(a, b):
    """Scale each part in float32, into its place."""
    out, width = shared(2 * a.size, np.uint8).reshape(len(a), -1), a.shape[-1]
    t = blank(a.size, np.float32).reshape(a.shape)
    rows = [
        (q, np.float32(f.scale / nnlib.HULL_STEP), np.float32((f.range[0] - nnlib.HULL[0]) / nnlib.HULL_STEP), part)
        for q, f, part in ((a, nnlib.A, out[:, :width]), (b, nnlib.B, out[:, width:]))
    ]

    def run():
        for q, scale, offset, part in rows:
            np.multiply(q, scale, out=t)
            np.add(t, offset, out=t)
            np.rint(t, out=t)
            np.copyto(part, t, casting="unsafe")

    return Candidate(run, lambda: out, EXACT)


OF_SYSTEMS = {
    ("nnlib_relu_8", "tensorflow_relu", "relu"): {"maximum": maximum},
    ("nnlib_mul_8x8to32", "tensorflow_mul"): {"int32": multiplied(np.int32)},
    ("concat", "nnlib_concat_8", "tensorflow_concat"): {"float32": concat},
    ("nnlib_matmul_8x8to32", "tensorflow_matmul", "matmul"): {"float64": centred_product},
    ("nnlib_conv2d_8x8to32", "tensorflow_conv2d", "conv2d"): {"float64": modelled(nnlib.convolved)},
}
"""The forms of ops that several rooms have, on the same data."""

OF_MODELS = [
    *(*products.CONVOLUTIONS, products.DEPTHWISE, *conv.QUANTIZED_CONVOLUTIONS, layers.PRODUCT),
    *(
        *onnx.ONNX,
        *onnx_own.OWN,
        *frontdoor.LAYERS,
        *tflite.TFLITE,
        *mlperf_tiny.MLPERF_TINY,
        *mlperf_networks.MLPERF_NETWORKS,
        *systems.SYSTEMS,
    ),
    *nnlib_nodes.NODES,
    *nnlib_activations.NNLIB_ACTIVATIONS,
]
"""Rows whose numpy form is the reference itself."""

FORMS = {
    "quantized_add_8p8to8": {"float32": add_8},
    "quantized_add_8p8to32": {"float32": add_32},
    "quantize": {"float32": quantize},
    "dequantize": {"float32": dequantize},
    "requantize_32to8": {"float32": requantize},
    "requantize_32to8_channels": {"float32": partial(requantize, shares=SHARES)},
    "requantization_range": {"reduce": min_max},
    "multiply_shift": {"int64": shifter(np.int64(round(FACTOR * 2**7)), 7, 0)},
    "multiply_shift_half_up": {"int64": shifter(np.int64(MULTIPLIER), RIGHT_SHIFT, 1 << (RIGHT_SHIFT - 1))},
    "multiply_shift_gemmlowp": {"int64": gemmlowp},
    **frontdoor_numpy.FORMS,
    **rules_numpy.FORMS,
    **uniform_numpy.FORMS,
    **{key: {"float64": product} for key in products.UNPACKED + products.PACKED},
    **{case.name: {"float64": modelled(case.reference)} for case in OF_MODELS},
    products.SATURATING.name: {"int32": modelled(products.saturated)},
    products.SATURATING_CONVOLUTION.name: {"int32": modelled(products.convolved_saturated)},
    **{name: form for names, form in OF_SYSTEMS.items() for name in names},
    **{name: {"float64": modelled(pool.highest)} for name, pool in pools.MAX_POOLS.items()},
    **{name: {"float64": modelled(pool.mean)} for name, pool in pools.AVG_POOLS.items()},
    "nnlib_mul_8x8to8": {"int32, float32": multiplied(np.uint8)},
}

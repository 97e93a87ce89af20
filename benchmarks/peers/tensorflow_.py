"""TensorFlow: the raw ops, eager, on tensors made beforehand; it has no out=."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

from benchmarks import pools, uniform
from benchmarks.case import Candidate
from benchmarks.cases import FACTOR, LEVEL, MULTIPLIER, RIGHT_SHIFT, WIDE, A, B

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
raw = tf.raw_ops
HALF_STEP = 0.51  # rounded once, in float32


def kept(call, result, within):
    """Make a candidate that keeps what the last call returned."""
    found = []

    def run():
        found[:] = (call(),)

    return Candidate(run, lambda: result(found[0]), within)


def quantized(x, dtype):
    """Make a tensor of a quantized type that holds the codes x."""
    return tf.bitcast(tf.constant(x), dtype)


def plain(x, dtype):
    """Take the codes of a tensor of a quantized type."""
    return tf.bitcast(x, dtype).numpy()


def ends(lo, hi):
    """Give a range as two scalar tensors."""
    return tf.constant(lo, tf.float32), tf.constant(hi, tf.float32)


def add_32(op, within):
    """Give a maker for one of the ops that add into int32; the check wants its codes in the steps of qops."""

    def make(a, b):
        qa, qb = quantized(a[None], tf.quint8), quantized(b, tf.quint8)
        bound = (qa, qb, *ends(*A.range), *ends(*B.range), tf.qint32)

        def result(got):
            codes, lo, hi = got
            return plain(codes, tf.int32)[0] * ((float(hi) - float(lo)) / 2**32 / LEVEL)

        return kept(lambda: op(*bound), result, within)

    return make


def quantized_add(x, y, min_x, max_x, min_y, max_y, dtype):
    """QuantizedAdd."""
    return raw.QuantizedAdd(x=x, y=y, min_x=min_x, max_x=max_x, min_y=min_y, max_y=max_y, Toutput=dtype)


def quantized_bias_add(x, y, min_x, max_x, min_y, max_y, dtype):
    """QuantizedBiasAdd."""
    return raw.QuantizedBiasAdd(
        input=x, bias=y, min_input=min_x, max_input=max_x, min_bias=min_y, max_bias=max_y, out_type=dtype
    )


def of_codes(op, *names, dtype=tf.int32, within=0, **options):
    """Give a maker for an op of quint8 tensors of these names, in the ranges of A and B."""

    def make(**given):
        bound = dict(options)
        for name, codes, affine in zip(names, given.values(), (A, B), strict=False):
            bound[name] = quantized(codes, tf.quint8)
            bound[f"min_{name}"], bound[f"max_{name}"] = ends(*affine.range)
        return kept(lambda: op(**bound), lambda got: plain(got[0], dtype), within)

    return make


def pool(op, shape, within):
    """Give a maker for one of the pools."""
    windows = {"ksize": [1, shape.taps, shape.taps, 1], "strides": [1, shape.step, shape.step, 1], "padding": "SAME"}
    return of_codes(op, "input", dtype=tf.uint8, within=within, **windows)


def concat(a, b):
    """QuantizedConcat, which rounds both the code and the lower end of the range to its steps."""
    mins, maxes = zip(*(ends(*affine.range) for affine in (A, B)), strict=True)
    given = {"values": [quantized(x, tf.quint8) for x in (a, b)], "input_mins": mins, "input_maxes": maxes}
    axis = tf.constant(1)
    return kept(lambda: raw.QuantizedConcat(concat_dim=axis, **given), lambda got: plain(got.output, tf.uint8), 1.01)


def quantize(x):
    """QuantizeV2, MIN_FIRST."""
    values, (lo, hi) = tf.constant(x), ends(*A.range)

    def call():
        return raw.QuantizeV2(input=values, min_range=lo, max_range=hi, T=tf.quint8, mode="MIN_FIRST")

    return kept(call, lambda got: plain(got.output, tf.uint8), HALF_STEP)


def dequantize(a):
    """Dequantize, MIN_FIRST."""
    codes, (lo, hi) = quantized(a, tf.quint8), ends(*A.range)

    def call():
        return raw.Dequantize(input=codes, min_range=lo, max_range=hi, mode="MIN_FIRST")

    return kept(call, lambda got: got.numpy(), 2**-20)


def requantize(x):
    """Requantize; one step off where its float32 factor falls short."""
    codes, (lo, hi), (to_lo, to_hi) = quantized(x, tf.qint32), ends(-WIDE, WIDE), ends(*A.range)

    def call():
        return raw.Requantize(
            input=codes,
            input_min=lo,
            input_max=hi,
            requested_output_min=to_lo,
            requested_output_max=to_hi,
            out_type=tf.quint8,
        )

    return kept(call, lambda got: plain(got.output, tf.uint8), 1.01)


def min_max(x):
    """Min and Max."""
    codes, axis = tf.constant(x), tf.constant([0])
    return kept(lambda: (raw.Min(input=codes, axis=axis), raw.Max(input=codes, axis=axis)), np.array, 0)


def shifter(multiplier, shift, term):
    """Give a maker for x * multiplier + term >> shift, in int64."""

    def make(x):
        codes, factor, half, right = tf.constant(x), *(tf.constant(v, tf.int64) for v in (multiplier, term, shift))

        def call():
            product = tf.cast(codes, tf.int64) * factor
            return tf.cast(raw.RightShift(x=product + half if term else product, y=right), tf.int32)

        return kept(call, lambda got: got.numpy(), 0)

    return make


CONV2D = of_codes(raw.QuantizedConv2D, "input", "filter", out_type=tf.qint32, strides=[1, 1, 1, 1], padding="SAME")


def affine(name, scale, zero):
    """Give a scale and zero point as arguments."""
    return {f"{name}scales": tf.constant(scale, tf.float32), f"{name}zero_points": tf.constant(zero, tf.int32)}


def limits(name, lowest, highest):
    """Give the ends of the codes as arguments."""
    return {f"{name}quantization_min_val": lowest, f"{name}quantization_max_val": highest}


def uniform_quantize(x):
    """UniformQuantize."""
    given = {"input": tf.constant(x), **affine("", uniform.SCALE, uniform.ZERO), **limits("", -128, 127)}
    return kept(lambda: raw.UniformQuantize(Tout=tf.qint8, **given), lambda got: plain(got, tf.int8), 0)


def uniform_dequantize(q):
    """UniformDequantize."""
    given = {"input": quantized(q, tf.qint8), **affine("", uniform.SCALE, uniform.ZERO), **limits("", -128, 127)}
    return kept(lambda: raw.UniformDequantize(Tout=tf.float32, **given), lambda got: got.numpy(), 0)


def uniform_requantize(in_type, lowest, highest, before, after):
    """Give a maker for UniformRequantize."""

    def make(q):
        given = {"input": quantized(q, in_type), **affine("input_", *before), **affine("output_", *after)}
        given |= limits("input_", lowest, highest) | limits("output_", -128, 127)
        return kept(lambda: raw.UniformRequantize(Tout=tf.qint8, **given), lambda got: plain(got, tf.int8), 0)

    return make


def uniform_add(a, b):
    """UniformQuantizedAdd."""
    affines = {
        "lhs_": (uniform.WIDE, uniform.WIDE_ZERO),
        "rhs_": (uniform.WIDE, uniform.ZERO),
        "output_": (uniform.FINE, 7),
    }
    given = {"lhs": quantized(a, tf.qint32), "rhs": quantized(b, tf.qint32)}
    for name, pair in affines.items():
        given |= affine(name, *pair) | limits(name, -(2**31), 2**31 - 1)
    return kept(lambda: raw.UniformQuantizedAdd(**given), lambda got: plain(got, tf.int32), 0)


FORMS = {
    "tensorflow_relu": {"QuantizedRelu": of_codes(raw.QuantizedRelu, "features", dtype=tf.uint8, out_type=tf.quint8)},
    "tensorflow_mul": {"QuantizedMul": of_codes(raw.QuantizedMul, "x", "y", Toutput=tf.qint32)},
    "tensorflow_concat": {"QuantizedConcat": concat},
    "tensorflow_matmul": {"QuantizedMatMul": of_codes(raw.QuantizedMatMul, "a", "b", Toutput=tf.qint32)},
    **{name: {"QuantizedMaxPool": pool(raw.QuantizedMaxPool, p, 0)} for name, p in pools.MAX_POOLS.items()},
    **{name: {"QuantizedAvgPool": pool(raw.QuantizedAvgPool, p, 1)} for name, p in pools.AVG_POOLS.items()},
    **{name: {"QuantizedConv2D": CONV2D} for name in ("tensorflow_conv2d", "nnlib_conv2d_8x8to32", "conv2d")},
    "quantized_add_8p8to32": {
        "QuantizedAdd": add_32(quantized_add, 25.5),  # its steps are whole codes, which unequal ranges feel
        "QuantizedBiasAdd": add_32(quantized_bias_add, 2.01),
    },
    "quantize": {"QuantizeV2": quantize},
    "dequantize": {"Dequantize": dequantize},
    "requantize_32to8": {"Requantize": requantize},
    "requantization_range": {"Min, Max": min_max},
    "uniform_quantize": {"UniformQuantize": uniform_quantize},
    "uniform_dequantize": {"UniformDequantize": uniform_dequantize},
    "uniform_requantize_8to8": {
        "UniformRequantize": uniform_requantize(tf.qint8, -128, 127, (0.75, uniform.ZERO), (1.0, 5))
    },
    "uniform_requantize_32to8": {
        "UniformRequantize": uniform_requantize(
            tf.qint32, -(2**31), 2**31 - 1, (uniform.WIDE, uniform.WIDE_ZERO), (uniform.SCALE, uniform.ZERO)
        )
    },
    "uniform_quantized_add": {"UniformQuantizedAdd": uniform_add},
    "multiply_shift": {"int64": shifter(round(FACTOR * 2**7), 7, 0)},
    "multiply_shift_half_up": {"int64": shifter(MULTIPLIER, RIGHT_SHIFT, 1 << (RIGHT_SHIFT - 1))},
}

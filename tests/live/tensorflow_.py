"""TensorFlow: the raw ops beside `qops.tensorflow`; ``TF_ENABLE_ONEDNN_OPTS=1 make live`` with oneDNN on."""

import os

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from adaptors.tensorflow import ADAPTORS, ONEDNN
from draws import Known, Pair, codes, length, pick, scale, values, zero_point

VERSION = tf.__version__
tf.config.threading.set_intra_op_parallelism_threads(1)
PLAIN = {"quint8": np.uint8, "qint8": np.int8, "quint16": np.uint16, "qint16": np.int16, "qint32": np.int32}
HAS_ONEDNN = os.environ["TF_ENABLE_ONEDNN_OPTS"] == "1"


class Typed:
    """Codes and the quantized type that TensorFlow gets them as."""

    def __init__(self, data, T):
        self.data, self.T = np.asarray(data, PLAIN[T]), T

    def __repr__(self):
        return f"{self.T}{list(self.data.shape)} {self.data.ravel()[:60].tolist()}"


def each(value, change):
    """A value, or each member of a list, changed."""
    return [change(one) for one in value] if isinstance(value, list) else change(value)


def given(value):
    """An input as a tensor."""
    if isinstance(value, Typed):
        return tf.bitcast(tf.constant(value.data), value.T)
    return tf.constant(value, tf.float32) if isinstance(value, float) else tf.constant(value)


def taken(value):
    """An output as an array."""
    plain = PLAIN.get(value.dtype.name)
    return (value if plain is None else tf.bitcast(value, plain)).numpy()


def pair(op, inputs, known=None, **attrs):
    """The op on both sides, by TensorFlow's names."""

    def system():
        made = getattr(tf.raw_ops, op)(**{name: each(value, given) for name, value in inputs.items()}, **attrs)
        return [taken(value) for value in (made if isinstance(made, tuple) else [made])]

    def ours():
        plain = {
            name: each(value, lambda one: one.data if isinstance(one, Typed) else one) for name, value in inputs.items()
        }
        onednn = {"onednn": HAS_ONEDNN} if op in ONEDNN else {}
        made = ADAPTORS[op](plain, attrs | onednn).values()
        return [np.float32(value) if isinstance(value, float) else value for value in made]

    return Pair(system, ours, inputs | attrs, known=known)


def span(rng):
    """A range: from 0, symmetric, or around 0 with ends in simple proportions."""
    s = scale(rng)
    low, high = pick(rng, [(0, 255), (-128, 127), (-1, 1), (-3, 1), (-100, 155), (0, 6), (-int(rng.integers(9)), 4)])
    return float(np.float32(low * s)), float(np.float32(high * s))


def tensor(rng, shape, T, data, low, high):
    """Codes with a range, by the names of the inputs."""
    lo, hi = span(rng)
    return {data: Typed(codes(rng, shape, PLAIN[T]), T), low: lo, high: hi}


def of_name(rng, shape, name, T="quint8"):
    return tensor(rng, shape, T, name, f"min_{name}", f"max_{name}")


def image(rng, name="input"):
    shape = (int(rng.integers(1, 3)), int(rng.integers(3, 8)), int(rng.integers(3, 8)), length(rng, 17))
    return of_name(rng, shape, name)


def sums(rng, shape, *names):
    """int32 codes, large and small, with a range; it is symmetric in most draws."""
    x = rng.integers(-(2**31), 2**31, shape, np.int32) >> int(rng.integers(0, 20))
    lo, hi = span(rng)
    lo = -hi if rng.random() < 0.7 else lo
    return dict(zip(names or ("input", "input_min", "input_max"), (Typed(x, "qint32"), lo, hi), strict=True))


def quantize(rng):
    T, mode = pick(rng, [*PLAIN]), pick(rng, ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
    lo, hi = span(rng)
    inputs = {"input": values(rng, length(rng), max(hi - lo, 1e-3) / 255), "min_range": lo, "max_range": hi}
    ties = "HALF_TO_EVEN" if mode == "SCALED" and rng.random() < 0.5 else "HALF_AWAY_FROM_ZERO"
    narrow = bool(rng.random() < 0.2)
    return pair("QuantizeV2", inputs, T=T, mode=mode, round_mode=ties, narrow_range=narrow)


def dequantize(rng):
    inputs = tensor(rng, length(rng), pick(rng, [*PLAIN]), "input", "min_range", "max_range")
    return pair("Dequantize", inputs, mode=pick(rng, ["MIN_COMBINED", "MIN_FIRST", "SCALED"]))


def elementwise(op):
    def make(rng):
        shape = (int(rng.integers(1, 4)), length(rng, 65))
        other = pick(rng, [shape, shape[1:], (1,)])
        return pair(op, of_name(rng, shape, "x") | of_name(rng, other, "y"), Toutput="qint32")

    return make


def bias_add(rng):
    n = length(rng, 65)
    inputs = of_name(rng, (int(rng.integers(1, 4)), n), "input") | of_name(rng, n, "bias")
    return pair("QuantizedBiasAdd", inputs, out_type="qint32")


def concat(rng):
    parts = [of_name(rng, (3, length(rng, 17)), "x") for _ in range(int(rng.integers(2, 5)))]
    names = {"values": "x", "input_mins": "min_x", "input_maxes": "max_x"}
    return pair(
        "QuantizedConcat", {"concat_dim": 1} | {name: [part[key] for part in parts] for name, key in names.items()}
    )


def matmul(rng):
    m, k, n = length(rng, 9), length(rng, 65), length(rng, 33)
    transposed = bool(rng.random() < 0.3)
    inputs = of_name(rng, (m, k), "a") | of_name(rng, (n, k) if transposed else (k, n), "b")
    return pair("QuantizedMatMul", inputs, Toutput="qint32", transpose_b=transposed)


def conv2d(rng):
    x, step = image(rng), int(rng.integers(1, 3))
    taps = (int(rng.integers(1, 4)), int(rng.integers(1, 4)), x["input"].data.shape[3], length(rng, 17))
    moves = {"strides": [1, step, step, 1], "padding": pick(rng, ["SAME", "VALID"])}
    return pair("QuantizedConv2D", x | of_name(rng, taps, "filter"), out_type="qint32", **moves)


def pool(op):
    def make(rng):
        taps, steps = ([1, int(rng.integers(1, 4)), int(rng.integers(1, 4)), 1] for _ in "ks")
        return pair(op, image(rng), ksize=taps, strides=steps, padding=pick(rng, ["SAME", "VALID"]))

    return make


def relu(op):
    return lambda rng: pair(op, of_name(rng, length(rng), "features"), out_type="quint8")


def reshape(rng):
    n = length(rng)
    inputs = tensor(rng, (2, n), "quint8", "tensor", "input_min", "input_max")
    return pair("QuantizedReshape", inputs | {"shape": np.int32([n, -1])})


def requantize(rng):
    lo, hi = span(rng)
    wanted = {"requested_output_min": lo, "requested_output_max": hi}
    return pair("Requantize", sums(rng, length(rng)) | wanted, out_type=pick(rng, ["quint8", "qint8"]))


def per_channel(rng):
    """int32 codes (N, H, W, C) with a range for each channel."""
    channels = length(rng, 33)
    x = rng.integers(-(2**30), 2**30, (1, 2, 3, channels), np.int32)
    high = np.float32([scale(rng) for _ in range(channels)])
    return {"input": Typed(x, "qint32"), "input_min": -high, "input_max": high}


def requantize_per_channel(rng):
    _, hi = span(rng)
    inputs = per_channel(rng) | {"requested_output_min": -hi, "requested_output_max": hi}
    return pair("RequantizePerChannel", inputs, out_type=pick(rng, ["quint8", "qint8"]))


def resize(rng):
    x = image(rng, "images")
    inputs = {"images": x["images"], "min": x["min_images"], "max": x["max_images"]}
    inputs["size"] = rng.integers(1, 9, 2).astype(np.int32)
    ways = {"align_corners": False, "half_pixel_centers": False} | pick(
        rng, [{}, {"align_corners": True}, {"half_pixel_centers": True}]
    )
    return pair("QuantizedResizeBilinear", inputs, **ways)


def is_near(theirs, ours):
    """Whether a range is within 1e-6 of its size, and codes within 2 of the others."""
    (y, *ends), (x, *own) = theirs, ours
    off = np.abs(np.subtract(ends, own, dtype=np.float64)).max()
    return off <= 1e-6 * np.abs(ends).max() and np.abs(y.astype(int) - x).max() <= 2


SUMS = "Eigen adds floats in another order, its inverse root is not rounded: range to 1e-6, codes to 2 (docstring)"


def instance_norm(rng):
    x = image(rng, "x")
    inputs = {"x": x["x"], "x_min": x["min_x"], "x_max": x["max_x"]}
    return pair("QuantizedInstanceNorm", inputs, Known(SUMS, is_near), variance_epsilon=float(np.float32(0.01)))


def batch_norm(rng):
    channels, inputs = int(rng.integers(2, 9)), {}
    for name in ("t", "m", "v", "beta", "gamma"):
        shape = (1, 2, 3, channels) if name == "t" else channels
        inputs |= tensor(rng, shape, "quint8", name, f"{name}_min", f"{name}_max")
    inputs["v_min"], inputs["v_max"] = 0.0, abs(inputs["v_max"])
    options = {"variance_epsilon": float(np.float32(0.01)), "scale_after_normalization": bool(rng.random() < 0.5)}
    return pair("QuantizedBatchNormWithGlobalNormalization", inputs, out_type="qint32", **options)


def affine(rng, prefix, T="qint8"):
    """A scale and a zero point by their names, and the ends of the codes, which are attributes."""
    row, zero = np.iinfo(PLAIN[T]), zero_point(rng, np.int8)
    numbers = {f"{prefix}scales": np.float32(scale(rng)), f"{prefix}zero_points": np.int32(zero)}
    return numbers, {f"{prefix}quantization_min_val": int(row.min), f"{prefix}quantization_max_val": int(row.max)}


def uniform(op, types, shapes, **attrs):
    """A maker for a Uniform op: the types by the prefixes of its scales, the inputs' shapes by their names."""

    def make(rng):
        inputs, options = {}, dict(attrs)
        for name, shape in shapes(rng).items():
            T = types.get(f"{name}_", types.get("", types.get("input_", "qint32")))
            inputs[name] = Typed(codes(rng, shape, PLAIN[T], 0), T)
        for prefix, T in types.items():
            numbers, limits = affine(rng, prefix, T)
            inputs, options = inputs | numbers, options | limits
        return pair(op, inputs, **options)

    return make


def uniform_quantize(rng):
    T = pick(rng, ["qint8", "quint8"])
    numbers, limits = affine(rng, "", T)
    inputs = {"input": values(rng, length(rng), float(numbers["scales"])), **numbers}
    return pair("UniformQuantize", inputs, Tout=T, **limits)


def clip(rng):
    numbers, limits = affine(rng, "", "qint32")
    inputs = {"operand": Typed(rng.integers(-999, 999, length(rng)), "qint32")}
    inputs |= {"min": Typed(-int(rng.integers(500)), "qint32"), "max": Typed(int(rng.integers(500)), "qint32")}
    return pair("UniformQuantizedClipByValue", inputs | numbers, **limits)


def vector(name):
    return lambda rng: {name: (length(rng),)}


def two_matrices(rng):
    k = length(rng, 65)
    return {"lhs": (length(rng, 9), k), "rhs": (k, length(rng, 33))}


def two_images(rng):
    channels = int(rng.integers(1, 9))
    return {"lhs": (2, channels, 6, 5), "rhs": (length(rng, 9), channels, int(rng.integers(1, 4)), 2)}


WIDE = {"lhs_": "qint32", "rhs_": "qint32", "output_": "qint32"}
NARROW = {"lhs_": "qint8", "rhs_": "qint8", "output_": "qint32"}
OPS = {
    "QuantizeV2": quantize,
    "Dequantize": dequantize,
    "QuantizedAdd": elementwise("QuantizedAdd"),
    "QuantizedMul": elementwise("QuantizedMul"),
    "QuantizedBiasAdd": bias_add,
    "QuantizedConcat": concat,
    "QuantizedMatMul": matmul,
    "QuantizedConv2D": conv2d,
    "QuantizedMaxPool": pool("QuantizedMaxPool"),
    "QuantizedAvgPool": pool("QuantizedAvgPool"),
    "QuantizedRelu": relu("QuantizedRelu"),
    "QuantizedRelu6": relu("QuantizedRelu6"),
    "QuantizedReshape": reshape,
    "Requantize": requantize,
    "RequantizationRange": lambda rng: pair("RequantizationRange", sums(rng, length(rng))),
    "QuantizeDownAndShrinkRange": lambda rng: pair(
        "QuantizeDownAndShrinkRange", sums(rng, length(rng)), out_type="quint8"
    ),
    "RequantizePerChannel": requantize_per_channel,
    "RequantizationRangePerChannel": lambda rng: pair(
        "RequantizationRangePerChannel", per_channel(rng), clip_value_max=float(np.float32(scale(rng)))
    ),
    "QuantizedResizeBilinear": resize,
    "QuantizedInstanceNorm": instance_norm,
    "QuantizedBatchNormWithGlobalNormalization": batch_norm,
    "UniformQuantize": uniform_quantize,
    "UniformDequantize": uniform("UniformDequantize", {"": "qint8"}, vector("input"), Tout="float32"),
    "UniformRequantize": uniform(
        "UniformRequantize", {"input_": "qint32", "output_": "qint8"}, vector("input"), Tout="qint8"
    ),
    "UniformQuantizedAdd": uniform("UniformQuantizedAdd", WIDE, lambda rng: dict.fromkeys(("lhs", "rhs"), (9,))),
    "UniformQuantizedClipByValue": clip,
    "UniformQuantizedDot": uniform("UniformQuantizedDot", NARROW, two_matrices, Tout="qint32"),
    "UniformQuantizedConvolution": uniform(
        "UniformQuantizedConvolution", NARROW, two_images, Tout="qint32", padding="VALID"
    ),
}

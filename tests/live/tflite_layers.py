"""Random models of one operator with a window or with weights: pools, layers, products, SVDF and LSTM."""

from functools import partial

import draws
import numpy as np
from draws import codes, length, pick
from tflite_net import CHANNELS, activation, scale, shape, zero_point

from qops.tflite.kernels import KERNELS

RELU = 1  # the only activation that LiteRT's SVDF takes, and does not apply
INT32 = 2  # the number of this type in the schema
TANH_ACTIVATION = 4


def window(rng, image=None):
    """Height and width of a window that fits in an image, and how it moves: padding 0 is SAME, 1 is VALID."""
    padding = int(rng.integers(2))
    most = (4, 4) if padding == 0 or image is None else [min(4, n + 1) for n in image.shape[1:3]]
    taps = tuple(int(rng.integers(1, n)) for n in most)
    return taps, {"StrideH": int(rng.integers(1, 4)), "StrideW": int(rng.integers(1, 4)), "Padding": padding}


def pool(kind, net):
    x, rng = net.image(), net.rng
    taps, moves = window(rng, x)
    options = {**moves, "FilterHeight": taps[0], "FilterWidth": taps[1], **activation(rng)}
    is_fused = kind == "MAX_POOL_2D" and net.results and KERNELS[net.kernel].max_pool_same
    same = rng.random() < 0.9 or is_fused  # XNNPACK makes one operator of a layer and a pool that only cuts its codes
    net.op(kind, [x], net.tensor(net.dtype, x.scale, x.zero_point) if same else net.result(x.scale), **options)


def weights(net, shape, axis, count, narrow=False):
    """Weights with a scale for each channel or one: of uint8, int8 or, if `narrow`, int4 too."""
    rng = net.rng
    dtype = "uint8" if net.dtype == "uint8" else "int8"
    if narrow and net.dtype == "int8" and rng.random() < 0.25:
        dtype = "int4"
    near = int(rng.integers(100, 150)) if dtype == "uint8" else 0
    data = codes(rng, shape, np.uint8 if dtype == "uint8" else np.int8, near)
    if dtype == "int4":
        data = rng.integers(-8, 8, shape).astype(np.int8)
    each = dtype != "uint8" and rng.random() < 0.6
    s = np.float32([scale(rng) for _ in range(count)]) if each and count > 1 else np.float32(scale(rng))
    return net.constant(data, s, near, axis if s.ndim else None, dtype)


def bias(net, x, w, count, narrow=False, needed=False):
    """A bias or, unless it is `needed`, none; of int16 of int64 or, if `narrow` and an option says so, of int32."""
    rng = net.rng
    if rng.random() < 0.15 and not needed:
        return [], {}
    small = np.int64(rng.integers(-9, 10, count)) * pick(rng, [1, 1, 100, 10**6])
    narrow = net.dtype != "int16" or (narrow and rng.random() < 0.3)
    options = {"QuantizedBiasType": INT32} if narrow and net.dtype == "int16" else {}
    scales = (x.scale * w.scale).astype(np.float32)
    return [
        net.constant(small.astype(np.int32 if narrow else np.int64), scales, axis=0 if scales.ndim else None)
    ], options


def layer(kind, net):
    """CONV_2D and DEPTHWISE_CONV_2D."""
    x, rng = net.image(), net.rng
    taps, moves = window(rng, x)
    options = {**moves, **activation(rng)}
    dilation = int(rng.integers(1, 3)) if moves["Padding"] == 0 and rng.random() < 0.3 else 1
    channels = x.shape[3]
    if kind == "CONV_2D":
        count, groups = (
            int(pick(rng, CHANNELS)),
            int(pick(rng, [g for g in (1, 2, 3) if channels % g == 0])) if rng.random() < 0.2 else 1,
        )
        count *= groups
        w = weights(net, (count, *taps, channels // groups), 0, count, True)
    else:
        count = channels * int(pick(rng, [1, 1, 1, 2, 3]))
        w = weights(net, (1, *taps, count), 3, count, not net.kernel.startswith("reference"))
        options["DepthMultiplier"] = count // channels
    ends = kind == "DEPTHWISE_CONV_2D" and net.dtype != "int16" and KERNELS[net.kernel].depthwise_needs_bias
    more, typed = bias(net, x, w, count, kind == "CONV_2D", needed=ends)  # without one LiteRT ends the process
    y = net.result(x.scale, np.max(w.scale))
    net.op(kind, [x, w, *more], y, **options, **typed, DilationHFactor=dilation, DilationWFactor=dilation)


def connected(net):
    x, rng = net.x or net.input(shape(net.rng, int(net.rng.integers(1, 4)))), net.rng
    count = int(pick(rng, CHANNELS))
    w = weights(net, (count, x.shape[-1]), 0, count, True)
    more, typed = bias(net, x, w, count, narrow=True)
    y = net.result(x.scale, np.max(w.scale))
    net.op("FULLY_CONNECTED", [x, w, *more], y, **activation(rng), **typed, KeepNumDims=bool(rng.random() < 0.5))


def transposed(net):
    x, rng = net.image(), net.rng
    (n, h, width, channels), count = x.shape, int(pick(rng, CHANNELS))
    taps, how = window(rng)
    steps = how["StrideH"], how["StrideW"]
    sizes = [
        size * s if how["Padding"] == 0 else (size - 1) * s + max(k, s)
        for size, s, k in zip((h, width), steps, taps, strict=True)
    ]
    w = weights(net, (count, *taps, channels), 0, count)
    more, typed = bias(net, x, w, count, net.kernel != "tflm")
    y = net.result(x.scale, np.max(w.scale))
    net.op(
        "TRANSPOSE_CONV",
        [net.constant(np.int32([n, *sizes, count])), w, x, *more],
        y,
        **how,
        **typed,
        **activation(rng),
    )


def matmul(net):
    rng = net.rng
    k, n = int(length(rng, 65)), int(length(rng, 65))
    a = net.x or net.input((*shape(rng, int(rng.integers(2, 4)))[:-1], k))
    k, adj_x, adj_y = a.shape[-2 if (adj := bool(rng.random() < 0.3)) else -1], adj, bool(rng.random() < 0.5)
    ends = (n, k) if adj_y else (k, n)
    lead = tuple(m if rng.random() < 0.7 else 1 for m in a.shape[:-2])
    dtype = net.dtype if net.dtype == "int8" or rng.random() < 0.5 else "int8"
    zero = 0 if rng.random() < 0.5 else zero_point(rng, dtype)
    if rng.random() < 0.5:
        b = net.constant(codes(rng, (*lead, *ends), np.dtype(dtype).type, zero), scale(rng), zero)
    else:
        b = net.input((*lead, *ends), dtype, scale(rng), zero)
    net.op("BATCH_MATMUL", [a, b], net.result(a.scale, b.scale), AdjX=adj_x, AdjY=adj_y)


def svdf(net):
    rng = net.rng
    batch, size, units, rank, memory = (int(rng.integers(1, most)) for most in (4, 20, 9, 3, 11))
    x = net.input((batch, size))
    feature = net.constant(codes(rng, (rank * units, size), np.int8, 0), scale(rng))
    is_narrow = net.kernel == "tflm" and rng.random() < 0.5  # the others have a state of 16 bits alone
    kept = np.int8 if is_narrow else np.int16
    time = net.constant(codes(rng, (rank * units, memory), kept, 0), scale(rng) / (2 if is_narrow else 512))
    s, zero = draws.result_scale(rng, float(x.scale), float(feature.scale)), zero_point(rng, kept) if is_narrow else 0
    state = net.tensor(kept.__name__, s, zero, (batch, memory * rank * units))
    off = 0 if rng.random() < 0.8 else pick(rng, [9e-6, 1.1e-5, -9e-6, -1.1e-5, 0.5])
    s = max(float(np.float32(state.scale * time.scale)) + off, 2.0**-40)
    biases = net.constant(rng.integers(-999, 1000, units).astype(np.int32), s)
    y = net.result(state.scale, time.scale)
    net.op("SVDF", [x, feature, time, biases, state], y, Rank=rank, FusedActivationFunction=RELU)


def lstm(net):
    """Scales of weights that take sums to 2**-12 in simple proportions."""
    rng, major = net.rng, bool(net.rng.random() < 0.3)
    batch, steps, size, cells = (int(rng.integers(1, most)) for most in (4, 6, 20, 10))
    x = net.input((steps, batch, size) if major else (batch, steps, size))
    s, z = pick(rng, [1 / 128, 1 / 127, 1 / 256, 2.0**-15, float(rng.uniform(0.002, 0.02))]), zero_point(rng, net.dtype)

    def four(shape, of):
        ratios = [pick(rng, [1, 0.5, 0.25, 0.75, 3, 1 / 3, float(rng.uniform(0.01, 2))]) for _ in range(4)]
        codes_of = [codes(rng, shape, np.int8, 0) for _ in ratios]
        return [net.constant(w, float(np.float32(2.0**-12 * r / of))) for w, r in zip(codes_of, ratios, strict=True)]

    w, r = four((cells, size), float(x.scale)), four((cells, cells), s)
    wide = np.int64 if net.dtype == "int16" else np.int32
    biases = [net.constant(rng.integers(-9999, 9999, cells).astype(wide), float(x.scale * t.scale)) for t in w]
    power = int(rng.integers(9 if net.kernel != "tflm" else 4, 13))
    states = [net.tensor(net.dtype, s, z, (batch, cells)), net.tensor("int16", 2.0**-power, 0, (batch, cells))]
    inner = [net.tensor("int16", 2.0**-12, 0, (0,)) for _ in range(4)] + [net.tensor(net.dtype, s, z, (0,))]
    given = [x, *w, *r, None, None, None, *biases, None, None, *states, None, None, None, None]
    clip = pick(rng, [0.0, 0.0, 1.0, float(rng.uniform(0.01, 4))])
    options = {"FusedActivationFunction": TANH_ACTIVATION, "CellClip": clip, "TimeMajor": major}
    net.op("UNIDIRECTIONAL_SEQUENCE_LSTM", given, net.tensor(net.dtype, s, z), inner, **options)


DRAWN = {
    **{kind: partial(layer, kind) for kind in ("CONV_2D", "DEPTHWISE_CONV_2D")},
    **{"FULLY_CONNECTED": connected, "TRANSPOSE_CONV": transposed, "BATCH_MATMUL": matmul},
    **{kind: partial(pool, kind) for kind in ("AVERAGE_POOL_2D", "MAX_POOL_2D")},
    **{"SVDF": svdf, "UNIDIRECTIONAL_SEQUENCE_LSTM": lstm},
}
"""What draws an operator, by its name."""

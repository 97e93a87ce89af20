"""A case for every kernel with SIMD lanes: random arguments, extremes among them, as a call ready to be made."""

import random
from functools import cache

import numpy as np

import qops
from qops import codes
from qops._kernels.frontdoor import epilogue, layer
from qops._kernels.nnlib import bias_add
from qops._kernels.onednn import destination
from qops._kernels.stage import affine
from qops._kernels.stage import range as extremes
from qops._kernels.tensorflow import quantize as tensorflow_quantize
from qops._kernels.tensorflow import requantize as tensorflow_requantize
from qops.onednn import cast

INT32 = np.iinfo(np.int32)
EDGES = {
    np.uint8: np.uint8([0, 1, 127, 128, 254, 255]),
    np.int8: np.int8([-128, -127, -1, 0, 1, 126, 127]),
    np.uint16: np.uint16([0, 1, 255, 256, 2**15, 2**16 - 1]),
    np.int16: np.int16([-(2**15), -256, -1, 0, 1, 255, 2**15 - 1]),
    np.int32: np.int32([INT32.min, INT32.min + 1, -1, 0, 1, INT32.max - 1, INT32.max, 2**30, -(2**30)]),
    np.float32: np.float32(
        [
            0.0,
            -0.0,
            0.5,
            1.5,
            -0.5,
            2.5,
            1e-45,
            -1e-45,
            3.4e38,
            -3.4e38,
            np.inf,
            -np.inf,
            np.nan,
            2**31,
            -(2**31),
            254.5,
        ]
    ),
}


class Source:
    """Random numbers as numpy's generator gives them. A single one is of Python's, in a tenth of the time."""

    def __init__(self, word):
        self.one, self.many = random.Random(word), np.random.default_rng([*word.encode()])
        self.normal = self.many.normal

    def random(self, size=None):
        return self.one.random() if size is None else self.many.random(size)

    def uniform(self, low, high, size=None):
        return self.one.uniform(low, high) if size is None else self.many.uniform(low, high, size)

    def integers(self, low, high=None, size=None, dtype=np.int64):
        if size is not None:
            return self.many.integers(low, high, size, dtype)
        return below(self, low) if high is None else low + below(self, high - low)


def below(rng, top):
    """An integer from 0 to below `top`."""
    return int(rng.one.random() * top)


def unaligned(rng, n, dtype):
    """N elements that start at any element of a bigger buffer."""
    buffer = np.zeros(n + 80, dtype)
    start = below(rng, 80)
    return buffer[start : start + n]


PERIOD = 20_011
"""After how many elements the values of a long array repeat: a prime number, so no vector and no block divides it."""


@cache
def pool(dtype, finite, *shifts):
    """Random values of one size, one in eight extreme; made once, as drawing an array takes longer than to test it."""
    rng, edges = np.random.default_rng([np.dtype(dtype).num, *shifts]), EDGES[dtype]
    if dtype == np.float32:
        values = np.float32(rng.normal(0, 2.0 ** (shifts[0] - 4), PERIOD))
        edges = edges[np.isfinite(edges)] if finite else edges
    else:
        info = np.iinfo(dtype)
        values = rng.integers(info.min >> shifts[0], (info.max >> shifts[1]) + 1, PERIOD).astype(dtype)
    extreme = rng.random(PERIOD) < 1 / 8
    values[extreme] = edges[rng.integers(0, edges.size, np.count_nonzero(extreme))]
    return values


def drawn(rng, n, dtype, finite=False):
    """A piece of such values, of any size; beyond PERIOD they repeat."""
    array, some = unaligned(rng, n, dtype), min(n, PERIOD)
    shifts = [below(rng, top) for top in ((13,) if dtype == np.float32 else (20, 2))]
    start = below(rng, PERIOD + 1 - some)
    array[:some] = pool(dtype, finite, *shifts)[start : start + some]
    if n > PERIOD:
        array[PERIOD:] = np.resize(array[:PERIOD], n - PERIOD)
    return array


def ends(rng):
    """A range: around 0, from 0 on, to 0, or anywhere; as float32 values."""
    size = 2.0 ** (below(rng, 13) - 6)
    lo, hi = sorted((rng.one.gauss(0, size), rng.one.gauss(0, size)))
    lo, hi = one_of(rng, (-abs(lo), abs(hi)), (0, abs(hi)), (-abs(lo), 0), (lo, hi), (-abs(hi), abs(hi)))
    return float(np.float32(lo)), float(np.float32(hi)) + 2.0**-10


def one_of(rng, *values):
    """One of a few values."""
    return values[below(rng, len(values))]


def type_8(rng):
    """The type of codes of 8 bits."""
    return one_of(rng, np.uint8, np.int8)


def codes_8(rng, n):
    return drawn(rng, n, type_8(rng))


def add_8(rng, n):
    """The 8-bit add or difference, its output range anything from far too narrow to too wide, and what it found."""
    (a_lo, a_hi), (b_lo, b_hi) = ends(rng), ends(rng)
    share = rng.uniform(0.02, 1.2)
    a, b = (codes_8(rng, n), a_lo, a_hi), (codes_8(rng, n), b_lo, b_hi)
    kept, out = ((a_lo + b_lo) * share, (a_hi + b_hi) * share + 2.0**-9), unaligned(rng, n, type_8(rng))
    op = one_of(rng, qops.add, qops.sub)
    return lambda: (out, *op(a, b, range=kept, dtype=out.dtype, out=out, return_info=True)[1])


def mul_8(rng, n):
    """The 8-bit product, its output range about what the products span, or much less."""
    (a_lo, a_hi), (b_lo, b_hi) = ends(rng), ends(rng)
    corners, share = [x * y for x in (a_lo, a_hi) for y in (b_lo, b_hi)], one_of(rng, 0.01, 0.3, 1.1)
    a, b = (codes_8(rng, n), a_lo, a_hi), (codes_8(rng, n), b_lo, b_hi)
    kept, out = (min(corners) * share, max(corners) * share + 2.0**-9), unaligned(rng, n, type_8(rng))
    return lambda: (out, *qops.mul(a, b, range=kept, dtype=out.dtype, out=out, return_info=True)[1])


def add_32(rng, n):
    """The add into int32."""
    a, b = (codes_8(rng, n), *ends(rng)), (codes_8(rng, n), *ends(rng))
    out = unaligned(rng, n, np.int32)
    return lambda: (out, qops.add(a, b, dtype=np.int32, out=out).max)


def mul_32(rng, n):
    """The product into int32."""
    a, b = (codes_8(rng, n), *ends(rng)), (codes_8(rng, n), *ends(rng))
    out = unaligned(rng, n, np.int32)
    return lambda: (out, qops.mul(a, b, dtype=np.int32, out=out).max)


def bias_add_32(rng, n):
    """The float formula of nnlib."""
    x, bias = (drawn(rng, n, np.uint8), *ends(rng)), (drawn(rng, n, np.uint8), *ends(rng))
    out = unaligned(rng, n, np.int32)
    return lambda: (out, bias_add.bias_add_8p8to32(x, bias, out))


def bias_add_32_far(rng, n):
    """The float formula of nnlib: a bias whose zero is around 2**23 or beyond, and sums next to integers."""
    lo = -(2.0 ** rng.integers(0, 20))
    x, b = (0, -255 * lo / 2**15), (lo, lo * (1 - rng.uniform(1, 2) * 2.0 ** -rng.integers(13, 20)))
    x, bias, out = (drawn(rng, n, np.uint8), *x), (drawn(rng, n, np.uint8), *b), unaligned(rng, n, np.int32)
    return lambda: (out, bias_add.bias_add_8p8to32(x, bias, out))


def quantized(rng, n):
    """Also with steps so small that all is infinite, and a range of no width."""
    x, out = drawn(rng, n, np.float32), unaligned(rng, n, [np.uint8, np.int8][rng.integers(0, 2)])
    lo, hi = np.multiply(ends(rng), [0.0, 2.0**-120, 1.0, 1.0][rng.integers(0, 4)]).tolist()
    return lambda: qops.quantize(x, lo, hi, dtype=out.dtype, nan="lowest", out=out)


def dequantized(rng, n):
    """Ranges with and without 0 on a code, and of no width."""
    data, out, (lo, hi) = drawn(rng, n, np.uint8), unaligned(rng, n, np.float32), ends(rng)
    on_code = affine.range_holding_zero(min(lo, 0), max(hi, 0), codes.of(data))[:2]
    lo, hi = [(lo, hi), on_code, (lo, lo), (0, 0), (-(2.0**-149), 2.0**-149)][rng.integers(0, 5)]
    return lambda: (qops.dequantize((data, lo, hi), out=out),)


def requantized(rng, n):
    """Steps from one that nothing can see to one beyond the whole output range."""
    x, dtype, (lo, hi) = drawn(rng, n, np.int32), [np.uint8, np.int8][rng.integers(0, 2)], ends(rng)
    out = unaligned(rng, n, dtype)
    widest = float(np.abs(x, dtype=np.float64).mean()) + 1 if n else 1.0
    step = (hi - lo) * [0.0, 2.0 ** rng.uniform(-40, 6), 2.0 ** rng.uniform(-2, 2) / widest][rng.integers(0, 3)]
    return lambda: qops.requantize((x, -step * 2**31, step * 2**31), lo, hi, dtype=dtype, out=out)


def requantized_at_steps(rng, n):
    """Codes on both sides of where the result changes, or far beyond it."""
    x, dtype, (lo, hi) = unaligned(rng, n, np.int32), [np.uint8, np.int8][rng.integers(0, 2)], ends(rng)
    out, top = unaligned(rng, n, dtype), float(np.float32((hi - lo) * 2.0 ** rng.uniform(-3, 7)))
    ratio = top / 2**31 / ((hi - lo) / 255)
    changes = (lo / (hi - lo) * 255 + rng.integers(-1, 257, n) + 0.5) / ratio + rng.integers(-3, 4, n)
    x[:] = np.clip(np.where(rng.random(n) < 1 / 8, changes * 8, changes), INT32.min, INT32.max)
    return lambda: qops.requantize((x, -top, top), lo, hi, dtype=dtype, out=out)


def spanned(rng, n):
    """The extremes of int32."""
    x = drawn(rng, n, np.int32)
    return lambda: extremes.range_32(x)


def spanned_float(rng, n):
    """The extremes of finite float32; the sign of a zero is left open."""
    x = drawn(rng, n, np.float32, finite=True)
    return lambda: tuple(end + 0.0 for end in extremes.range_float(x)[:2]) + extremes.range_float(x)[2:]


def finite(rng, n):
    """Whether all values are finite, where few or none are not."""
    x = drawn(rng, n, np.float32, finite=True)
    if n and rng.integers(2):
        x[rng.integers(0, n)] = one_of(rng, np.inf, -np.inf, np.nan)
    return lambda: extremes.range_float(x)[2:]


def shifted(rounding):
    """A case of multiply_shift under one rounding rule."""

    def case(rng, n):
        x, out = drawn(rng, n, np.int32), unaligned(rng, n, np.int32)
        shift = 15 if rounding == "hvx" else int(rng.integers(0, 63))
        top = 2**15 if rounding == "hvx" else 2**31
        multiplier = int(rng.integers(1 - top, top)) >> int(rng.integers(0, 31 if rounding != "hvx" else 15))
        if rounding == "hvx":
            x[:] = x.astype(np.int16)
        return lambda: (out, qops.fixedpoint.apply_multiplier(x, multiplier, shift, rounding=rounding, out=out))

    return case


def step(name, dtype=np.float32, operand=None):
    """A case of one of oneDNN's float32 steps, in place; of the conversion alone if it has no name."""

    def case(rng, n):
        x, old = drawn(rng, n, dtype, finite=True), drawn(rng, n, np.float32, finite=True)
        given = drawn(rng, n, np.float32, finite=True) if name in ("add", "multiply", "divide") else float(rng.normal())
        out, steps = unaligned(rng, n, dtype), [(name, given if operand is None else operand)] if name else []

        def run():
            out[:] = x
            destination.finish(out, steps, old)
            return (out,)

        return run

    return case


def layered(dtype):
    """A case of sums of products with terms of rows and of columns, a bias and a clip."""

    def case(rng, n):
        m, n = (1, n) if n < 9000 else (n // 61, 61)
        sums, out = drawn(rng, m * n, np.int32).reshape(m, n), unaligned(rng, m * n, dtype).reshape(m, n)
        rows = rng.integers(-(2**20), 2**20, (m, n)[: rng.integers(1, 3)], dtype=np.int32)
        columns = rng.integers(-(2**20), 2**20, (2, n), dtype=np.int32)
        terms = columns, np.int64([n, 5]), rng.integers(0, 2, 3)
        low = rng.uniform(-1, 0, n).astype(np.float32)
        bias, clip = rng.normal(0, 1e7, n), (-np.inf, rng.uniform(1e6, 1e7))
        op = epilogue.Epilogue(2**17, n, low, low + 1, bias, False, out.dtype.num, clip, None, (None, 3.0), "a, b")
        x = op.left(-1.0, 2.0)
        tops = op.tops(x) if dtype == np.int32 else None

        def run():
            watched, copied = op.watch(x, rows, terms, m), np.empty_like(sums)
            layer.run_stage(watched, sums, copied)
            found = tops if dtype == np.int32 else op.watched_range(watched, x)
            layer.run_stage(op.stage(x, rows, terms, found), sums, out)
            return out, np.ravel(found).tolist()

        return run

    return case


def layered_near(rng, n):
    """Sums of products whose rows add nothing, most by float32; some codes saturate, some are clipped."""
    m, n = (1, n) if n < 9000 else (n // 61, 61)
    sums, out = drawn(rng, m * n, np.int32).reshape(m, n), unaligned(rng, m * n, np.int8).reshape(m, n)
    top, rows = rng.uniform(1, 3, n).astype(np.float32), np.zeros(m, np.int32)
    clip, bias = (-np.inf, 70.0 * 2.0**24), rng.uniform(-(2.0**29), one_of(rng, 2.0**29, 2.0**31), n)
    op = epilogue.Epilogue(9, n, -128 * top, 127 * top, bias, False, out.dtype.num, clip, None, (None, None), "a, b")

    def run():
        layer.run_stage(op.stage(op.left(-128.0, 127.0), rows, None, (-(2.0**31), 127 * 2.0**24)), sums, out)
        return (out,)

    return run


def stored(name):
    """A case of oneDNN's saturating stores."""

    def case(rng, n):
        x, out = drawn(rng, n, np.float32, finite=True), unaligned(rng, n, cast.DTYPES[name])
        return lambda: (out, cast.stage_of(name).run(x, out))

    return case


def tensorflow_requantized(rng, n):
    """Rows through float32 whose products wrap 64 bits, and to int8 two steps in float32."""
    x, (a, b), (lo, hi) = drawn(rng, n, np.int32), ends(rng), ends(rng)
    out = unaligned(rng, n, [np.uint8, np.int8][rng.integers(0, 2)])
    a *= 2.0 ** rng.integers(0, 20)
    return lambda: (out, tensorflow_requantize.requantize(x, a, b, lo, hi, out))


def tensorflow_quantized(way, dtype):
    """A case of one of QuantizeV2's modes."""

    def case(rng, n):
        x, out, (lo, hi) = drawn(rng, n, np.float32), unaligned(rng, n, dtype), ends(rng)
        number, row = getattr(tensorflow_quantize, way), codes.of(out)
        quantizer = tensorflow_quantize.Quantizer(lo, hi, row, number, bool(rng.integers(0, 2)), 0.01)
        return lambda: (out, quantizer.quantize(x, out))

    return case


ADDS = [add_8, mul_8, add_32, mul_32, bias_add_32, bias_add_32_far]
RANGES = [spanned, spanned_float, finite]
CASES = [*ADDS, quantized, dequantized, requantized, requantized_at_steps, *RANGES]
ROWS = [tensorflow_requantized]
WAYS = [  # each rounding, codes of 8 and of 32 bits, and one that is not cut
    ("MIN_FIRST", np.uint8),
    ("MIN_FIRST", np.int32),
    ("MIN_COMBINED", np.uint8),
    ("SCALED", np.int8),
    ("SCALED_HALF_EVEN", np.int32),
    ("ONEDNN_MIN_FIRST_0D", np.uint8),
    ("ONEDNN_SCALED", np.int8),
]
NAMED = {case.__name__: case for case in [*CASES, *ROWS]} | {
    **{f"shifted_{name}": shifted(name) for name in qops.fixedpoint.ROUNDINGS},
    **{f"step_{name}": step(name) for name in ("add", "multiply", "divide", "relu", "leak", "sum", "fma")},
    **{f"layer {np.dtype(dtype)}": layered(dtype) for dtype in (np.int32, np.uint8, np.int8)},
    "layer near": layered_near,
    **{f"stored_{name}": stored(name) for name in ("u8", "s8", "s32")},
    **{f"tensorflow {way} {dtype.__name__}": tensorflow_quantized(way, dtype) for way, dtype in WAYS},
    "step_convert": step("", np.int32),
}

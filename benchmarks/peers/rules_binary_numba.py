"""The numba forms of the rules of two operands: the loops one would write, and tables of 256 where they save work."""

import numba
import numpy as np

from benchmarks import rules_binary as pairs
from benchmarks.case import Candidate, shared

f32, i32, i64 = np.float32, np.int32, np.int64
(MA, NA), (MB, NB), (MY, NY) = pairs.STEPS
ZA, ZB, ZY, LEFT = i64(pairs.A.zero), i64(pairs.B.zero), i64(pairs.Y.zero), i64(pairs.LEFT)
SA, SB = f32(pairs.A.scale), f32(pairs.B.scale)


@numba.njit(inline="always")
def twice(x, m, n):
    """Round half up at 31 bits, then half away from 0."""
    high = (x * m + i64(1 << 30)) >> i64(31)
    return (high + (i64(1) << (n - 31) >> i64(1)) - i64(high < 0 and n > 31)) >> (n - 31)


@numba.njit(inline="always")
def once(x, m, n):
    """Round half up."""
    return (x * m + (i64(1) << n >> i64(1))) >> n


@numba.njit(inline="always")
def cut(v):
    """Cut an integer to a code."""
    return np.uint8(min(max(v, i64(0)), i64(255)))


@numba.njit(inline="always")
def cut_float(v):
    """Cut a float to a code."""
    return np.uint8(i32(min(max(v, f32(0)), f32(255))))


def staged(rounded):
    """Add as TFLite does, by one of its roundings."""

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            x = rounded((i64(a[i]) - ZA) << LEFT, MA, NA) + rounded((i64(b[i]) - ZB) << LEFT, MB, NB)
            out[i] = cut(rounded(x, MY, NY) + ZY)

    return loop


def tabled(rounded, width, of_a, of_b):
    """Add by tables of the operands, staged or optimised; the last elements are added by the reference."""
    table_a, table_b = (np.int32([by(q) for q in range(256)]) for by in (of_a, of_b))

    @numba.njit
    def run(a, b, out, table_a, table_b):
        for i in range(out.size):
            out[i] = cut(rounded(i64(table_a[a[i]] + table_b[b[i]]), MY, NY) + ZY)

    tail = staged(twice)

    def loop(a, b, out):
        whole = out.size // width * width
        run(a[:whole], b[:whole], out[:whole], table_a, table_b)
        if whole < out.size:
            tail(a[whole:], b[whole:], out[whole:])

    return loop


def weighted(bits, is_away):
    """Round the weighted sum once, in 32 bits."""
    ma, mb, n = (i32(v) for v in pairs.integers_of(bits))
    constant, half = i32(-ZA * ma - ZB * mb), i32(1 << n >> 1)
    away = i32(is_away)

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            x = i32(i32(a[i]) * ma) + i32(i32(b[i]) * mb) + constant
            code = (i32(x + half - (away if x < 0 else i32(0))) >> n) + i32(ZY)
            out[i] = np.uint8(min(max(code, i32(0)), i32(255)))

    return loop


RA, RB, CONSTANT = (np.float64(v) for v in (*pairs.RATIOS, pairs.chain_constant()))


@numba.njit
def chain(a, b, out):
    """Add in float64, which holds each product; then make one float32."""
    for i in range(out.size):
        inner = f32(np.float64(b[i]) * RB + CONSTANT)
        out[i] = cut_float(np.rint(f32(np.float64(a[i]) * RA + np.float64(inner))))


INVERSE, PLUS_A, PLUS_B = f32(1) / f32(pairs.Y.scale), -f32(ZA) * SA, -f32(ZB) * SB


@numba.njit
def torch_vectors(a, b, out):
    """Fuse each operand in float64, round the sum, then add the zero point."""
    for i in range(out.size):
        x = f32(np.float64(a[i]) * np.float64(SA) + np.float64(PLUS_A))
        y = f32(np.float64(b[i]) * np.float64(SB) + np.float64(PLUS_B))
        out[i] = cut_float(np.rint((x + y) * INVERSE) + f32(ZY))


@numba.njit
def torch_tail(a, b, out):
    """Add the zero point to the sum, then round."""
    for i in range(out.size):
        x, y = f32(i32(a[i]) - i32(ZA)) * SA, f32(i32(b[i]) - i32(ZB)) * SB
        out[i] = cut_float(np.rint((x + y) * INVERSE + f32(ZY)))


def vectors(a, b, out):
    """Make whole vectors of 64 by one loop, and the rest by the other."""
    whole = out.size // 64 * 64
    torch_vectors(a[:whole], b[:whole], out[:whole])
    if whole < out.size:
        torch_tail(a[whole:], b[whole:], out[whole:])


def product(rounded):
    """Make a product by one of TFLite's roundings."""
    m, n = pairs.PRODUCT

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            x = (i32(a[i]) - i32(ZA)) * (i32(b[i]) - i32(ZB))
            out[i] = cut(rounded(i64(x), m, n) + ZY)

    return loop


def product_float(scale, inside):
    """Make a product in float32, with the zero point inside of the rounding or outside."""
    before, behind = (f32(ZY), f32(0)) if inside else (f32(0), f32(ZY))

    @numba.njit
    def loop(a, b, out):
        for i in range(out.size):
            x = f32(i32((i32(a[i]) - i32(ZA)) * (i32(b[i]) - i32(ZB))))
            out[i] = cut_float(np.rint(x * scale + before) + behind)

    return loop


def form(loop):
    """Give a maker of candidates for the loop."""

    def make(a, b):
        out = shared(a.size, np.uint8)
        loop(a, b, out)
        return Candidate(lambda: loop(a, b, out), lambda: out, 0)

    return make


def tables(rounded):
    """Make the tables of operands that are rounded as the sum is."""
    by = rounded.py_func
    return tabled(rounded, 1, lambda q: by((q - int(ZA)) << 20, MA, NA), lambda q: by((q - int(ZB)) << 20, MB, NB))


def optimised(width, of):
    """Add as TFLite's optimised code does: `of` makes the tables of the operands."""
    return tabled(twice, width, lambda q: of(q - int(ZA), MA, NA), lambda q: of(q - int(ZB), MB, NB))


FORMS = {
    "rules_add_tflite-double": {"loop": form(staged(twice)), "tables": form(tables(twice))},
    "rules_add_tflite-single": {"loop": form(staged(once)), "tables": form(tables(once))},
    "rules_add_tflite-opt-s8": {"tables": form(optimised(16, lambda x, m, n: (x * m + 2 ** (n - 21)) >> (n - 20)))},
    "rules_add_tflite-opt-u8": {"tables": form(optimised(8, lambda x, m, n: (x * m + 2**10) >> 11 >> (n - 31)))},
    "rules_add_xnnpack": {"loop": form(weighted(20, False))},
    "rules_add_qnnpack": {"loop": form(weighted(21, True))},
    "rules_add_ort-x86": {"loop": form(chain)},
    "rules_add_torch": {"loop": form(vectors)},
    "rules_mul_tflite-double": {"loop": form(product(twice))},
    "rules_mul_tflite-single": {"loop": form(product(once))},
    "rules_mul_fp32-even": {"loop": form(product_float(pairs.PRODUCT_F32, False))},
    "rules_mul_ort-x86": {"loop": form(product_float(pairs.PRODUCT_F32, True))},
    "rules_mul_torch": {"loop": form(product_float(pairs.PRODUCT_TORCH, False))},
}

"""Ops of whole rows as ports hold them: softmax, its logarithm, and normalization, with their C."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops.models import Graph, Op
from qops.tools.port_parts import Port, Ported, function

__all__ = ["ROWS", "TEXTS"]

TEXTS = {
    "fixed point": """/* gemmlowp's fixed point of 31 bits */
static int64_t fixed_high(int64_t a, int64_t b)
{
    const int64_t y = shifted_64(a * b + ((int64_t)1 << 30), 31);
    return y > INT32_MAX ? INT32_MAX : y;
}

static int64_t fixed_away(int64_t x, int n)
{
    return n > 0 ? shifted_64(x + ((int64_t)1 << n >> 1) - (x < 0), n) : x;
}

static int64_t fixed_left(int64_t x, int n)
{
    const int64_t y = n < 0 ? fixed_away(x, -n) : x * ((int64_t)1 << n);
    return y > INT32_MAX ? INT32_MAX : y < INT32_MIN ? INT32_MIN : y;
}

static int fixed_zeros(int64_t x)
{
    int n = 32;
    for (; x; x >>= 1)
        n--;
    return n;
}

static int64_t fixed_exp(int64_t a)
{
    static const int64_t barrel[] = {1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242};
    const int64_t inner = (a & ((1 << 24) - 1)) - (1 << 24), rest = inner - a;
    const int64_t x = fixed_left(inner, 5) + (1 << 28), square = fixed_high(x, x);
    const int64_t third = fixed_high(fixed_away(fixed_high(square, square), 2) + fixed_high(square, x), 715827883);
    int64_t y = 1895147668 + fixed_high(1895147668, x + fixed_away(third + square, 1));
    y = y > INT32_MAX ? INT32_MAX : y;
    for (int i = 0; i < 7; i++)
        if (rest & ((int64_t)1 << (24 + i)))
            y = fixed_high(y, barrel[i]);
    return a == 0 ? INT32_MAX : y;
}

static int64_t fixed_reciprocal(int64_t a)
{
    const int64_t half = shifted_64(a + INT32_MAX + 1, 1);
    int64_t x = 1515870810 + fixed_high(half, -1010580540);
    for (int i = 0; i < 3; i++)
        x += fixed_left(fixed_high(x, (1 << 29) - fixed_high(half, x)), 2);
    return fixed_left(x, 1);
}
""",
    "fixed log": """static int64_t fixed_log(int64_t v)
{
    int zeros = fixed_zeros(v);
    const int64_t low = fixed_left(fixed_high(fixed_left(v, zeros - 1), 1518500250), 1);
    int64_t low_z = fixed_left(12 - zeros, 25) + (536870912 >> 6);
    low_z = low_z > INT32_MAX ? INT32_MAX : low_z < INT32_MIN ? INT32_MIN : low_z;
    zeros = fixed_zeros(fixed_high(v, 1518500250)) - 1;
    int64_t high_z = fixed_left(12 - zeros, 25) - (536870912 >> 6);
    high_z = high_z > INT32_MAX ? INT32_MAX : high_z < INT32_MIN ? INT32_MIN : high_z;
    const int64_t high = fixed_left(v, zeros), r = low < high ? low : high, z = low_z > high_z ? low_z : high_z;
    const int64_t p = fixed_away(r + 1805811301, 1), q = wrap_s32(2 * (int64_t)wrap_s32(r - 1805811301));
    const int64_t square = fixed_high(q, q);
    const int64_t top = wrap_s32(fixed_high(q, r) + fixed_high(fixed_high(q, square), 117049297));
    const int64_t inner = wrap_s32(1057819769 + q + fixed_high(127690142, square));
    const int64_t bottom = wrap_s32(fixed_high(p, inner) + fixed_high(638450708, q));
    const int64_t series = fixed_high(fixed_left(top, -6), fixed_reciprocal(bottom));
    return fixed_left(wrap_s32(fixed_high(z, 1488522236) + series), 1);
}
""",
    "fixed root": """/* 1 / sqrt(x) as a multiplier; the shift is positive to the left */
static int64_t fixed_root(int64_t x, int *shift)
{
    *shift = 0;
    if (x <= 1)
        return INT32_MAX;
    int right = 11;
    for (; x >= 1 << 29; x /= 4)
        right++;
    const int pairs = (fixed_zeros(x) - 1) / 2 - 1;
    right -= pairs;
    const int64_t half = fixed_away((x << 2 * pairs) >> 1, 1);
    int64_t root = 1 << 28;
    for (int i = 0; i < 5; i++) {
        const int64_t cube = fixed_left(fixed_high(fixed_high(root, root), root), 6);
        root = fixed_left(fixed_high((1 << 28) + (1 << 27), root) - fixed_high(half, cube), 3);
    }
    root = fixed_high(root, 1518500250);
    *shift = right < 0 ? 0 : -right;
    return right < 0 ? root << -right : root;
}
""",
    "line": """/* a table of 513 points, between which 16 bits are interpolated */
static int32_t line_at(const int16_t *table, int64_t x)
{
    x = x > INT16_MAX ? INT16_MAX : x < INT16_MIN ? INT16_MIN : x;
    const int64_t at = 256 + shifted_64(x, 7), rest = x & 127;
    const int64_t slope = (int16_t)(uint16_t)(uint32_t)(table[at + 1] - table[at]);
    return (int16_t)(uint16_t)(uint64_t)(table[at] + shifted_64(slope * rest + 64, 7));
}
""",
}
"""C that rows share, by the names that stand among the rules of a layer."""
_ARGUMENTS = "const int32_t *x, int32_t *y, int count"
_LARGEST = [
    "    int32_t most = x[0];",
    "    for (int i = 1; i < count; i++)",
    "        most = x[i] > most ? x[i] : most;",
]


def _row(made: Ported, lines: list[str], rules: list[str], constants: dict[str, Any]) -> Ported:
    code = function(made.name, _ARGUMENTS, lines, "void", "row")
    return made._replace(rules=rules, constants=constants, code=code, arguments=("row",))


def _softmax(made: Ported, op: Op, graph: Graph, how: Port) -> Ported:
    n, integers, y = made.name, op.prepared.integers, graph.tensors[op.outputs[0]].dtype
    low, high = (0, 32767) if graph.tensors[op.reads[0]].dtype == "int16" else (np.iinfo(y).min, np.iinfo(y).max)
    constants = {**integers, "output_min": int(low), "output_max": int(high)}
    if "exp_table" in integers:
        constants |= {key: integers[key].astype(np.int16) for key in ("exp_table", "reciprocal_table")}
        return _softmax_16(made, constants)
    bits = 8 * np.dtype(y).itemsize
    if "table" in integers:
        rounds = "(int)(p + 0.5f)" if y == "uint8" else "(int)roundf(p)"
        lines = [
            *_LARGEST,
            "    float total = 0;",
            "    for (int i = 0; i < count; i++)",
            f"        total += {n}_table[most - x[i]];",
            "    for (int i = 0; i < count; i++) {",
            f"        const float p = {n}_table[most - x[i]] * (1.0f / (total * 0x1p-{bits}f));",
            f"        const int code = {n}_output_min + {rounds};",
            f"        y[i] = code > {n}_output_max ? {n}_output_max : code;",
            "    }",
        ]
        return _row(made, lines, [], constants)
    part = f"fixed_exp(tflite_double(x[i] - most, {n}_multiplier, 31 - {n}_shift, 0, INT32_MIN, INT32_MAX))"
    lines = [
        *_LARGEST,
        "    int64_t total = 0;",
        "    for (int i = 0; i < count; i++)",
        f"        if (x[i] - most >= {n}_least)",
        f"            total += fixed_away({part}, 12);",
        "    const int zeros = fixed_zeros(total);",
        "    const int64_t scale = fixed_reciprocal(wrap_s32((total << zeros) - ((int64_t)1 << 31)));",
        "    for (int i = 0; i < count; i++) {",
        f"        y[i] = {n}_output_min;",
        f"        if (x[i] - most >= {n}_least) {{",
        f"            const int64_t code = y[i] + fixed_away(fixed_high(scale, {part}), {43 - bits} - zeros);",
        f"            y[i] = code > {n}_output_max ? {n}_output_max : (int32_t)code;",
        "        }",
        "    }",
    ]
    return _row(made, lines, ["tflite-double", "fixed point"], constants)


def _softmax_16(made: Ported, constants: dict[str, Any]) -> Ported:
    n = made.name
    near = f"tflite_double(x[i] - most, {n}_multiplier, 31 - {n}_shift, 0, INT32_MIN, INT32_MAX)"
    part = f"line_at({n}_exp_table, (int64_t){near} + 32767)"
    lines = [
        *_LARGEST,
        "    int64_t total = 0;",
        "    for (int i = 0; i < count; i++)",
        f"        total += {part};",
        "    const int zeros = fixed_zeros(total);",
        "    const int64_t near = ((total << (zeros - 1)) + 8192) >> 14;",
        f"    const int64_t scale = line_at({n}_reciprocal_table, near - 32768 - 65536);",
        "    for (int i = 0; i < count; i++) {",
        f"        const int64_t code = shifted_64({part} * scale + ((int64_t)1 << (30 - zeros)), 31 - zeros);",
        f"        y[i] = code < {n}_output_min ? {n}_output_min",
        f"            : code > {n}_output_max ? {n}_output_max : (int32_t)code;",
        "    }",
    ]
    return _row(made, lines, ["tflite-double", "fixed point", "line"], constants)


def _log_softmax(made: Ported, op: Op, graph: Graph, how: Port) -> Ported:
    n, integers = made.name, op.prepared.integers
    high = int(np.iinfo(graph.tensors[op.outputs[0]].dtype).max)
    constants = {**integers, "output_zero_point": high}
    clamped = [
        f"        y[i] = code < {n}_output_zero_point - 255 ? {n}_output_zero_point - 255",
        f"            : code > {n}_output_zero_point ? {n}_output_zero_point : (int32_t)code;",
        "    }",
    ]
    if "table" in integers:
        lines = [
            *_LARGEST,
            "    float total = 0;",
            "    for (int i = 0; i < count; i++)",
            f"        total += {n}_table[most - x[i]];",
            "    const float near = (float)log((double)total);",
            "    for (int i = 0; i < count; i++) {",
            f"        const volatile float down = (float)(x[i] - most) * {n}_x_scale; /* never fused */",
            f"        const float code = rintf((down - near) * 16) + (float){n}_output_zero_point;",
            *clamped,
        ]
        return _row(made, lines, ["tflite-double"], constants)
    steps = f"tflite_double(x[i] - most, {n}_multiplier, 31 - {n}_shift, 0, INT32_MIN, INT32_MAX)"
    lines = [
        *_LARGEST,
        "    int64_t total = 0;",
        "    for (int i = 0; i < count; i++)",
        f"        if (x[i] - most >= {n}_least)",
        f"            total += fixed_away(fixed_exp({steps}), 12);",
        "    const int64_t log_of = fixed_log(total);",
        "    int64_t least = tflite_double(wrap_s32(log_of - ((int64_t)1 << 31)),",
        f"        {n}_back_multiplier, 31 - {n}_back_shift, 0, INT32_MIN, INT32_MAX);",
        f"    least = least < {n}_least - 1 ? {n}_least - 1 : least;",
        "    for (int i = 0; i < count; i++) {",
        f"        int64_t code = {n}_output_zero_point - 255;",
        "        if (x[i] - most > least)",
        f"            code = fixed_away((int64_t){steps} - log_of, 22) + {n}_output_zero_point;",
        *clamped,
    ]
    return _row(made, lines, ["tflite-double", "fixed point", "fixed log"], constants)


def _normalized(made: Ported, op: Op, graph: Graph, how: Port) -> Ported:
    x, y = graph.tensors[op.reads[0]], graph.tensors[op.outputs[0]]
    info, n, is_u8 = np.iinfo(y.dtype), made.name, y.dtype == "uint8"
    constants = {"input_zero_point": 0 if x.zero_point is None else int(x.zero_point)}
    value, more = (f"128 * (x[i] - {n}_input_zero_point)", 0) if is_u8 else (f"x[i] - {n}_input_zero_point", 7)
    zero = 128 if is_u8 else 0
    lines = [
        "    int64_t total = 0;",
        "    int shift;",
        "    for (int i = 0; i < count; i++)",
        f"        total += (int64_t)(x[i] - {n}_input_zero_point) * (x[i] - {n}_input_zero_point);",
        "    const int32_t multiplier = (int32_t)fixed_root(total, &shift);",
        "    for (int i = 0; i < count; i++)",
        f"        y[i] = tflite_double({value}, multiplier, 31 - shift - {more}, {zero}, {info.min}, {info.max});",
    ]
    return _row(made, lines, ["tflite-double", "fixed point", "fixed root"], constants)


ROWS = {"SOFTMAX": _softmax, "LOG_SOFTMAX": _log_softmax, "L2_NORMALIZATION": _normalized}
"""How ops of rows are made."""

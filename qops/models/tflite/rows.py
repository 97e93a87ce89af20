"""SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION: operators of whole rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qops import tflite
from qops.models.cut import Index
from qops.models.graph import Graph
from qops.models.op import Op
from qops.models.target import PortedLayer, Target, function
from qops.models.tensor import Values
from qops.models.tflite.cut import CutOperator
from qops.models.tflite.elementwise import make_one, real_one
from qops.models.tflite.file import Operator
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import OperatorRunner, PlacedOperator

__all__ = ["KINDS"]


Given = Sequence[Any]


_ARGUMENTS = "const int32_t *x, int32_t *y, int count"


_LARGEST = [
    "    int32_t most = x[0];",
    "    for (int i = 1; i < count; i++)",
    "        most = x[i] > most ? x[i] : most;",
]


def _make_softmax(site: PlacedOperator) -> OperatorRunner:
    types = {"dtype": site.tensor(0).dtype, "y_dtype": site.outputs[0].dtype}
    how = {**site.x(), **site.y, **types, "kernel": site.kernel, "beta": site.options["Beta"]}
    return OperatorRunner((0,), tflite.Softmax(**how))


def _real_softmax(x: Values, beta: float = 1.0) -> Values:
    e = np.exp((x - x.max(-1, keepdims=True)) * beta)
    return np.asarray(e / e.sum(-1, keepdims=True))


def _real_log_softmax(x: Values) -> Values:
    far = x - x.max(-1, keepdims=True)
    return np.asarray(far - np.log(np.exp(far).sum(-1, keepdims=True)))


def _cut_row(operator: Operator, given: Sequence[Any], index: Index) -> CutOperator:
    (x,) = given
    return CutOperator(
        operator, [x[index[:-1]][None]], [(1, x.shape[-1])], (0, index[-1]), f"one row of {x.shape[-1]} codes"
    )


def _row_code(made: PortedLayer, lines: list[str], rules: list[str], constants: dict[str, Any]) -> PortedLayer:
    code = function(made.name, _ARGUMENTS, lines, "void", "row")
    return made._replace(rules=rules, constants=constants, code=code, arguments=("row",))


def _c_of_softmax(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    n, integers, y = made.name, op.prepared.integers, graph.tensors[op.outputs[0]].dtype
    low, high = (0, 32767) if graph.tensors[op.reads[0]].dtype == "int16" else (np.iinfo(y).min, np.iinfo(y).max)
    constants = {**integers, "output_min": int(low), "output_max": int(high)}
    if "exp_table" in integers:
        constants |= {key: integers[key].astype(np.int16) for key in ("exp_table", "reciprocal_table")}
        return _c_of_softmax_16(made, constants)
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
        return _row_code(made, lines, [], constants)
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
    return _row_code(made, lines, ["tflite-double", "fixed point"], constants)


def _c_of_softmax_16(made: PortedLayer, constants: dict[str, Any]) -> PortedLayer:
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
    return _row_code(made, lines, ["tflite-double", "fixed point", "line"], constants)


def _c_of_log_softmax(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    n, integers = made.name, op.prepared.integers
    high = int(np.iinfo(graph.tensors[op.outputs[0]].dtype).max)
    clamped = [
        f"        y[i] = code < {n}_output_zero_point - 255 ? {n}_output_zero_point - 255",
        f"            : code > {n}_output_zero_point ? {n}_output_zero_point : (int32_t)code;",
        "    }",
    ]
    lines, rules = _logarithm_by_table(n) if "table" in integers else _logarithm_in_fixed_point(n)
    return _row_code(made, [*_LARGEST, *lines, *clamped], rules, {**integers, "output_zero_point": high})


def _logarithm_by_table(n: str) -> tuple[list[str], list[str]]:
    """Give the lines that make `code` of LiteRT's LOG_SOFTMAX, in float32 with a table of exp, and their rules."""
    lines = [
        "    float total = 0;",
        "    for (int i = 0; i < count; i++)",
        f"        total += {n}_table[most - x[i]];",
        "    const float near = (float)log((double)total);",
        f"    const volatile float largest = (float)most * {n}_x_scale; /* never fused */",
        "    for (int i = 0; i < count; i++) {",
        f"        const volatile float value = (float)x[i] * {n}_x_scale; /* never fused */",
        f"        const float made = rintf((value - (largest + near)) * 16) + (float){n}_output_zero_point;",
        "        const float code = made == made ? made : 0; /* NaN, of scales near the end of float32 */",
    ]
    return lines, ["tflite-double"]


def _logarithm_in_fixed_point(n: str) -> tuple[list[str], list[str]]:
    """Give the lines that make `code` of TFLite Micro's LOG_SOFTMAX, in integers, and their rules."""
    steps = f"tflite_double(x[i] - most, {n}_multiplier, 31 - {n}_shift, 0, INT32_MIN, INT32_MAX)"
    lines = [
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
    ]
    return lines, ["tflite-double", "fixed point", "fixed log"]


def _c_of_normalization(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
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
    return _row_code(made, lines, ["tflite-double", "fixed point", "fixed root"], constants)


def _has_rows(operator: Operator) -> bool:
    """Say whether each image has rows of its own."""
    return all(len(t.shape) > 1 for t in operator.outputs)


KINDS = {
    "SOFTMAX": Kind(
        make=_make_softmax,
        real=lambda operator, given: _real_softmax(given[0], operator.options.get("Beta", 1.0)),
        cut=_cut_row,
        code=_c_of_softmax,
        schema="SoftmaxOptions",
        by_image=_has_rows,
    ),
    "LOG_SOFTMAX": Kind(
        make=make_one(tflite.LogSoftmax), real=real_one(_real_log_softmax), cut=_cut_row, code=_c_of_log_softmax
    ),
    "L2_NORMALIZATION": Kind(
        make=make_one(tflite.L2Normalization),
        real=real_one(lambda x: x / np.maximum(np.sqrt((x * x).sum(-1, keepdims=True)), 1e-6)),
        cut=_cut_row,
        code=_c_of_normalization,
    ),
}

"""SVDF and UNIDIRECTIONAL_SEQUENCE_LSTM: operators with a state, which have no formula in real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from qops import tflite
from qops.models.graph import Graph
from qops.models.op import Missing, Op
from qops.models.target import WIDE, PortedLayer, Target, function
from qops.models.tflite.kind import Kind
from qops.models.tflite.site import OperatorRunner, PlacedOperator
from qops.tflite.kernels import KERNELS
from qops.tflite.tables import SIGMOIDS

__all__ = ["KINDS"]


_INNER = 5  # inner tensors of an LSTM; the last is its hidden state
_HIDDEN, _CELL = 18, 19  # inputs of an LSTM


def _make_svdf(site: PlacedOperator) -> OperatorRunner:
    scales = {"feature_scale": site.numbers("w", site.tensor(1))["w_scale"]}
    scales["time_scale"] = site.numbers("w", site.tensor(2))["w_scale"]
    how = {**site.x(), **scales, **site.numbers("state", site.tensor(4)), **site.y, "rank": site.options["Rank"]}
    if site.has(3):
        off = abs(site.numbers("bias", site.tensor(3))["bias_scale"] - how["state_scale"] * how["time_scale"])
        if off >= KERNELS[site.kernel].svdf_bias_off:
            raise Missing(f"the scale of its bias, {site.tensor(3).scale}, is not that of its sums")
    op = tflite.Svdf(site.constant(1), site.constant(2), site.bias(3), **how, **site.own())
    return OperatorRunner((0,), lambda *given: tuple(op(*given)), prepared=op, states=site.state(4))


def _make_lstm(site: PlacedOperator) -> OperatorRunner:
    """Inputs 1 to 4 and 5 to 8 are the weights of input, forget, cell and output; 12 to 15 the biases."""
    if any(site.has(i) for i in (*range(9, 12), 16, 17, *range(20, 24))):
        raise Missing("its LSTM has peepholes, a projection or layer norm")
    if len(site.operator.intermediates) < _INNER:
        raise Missing("its LSTM has no scales of its inner tensors")
    w, r, b = (np.stack([site.constant(i) for i in range(at, at + 4)]) for at in (1, 5, 12))
    scales = {
        name: [site.numbers("w", site.tensor(i))["w_scale"] for i in range(at, at + 4)]
        for name, at in (("w_scale", 1), ("r_scale", 5))
    }
    numbers = {**site.x(), **scales, **site.numbers("hidden", site.operator.intermediates[_INNER - 1])}
    cell = {"cell_scale": site.numbers("cell", site.tensor(_CELL))["cell_scale"], "cell_clip": site.options["CellClip"]}
    major = bool(site.options.get("TimeMajor"))
    op = tflite.UnidirectionalSequenceLstm(w, r, b, **numbers, **cell, time_major=major, **site.own())
    states = site.state(_HIDDEN) | site.state(_CELL)
    return OperatorRunner((0,), lambda *given: tuple(op(*given)), prepared=op, states=states)


def _c_of_svdf(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """A step moves the memory of each filter by one; a unit is a sum over the memories of `rank` filters."""
    n, found = made.name, op.prepared.integers
    feature, time = found["weights_feature"].astype(np.int8), found["weights_time"].astype(np.int16)
    constants = {**found, "inputs": feature.shape[1], "filters": len(feature), "memory": time.shape[1]}
    constants |= {"weights_feature": feature, "weights_time": time}
    bias = f"{n}_bias[u]" if "bias" in found else "0"
    lines = [
        f"    for (int f = 0; f < {n}_filters; f++) {{",
        "        int64_t sum = 0;",
        f"        for (int i = 0; i < {n}_inputs; i++)",
        f"            sum += (x[i] - {n}_x_zero_point) * {n}_weights_feature[f * {n}_inputs + i];",
        f"        int32_t *memory = state + f * {n}_memory;",
        f"        for (int i = 1; i < {n}_memory; i++)",
        "            memory[i - 1] = memory[i];",
        f"        memory[{n}_memory - 1] = tflite_double(wrap_s32(sum), {n}_state_multiplier, 31 - {n}_state_shift,",
        f"            {n}_state_zero_point, {n}_state_min, {n}_state_max);",
        "    }",
        f"    const int each = {n}_rank * {n}_memory;",
        f"    for (int u = 0; u < {n}_filters / {n}_rank; u++) {{",
        f"        int64_t sum = {bias};",
        "        for (int i = u * each; i < (u + 1) * each; i++)",
        f"            sum += (int64_t)(state[i] - {n}_state_zero_point) * {n}_weights_time[i];",
        f"        y[u] = tflite_double(wrap_s32(sum), {n}_output_multiplier, 31 - {n}_output_shift,",
        f"            {n}_y_zero_point, -128, 127);",
        "    }",
    ]
    code = function(n, "const int32_t *x, int32_t *state, int32_t *y", lines, "void", "step")
    return made._replace(rules=["tflite-double"], constants=constants, code=code, arguments=("state",))


def _c_of_lstm(made: PortedLayer, op: Op, graph: Graph, target: Target) -> PortedLayer:
    """Give the constants of the cells, the functions of their activations, and one step of time."""
    n, found, bends = made.name, op.prepared.integers, op.prepared.bends
    y = np.iinfo(graph.tensors[op.outputs[0]].dtype)
    constants = {**found, "cells": found["bias"].shape[1], "inputs": found["input_weights"].shape[2]}
    constants |= {key: found[key].astype(np.int8) for key in ("input_weights", "recurrent_weights")}
    constants |= {key: found[key].astype(np.int32) for key in _ARRAYS}
    if bends is None:
        constants["sigmoids"] = SIGMOIDS.astype(np.int32)
        bodies, ends, text = _BY_SIGMOIDS, _ALL_OF_16, "16 bits"
    else:
        constants |= {f"{name}_table": table.astype(np.int16) for name, table in bends.items()}
        bodies, ends, text = _BY_TABLES, "INT32_MIN, INT32_MAX", "fixed point"
    parts = [
        function(n, arguments, [f"    return {body.format(n=n)};"], what=what)
        for what, (arguments, body) in bodies.items()
    ]
    rule = "tflite-double" if y.bits == 8 else WIDE
    lines = _step_of_lstm(n, rule, ends, y)
    parts.append(function(n, "const int32_t *x, int32_t *hidden, int32_t *cell", lines, "void", "step"))
    rules = [*dict.fromkeys(["tflite-double", rule]), text, "clipped"]
    return made._replace(rules=rules, constants=constants, code="\n".join(parts), arguments=("hidden", "cell"))


def _step_of_lstm(n: str, rule: str, ends: str, y: np.iinfo[Any]) -> list[str]:
    """Give the lines of four gates of each cell, with 12 bits behind the point, its state and its result."""
    sum_of = "" if rule == WIDE else "(int32_t)"
    by = f"{rule.replace('-', '_')}({sum_of}{{0}}, {n}_{{1}}_multiplier[g], 31 - {n}_{{1}}_shift[g], 0, {{2}})"
    return [
        f"    int32_t before[{n}_cells];",
        f"    for (int c = 0; c < {n}_cells; c++)",
        "        before[c] = hidden[c];",
        f"    for (int c = 0; c < {n}_cells; c++) {{",
        "        int32_t gate[4]; /* input, forget, cell, output */",
        "        for (int g = 0; g < 4; g++) {",
        f"            const int at = g * {n}_cells + c;",
        f"            int64_t first = {n}_bias[at], second = 0;",
        f"            for (int i = 0; i < {n}_inputs; i++)",
        f"                first += (x[i] - {n}_x_zero_point) * {n}_input_weights[at * {n}_inputs + i];",
        f"            for (int i = 0; i < {n}_cells; i++)",
        f"                second += (before[i] - {n}_hidden_zero_point) * {n}_recurrent_weights[at * {n}_cells + i];",
        f"            first = {by.format('first', 'input', _ALL_OF_16)};",
        f"            gate[g] = clipped_16(first + {by.format('second', 'recurrent', ends)});",
        "        }",
        f"        const int32_t kept = {n}_shifted({n}_logistic(gate[1]) * cell[c], 15);",
        f"        const int32_t new = {n}_logistic(gate[0]) * {n}_tanh(gate[2]);",
        f"        const int32_t added = {n}_shifted(new, 30 + {n}_cell_scale_power);",
        "        const int32_t next = clipped_16(kept + added);",
        f"        cell[c] = next < -{n}_cell_clip ? -{n}_cell_clip : next > {n}_cell_clip ? {n}_cell_clip : next;",
        f"        hidden[c] = tflite_double({n}_logistic(gate[3]) * {n}_bent(cell[c]), {n}_output_multiplier,",
        f"            31 - {n}_output_shift, {n}_hidden_zero_point, {y.min}, {y.max});",
        "    }",
    ]


_ALL_OF_16 = "-32768, 32767"
_ARRAYS = ("input_multiplier", "input_shift", "recurrent_multiplier", "recurrent_shift")


_BY_SIGMOIDS = {
    "logistic": ("int32_t x", "sigmoid_16({n}_sigmoids, 3 * x)"),
    "tanh": ("int32_t x", "tanh_16({n}_sigmoids, 3 * x)"),
    "bent": ("int32_t x", "tanh_16({n}_sigmoids, 3 * (int64_t)x * (1 << (12 + {n}_cell_scale_power)))"),
    "shifted": ("int32_t x, int n", "tflite_double(x, 1 << 30, 30 + n, 0, -32768, 32767)"),
}
"""Functions of TFLM's cells: their arguments and what they give."""


_BY_TABLES = {
    "logistic": ("int32_t x", "{n}_logistic_table[x + 32768]"),
    "tanh": ("int32_t x", "{n}_tanh_table[x + 32768]"),
    "bent": ("int32_t x", "{n}_cell_table[x + 32768]"),
    "shifted": ("int32_t x, int n", "clipped_16(fixed_away(x, n))"),
}
"""The arguments and the expression of each activation of LiteRT's LSTM, which reads tables."""


KINDS = {
    "SVDF": Kind(make=_make_svdf, code=_c_of_svdf, schema="SVDFOptions"),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Kind(
        make=_make_lstm, code=_c_of_lstm, exact_kernel="reference", schema="UnidirectionalSequenceLSTMOptions"
    ),
}

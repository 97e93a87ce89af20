"""Programs around the C of `params`: they read what a layer takes, and print what it gives."""

import os
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-ffp-contract=off"]
NODES = {
    "QLinearAdd": {},
    "QLinearMul": {},
    "QLinearSigmoid": {},
    "QLinearLeakyRelu": {"alpha": 0.3},
    "QLinearConcat": {"axis": 1},
    "QLinearSoftmax": {"axis": -1, "opset": 13},
    "QLinearGlobalAveragePool": {},
    "QLinearAveragePool": {"kernel_shape": [2, 3]},
    "MaxPool": {"kernel_shape": [2, 3]},
}
"""Attributes of the nodes of onnxruntime's own that are tried with all their forms of codes."""


DEFINED = re.compile(r"^(?:static .*?(\w+)(?:\[\d+\] =|\(| =)|    (\w+) = .*,$)", re.MULTILINE)
"""The names that a header defines: functions, constants, and members of an enum."""
TABLE = re.compile(r"^static const (\w+ )(\w+)(\[\d{3,}\] = \{[^}]*\};)", re.MULTILINE)
"""A table: its type, its name, and how many numbers it has and which."""


class Program(NamedTuple):
    """What stands in a function beside the constants in a folder, what it reads, and what its words mean."""

    folder: Path
    text: str
    values: np.ndarray
    meaning: Callable


def given(folder, programs):
    """Compile all programs as one, as a compiler takes longer to start than to compile, and give their results.

    The headers of each program define the same names, so a macro gives each name the number of its program. A table
    that an earlier program has too is taken from there: to compile tables takes most of the time.
    """
    parts, told, tables = [], [], {}
    for i, program in enumerate(programs):
        rules, text = ((program.folder / name).read_text() for name in ("rules.h", "params.h"))
        names = sorted({name for part in (rules, text) for pair in DEFINED.findall(part) for name in pair if name})
        places = {name: f"{name}_{i}" for name in names}
        for kind, name, numbers in TABLE.findall(text):
            places[name] = tables.setdefault((kind, numbers), places[name])
            if places[name] != f"{name}_{i}":
                text = text.replace(f"static const {kind}{name}{numbers}", "")
        (program.folder / f"params_{i}.h").write_text(text)
        parts += [f"#define {name} {place}" for name, place in places.items()]
        parts += [f'#include "{program.folder}/params_{i}.h"', "#include <stdio.h>"]
        parts += [f"static int program_{i}(void)\n{{\n    {program.text}\n    return 0;\n}}"]
        parts += [f"#undef {name}" for name in ("QOPS_PARAMS_H", "QOPS_RULES_H", *names)]
        told += [float(v).hex() if isinstance(v, float) else str(v) for v in program.values.ravel().tolist()]
    steps = "".join(f'    if (program_{i}())\n        return 1;\n    puts("end");\n' for i in range(len(programs)))
    (folder / "main.c").write_text("\n".join([*parts, f"int main(void)\n{{\n{steps}    return 0;\n}}\n"]))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, *FLAGS, "-o", folder / "main", folder / "main.c", "-lm"], check=True)
    done = subprocess.run([folder / "main"], input="\n".join(told), capture_output=True, text=True, check=True)
    *words, rest = done.stdout.split("end\n")
    assert not rest
    return [program.meaning(said.split()) for program, said in zip(programs, words, strict=True)]


class Tried:
    """Programs of cases, which are compiled and run together, and what they must give."""

    def __init__(self, folder):
        self.folder, self.programs, self.wanted = folder, [], []

    def add(self, case, program, wanted):
        """Keep the program of a case for later; the case is what tells it from others."""
        self.programs.append(program)
        self.wanted.append((case, wanted))

    def compare(self):
        """Compile and run all programs, and name each case of which the C gives something else."""
        got = given(self.folder, self.programs)
        pairs = zip(self.wanted, got, strict=True)
        wrong = [f"{case}: {y} is {made}" for (case, y), made in pairs if not np.array_equal(made, y)]
        assert not wrong, "\n".join(wrong)


def numbers_like(wanted):
    """Words as an array like another one."""
    to_number = float.fromhex if wanted.dtype.kind == "f" else int
    return lambda words: np.array([to_number(word) for word in words]).reshape(wanted.shape)


def reading(values, body, more=""):
    """Text that reads values as `in`, and does what `body` says."""
    kind, scan = ("float", "%f") if values.dtype.kind == "f" else ("int32_t", "%d")
    if values.dtype == np.int64:
        kind, scan = "long long", "%lld"
    return f"""static {kind} in[{max(1, values.size)}];
    {more}
    for (int i = 0; i < {values.size}; i++)
        if (scanf("{scan}", &in[i]) != 1)
            return 1;
    {body}"""


def each(layer, arguments, wanted, what="code"):
    """Text that calls the function of a layer for each element of its arguments."""
    count, is_float = arguments[0].size, arguments[0].dtype.kind == "f"
    values = np.concatenate([x.ravel() for x in arguments])
    call = f"{layer.name}_{what}({', '.join(f'in[{i * count} + i]' for i in range(len(arguments)))})"
    show = f'printf("%a\\n", {call});' if wanted.dtype.kind == "f" else f'printf("%d\\n", {call});'
    values = values if is_float else values.astype(np.int64)
    return reading(values, f"for (int i = 0; i < {count}; i++)\n        {show}"), values


def rows(layer, x, call, more=""):
    """Text that gives rows of codes to the function of a layer, which writes to `out`, and prints these."""
    wide, count = x.astype(np.int32), x.shape[-1]
    body = f"""for (int i = 0; i < {x.size}; i += {count}) {{
        {call}
    }}"""
    return reading(wide, body, more), wide


def calls(layer, op, inputs, wanted):
    """What the function of a layer takes for each element of the result, by the names of its arguments."""
    given = [x.astype(np.int64) if x.dtype.kind in "iu" else x for x in inputs]
    if layer.arguments == ("sum", "channel") and op.layer is not None:
        sums = op.layer.sums(inputs[0], op.layer.bias)
        axis = op.layer.requantize.axis
        shape = [-1 if i == axis % sums.ndim else 1 for i in range(sums.ndim)]
        return [sums, np.broadcast_to(np.arange(sums.shape[axis]).reshape(shape), sums.shape)]
    if layer.arguments == ("sum", "channel"):  # BATCH_MATMUL
        a, b = (x - int(t.zero_point) for x, t in zip(both(layer, op, inputs), layer.reads, strict=False))
        how = op.options
        a, b = (x.swapaxes(-1, -2) if how.get(key) else x for x, key in ((a, "AdjX"), (b, "AdjY")))
        return [a @ b, np.zeros((a @ b).shape, int)]
    if layer.arguments in (("a", "b"), ("x", "alpha")):
        a, b = both(layer, op, inputs)
        if layer.arguments[1] == "alpha":
            b = layer.constants["alpha"].astype(np.int64)
        return [np.broadcast_to(x, wanted.shape) for x in (a, b)]
    if layer.arguments == ("x", "input"):
        axis = next(i for i in range(wanted.ndim) if inputs[0].shape[i] != wanted.shape[i] or len(inputs) == 1)
        numbers = [np.full(x.shape, i) for i, x in enumerate(given)]
        return [np.concatenate(part, axis) for part in (given, numbers)]
    if layer.arguments in (("sum",), ("largest",), ("smallest",)) and "filter_h" not in layer.constants:
        by = {"sum": np.sum, "largest": np.max, "smallest": np.min}[layer.arguments[0]]
        return [by(given[0], op.prepared._taken(given[0].shape)).reshape(wanted.shape)]
    if layer.arguments in (("sum", "count"), ("largest",)):
        return pools(layer, given[0], wanted)
    return given[: len(layer.arguments)]


def both(layer, op, inputs):
    data = iter(inputs)
    places = layer.reads[::3][:2] if op.kind.startswith("QLinear") else layer.reads[:2]
    return [(next(data) if t.data is None else t.data).astype(np.int64) for t in places]


def pools(layer, x, wanted):
    """The sum of each window and how many pixels it has, or its largest code."""
    c = layer.constants
    made = np.zeros((2, *wanted.shape), np.int64)
    for row, column in np.ndindex(*wanted.shape[1:3]):
        top, left = row * c["stride_h"] - c["pad_top"], column * c["stride_w"] - c["pad_left"]
        seen = x[:, max(top, 0) : top + c["filter_h"], max(left, 0) : left + c["filter_w"]]
        found = seen.max((1, 2)) if layer.arguments == ("largest",) else seen.sum((1, 2))
        made[0, :, row, column], made[1, :, row, column] = found, seen.shape[1] * seen.shape[2]
    return list(made[: len(layer.arguments)])


def placed(folder, layer, inputs, wanted, what=""):
    """A program of an op that moves codes: what stands at the places that its C names, in its inputs in a row."""
    text, values = each(layer._replace(name=layer.name + what), [np.arange(wanted.size)], np.empty(0, int), "place")
    put = np.full(1, layer.constants.get("pad_value", 0), wanted.dtype)
    codes = np.concatenate([*(x.reshape(-1) for x in inputs), put])
    return Program(folder, text, values, lambda words: codes[np.array(words, int)].reshape(wanted.shape))


def bilinear(layer, x, wanted):
    """Text that resizes images."""
    _, height, width, channels = wanted.shape
    body = f"""for (int i = 0; i < {x.size}; i += {x[0].size})
        for (int row = 0; row < {height}; row++)
            for (int column = 0; column < {width}; column++)
                for (int c = 0; c < {channels}; c++)
                    printf("%d\\n", {layer.name}_code(in + i, row, column, c));"""
    return reading(x.astype(np.int32), body), x


def steps(layer, x, wanted, zero):
    """Text that runs an LSTM over sequences (batch, steps, inputs), or SVDF for one step of each row."""
    cells, count = wanted.shape[-1], x.shape[-1]
    memory = 1 if layer.arguments != ("state",) else layer.constants["filters"] * layer.constants["memory"]
    call = {
        "state": f"{layer.name}_step(in + i, state, out);",
        "hidden": f"{layer.name}_step(in + i, out, cell);",
    }[layer.arguments[0]]
    body = f"""if (i % {x[0].size} == 0)
            for (int k = 0; k < {max(cells, memory)}; k++) {{
                out[k % {cells}] = {zero};
                cell[k % {cells}] = 0;
                state[k % {memory}] = {zero};
            }}
        {call}
        for (int k = 0; k < {cells}; k++)
            printf("%d\\n", out[k]);"""
    more = f"static int32_t out[{cells}], cell[{cells}], state[{memory}];\n    (void)cell, (void)state;"
    assert count * len(x.reshape(-1, count)) == x.size
    return rows(layer, x, body, more)


def program(folder, layer, op, inputs, wanted):
    """A program of what the C of a layer gives for the inputs of its op."""
    if layer.arguments == ("place",):
        return placed(folder, layer, inputs, wanted)
    meaning = numbers_like(wanted)
    if layer.arguments == ("row",):
        count = inputs[0].shape[-1]
        show = f'for (int k = 0; k < {count}; k++)\n            printf("%d\\n", out[k]);'
        call = f"{layer.name}_row(in + i, out, {count});\n        {show}"
        text, values = rows(layer, inputs[0], call, f"static int32_t out[{count}];")
    elif layer.arguments == ("taps", "count"):
        count = inputs[0].shape[-1]
        text, values = rows(layer, inputs[0], f'printf("%d\\n", {layer.name}_code(in + i, {count}));')
    elif layer.arguments == ("pixel",):
        text, values = bilinear(layer, inputs[0], wanted)
    elif layer.arguments in (("state",), ("hidden", "cell")):
        is_major = getattr(op.prepared, "_time_major", False)
        x, y = (a.swapaxes(0, 1) if is_major else a for a in (inputs[0], wanted))
        zero = layer.constants["state_zero_point" if layer.arguments == ("state",) else "hidden_zero_point"]
        text, values = steps(layer, x, y, zero)
        numbers = numbers_like(y)
        meaning = (lambda words: numbers(words).swapaxes(0, 1)) if is_major else numbers
    else:
        text, values = each(layer, calls(layer, op, inputs, wanted), wanted)
    return Program(folder, text, values, meaning)

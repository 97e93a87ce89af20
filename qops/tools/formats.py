"""Test vectors as files: a C header with a test program, hex for ``$readmemh``, npz, json."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from qops.rules.c_source import emit
from qops.rules.table import TABLE
from qops.tools.vectors import Vectors

__all__ = ["FORMATS", "write"]

_C_TYPES = {"int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "uint16": "uint16_t"}


def _list(values: Any, per_line: int = 8) -> str:
    words = [f"{int(v)}" if int(v) != -(2**31) else "(-2147483647 - 1)" for v in values]
    return ",\n    ".join(", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line))


def _header(v: Vectors) -> str:
    numbers = {"ZERO_POINT": v.zero_point, "QMIN": v.qmin, "QMAX": v.qmax, "COUNT": v.acc.size}
    if v.integers is not None:
        numbers |= {"MULTIPLIER": v.integers.multiplier, "RIGHT_SHIFT": v.integers.right_shift}
    lines = [f"#define QOPS_{name} ({value})" for name, value in numbers.items()]
    return "\n".join(
        [
            f"/* {v} */",
            "#ifndef QOPS_VECTORS_H",
            "#define QOPS_VECTORS_H",
            "#include <stdint.h>",
            "",
            *lines,
            f"#define QOPS_SCALE {v.scale!r}",
            "",
            f"static const int32_t qops_acc[QOPS_COUNT] = {{\n    {_list(v.acc)}\n}};",
            f"static const {_C_TYPES[v.y.dtype.name]} qops_y[QOPS_COUNT] = {{\n    {_list(v.y)}\n}};",
            "#endif",
            "",
        ]
    )


def _program(v: Vectors) -> str:
    how = "QOPS_SCALE" if v.integers is None else "QOPS_MULTIPLIER, QOPS_RIGHT_SHIFT"
    if TABLE[v.rule].multiplier in ("float32", "float64 of a float32"):
        how = "(float)QOPS_SCALE"
    return f"""/* The rule as portable C, on the vectors: put the port in its place. */
#include "vectors.h"
#include <stdio.h>

{emit(v.rule)}
int main(void)
{{
    int wrong = 0;
    for (int i = 0; i < QOPS_COUNT; i++) {{
        const int32_t y = {v.rule.replace("-", "_")}(qops_acc[i], {how}, QOPS_ZERO_POINT, QOPS_QMIN, QOPS_QMAX);
        if (y != qops_y[i]) {{
            printf("%d: %d gave %d, expected %d\\n", i, (int)qops_acc[i], (int)y, (int)qops_y[i]);
            wrong++;
        }}
    }}
    printf("%d of %d differ\\n", wrong, QOPS_COUNT);
    return wrong != 0;
}}
"""


def _as_c(v: Vectors, folder: Path) -> list[Path]:
    program = _program(v)  # refuses a rule that has no C: before any file is written
    return [_text(folder / "vectors.h", _header(v)), _text(folder / "test_vectors.c", program)]


def _as_hex(v: Vectors, folder: Path) -> list[Path]:
    """One word a line, two's complement, for ``$readmemh``."""
    found = []
    for name, values in (("acc", v.acc), ("y", v.y)):
        bits = 8 * values.itemsize
        words = [f"{int(x) & (1 << bits) - 1:0{bits // 4}x}" for x in values]
        found.append(_text(folder / f"{name}.hex", "\n".join(words) + "\n"))
    return found


def _as_npz(v: Vectors, folder: Path) -> list[Path]:
    path = folder / "vectors.npz"
    np.savez(
        path, kind="requantize", acc=v.acc, y=v.y, scale=v.scale, zero_point=v.zero_point, qmin=v.qmin, qmax=v.qmax
    )
    return [path]


def _as_json(v: Vectors, folder: Path) -> list[Path]:
    numbers = {"kind": "requantize", "rule": v.rule, "scale": v.scale, "zero_point": v.zero_point}
    codes = {"qmin": v.qmin, "qmax": v.qmax, "dtype": v.y.dtype.name, "acc": v.acc.tolist(), "y": v.y.tolist()}
    integers = {} if v.integers is None else v.integers._asdict()
    found = {**numbers, **integers, **codes, "killed": v.killed, "alike": v.alike}
    return [_text(folder / "vectors.json", json.dumps(found, indent=1) + "\n")]


def _text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


FORMATS = {"c": _as_c, "hex": _as_hex, "npz": _as_npz, "json": _as_json}


def write(v: Vectors, form: str, folder: Path) -> list[Path]:
    """Write vectors into a folder, which is made if it is not there.

    Parameters
    ----------
    v : Vectors
        What to write.
    form : {"c", "hex", "npz", "json"}
        The form.
    folder : Path
        Where.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        Another form, a rule that has no C.
    """
    if form not in FORMATS:
        raise ValueError(f"format: {form!r:.80} is none of {', '.join(FORMATS)}")
    folder.mkdir(parents=True, exist_ok=True)
    return FORMATS[form](v, folder)

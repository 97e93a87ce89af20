"""Test vectors as files: a C header with a test program, hex for ``$readmemh``, npz, json."""

import json
from html import escape
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from qops._pages.html import in_notebook, table
from qops.checks import choice

__all__ = ["FORMATS", "VectorSet", "shown_vectors", "write"]

_SHOWN = 12
"""Vectors that a notebook shows."""


class VectorSet(Protocol):
    """What `write` needs of a set of test vectors."""

    @property
    def killed(self) -> list[str]:
        """Other rules and mistakes that fail on the vectors."""

    @property
    def alike(self) -> list[str]:
        """Other rules and mistakes that no input tells from the rule."""

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The arrays that are written, by name: the result last, with one element for each vector."""

    @property
    def constants(self) -> dict[str, int]:
        """The integers that a port uses, by name."""

    @property
    def facts(self) -> dict[str, Any]:
        """The name of the rule and all numbers, by name."""

    def program(self) -> tuple[str, dict[str, str]]:
        """Give the rule in C, and for each array that it computes, the expression of element i."""


def _list(values: NDArray[Any]) -> str:
    if values.dtype.kind == "f":
        words = [f"{float(v).hex()}f" for v in values]
    else:
        words = [f"{int(v)}" if int(v) != -(2**31) else "(-2147483647 - 1)" for v in values]
    return ",\n    ".join(", ".join(words[i : i + 8]) for i in range(0, len(words), 8))


def _header(v: VectorSet) -> str:
    size = [*v.columns.values()][-1].size
    floats = {name: value for name, value in v.facts.items() if isinstance(value, float)}
    lines = [f"#define QOPS_{name.upper()} ({value})" for name, value in {"count": size, **v.constants}.items()]
    lines += [f"#define QOPS_{name.upper()} ({value!r})" for name, value in floats.items()]
    arrays = []
    for name, values in v.columns.items():
        kind = "float" if values.dtype.kind == "f" else f"{values.dtype.name}_t"
        count = "QOPS_COUNT" if values.size == size else f"QOPS_COUNT * {values.size // size}"
        arrays.append(f"static const {kind} qops_{name}[{count}] = {{\n    {_list(values.reshape(-1))}\n}};")
    top = [f"/* {v} */", "#ifndef QOPS_VECTORS_H", "#define QOPS_VECTORS_H", "#include <stdint.h>", ""]
    return "\n".join([*top, *lines, "", *arrays, "#endif", ""])


def _program(v: VectorSet) -> str:
    text, computed = v.program()
    checks = "\n".join(
        f"""        const int32_t {name} = {expression};
        if ({name} != qops_{name}[i]) {{
            printf("{name}[%d]: %d, expected %d\\n", i, (int){name}, (int)qops_{name}[i]);
            wrong++;
        }}"""
        for name, expression in computed.items()
    )
    return f"""/* The rule as portable C, on the vectors: put the port in its place.
   To compile it: cc test_vectors.c -lm */
#include "vectors.h"
#include <stdio.h>

{text}
int main(void)
{{
    int wrong = 0;
    for (int i = 0; i < QOPS_COUNT; i++) {{
{checks}
    }}
    printf("%d of %d differ\\n", wrong, QOPS_COUNT);
    return wrong != 0;
}}
"""


def _as_c(v: VectorSet, folder: Path) -> list[Path]:
    program = _program(v)  # a rule without C is refused here, before any file is written
    return [_text(folder / "vectors.h", _header(v)), _text(folder / "test_vectors.c", program)]


def _as_hex(v: VectorSet, folder: Path) -> list[Path]:
    """A comment with the numbers that a port needs, then one word a line, two's complement, for ``$readmemh``."""
    found, facts = [], ", ".join(f"{name} {value}" for name, value in v.facts.items())
    for name, values in v.columns.items():
        bits = 8 * values.itemsize
        whole = values.view(np.uint32) if values.dtype.kind == "f" else values  # of a float32 its bits
        words = [f"{int(x) & (1 << bits) - 1:0{bits // 4}x}" for x in whole.reshape(-1)]
        found.append(_text(folder / f"{name}.hex", "\n".join([f"// {facts}", *words, ""])))
    return found


def _as_npz(v: VectorSet, folder: Path) -> list[Path]:
    path = folder / "vectors.npz"
    parts: dict[str, Any] = {**v.facts, **v.columns}
    np.savez(path, **parts)
    return [path]


def _as_json(v: VectorSet, folder: Path) -> list[Path]:
    columns = {name: values.tolist() for name, values in v.columns.items()}
    found = {**v.facts, **columns, "killed": v.killed, "alike": v.alike}
    return [_text(folder / "vectors.json", json.dumps(found, indent=1) + "\n")]


def _text(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


FORMATS = {"c": _as_c, "hex": _as_hex, "npz": _as_npz, "json": _as_json}


def write(v: VectorSet, form: str, folder: Path) -> list[Path]:
    """Write vectors into a folder, which is made if it is not there.

    Parameters
    ----------
    v : Vectors, QuantizeVectors, PoolVectors or AddVectors
        What to write.
    form : {"c", "hex", "npz", "json"}
        "c": a header and a test program; "hex": a file for each array, for ``$readmemh``; "npz", "json": one file.
    folder : Path
        The folder.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        Another form, a rule that has no C.
    """
    choice(form, "format", FORMATS)
    folder.mkdir(parents=True, exist_ok=True)
    return FORMATS[form](v, folder)


def shown_vectors(said: str, columns: dict[str, NDArray[Any]]) -> str:
    """Give what a notebook shows of test vectors: a sentence, and the first of them in a table.

    Parameters
    ----------
    said : str
        The sentence.
    columns : dict of str to ndarray
        The arrays, all of one length.

    Returns
    -------
    str
    """
    rows = [[str(value) for value in row] for row in zip(*(c[:_SHOWN].tolist() for c in columns.values()), strict=True)]
    more = len(next(iter(columns.values()))) - len(rows)
    rest = f"<p>and {more} more</p>" if more > 0 else ""
    return in_notebook(f"<p>{escape(said)}</p>", table([f"#{name}" for name in columns], rows), rest)

"""The validation page: what real systems returned, counted from the files at every build."""

import json
import re
from functools import cache
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np

HEADER = 128  # bytes: those of an array of a few axes
GOLDEN = Path(__file__).parents[1] / "tests/golden"
TEXT = Path(__file__).parent / "text"


class Count(NamedTuple):
    """What the files of one op hold."""

    op: str
    cases: int
    refused: int
    values: int


def shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Key -> shape of the arrays of a file, which are not read."""
    with ZipFile(path) as arrays:
        return {name.removesuffix(".npy"): shape(arrays.open(name).read(HEADER)) for name in arrays.namelist()}


@cache
def shape(header: bytes) -> tuple[int, ...]:
    """The shape that the first bytes of an array's file name."""
    file = BytesIO(header)
    version = np.lib.format.read_magic(file)
    return getattr(np.lib.format, f"read_array_header_{version[0]}_0")(file)[0]


def values_in(outputs: Any, known: dict[str, tuple[int, ...]]) -> int:
    """How many numbers a case compares."""
    if isinstance(outputs, dict):
        return sum(values_in(value, known) for value in outputs.values())
    if isinstance(outputs, list):
        return sum(values_in(value, known) for value in outputs)
    return prod(known[outputs]) if outputs in known else 1


@cache
def counts(system: str) -> list[Count]:
    """What every op of a system has."""
    found = []
    for file in sorted((GOLDEN / system).glob("*.npz")):
        known = shapes(file)
        cases = json.loads(file.with_suffix(".json").read_text("utf-8"))
        rejects = file.with_suffix(".rejects.json")
        refused = json.loads(rejects.read_text("utf-8")) if rejects.exists() else []
        good = [case for case in cases if "error" not in case["outputs"]]
        values = sum(values_in(case["outputs"], known) * len(case.get("systems", "1")) for case in good)
        values += sum(values_in(case.get("outputs_onednn1", {}), known) for case in good)
        found.append(Count(file.stem, len(good), len(refused) + len(cases) - len(good), values))
    return found


def systems() -> list[str]:
    """The sets of vectors that there are."""
    return sorted(folder.name for folder in GOLDEN.iterdir() if folder.is_dir())


def row(name: str, found: list[Count]) -> str:
    """One row of a table: sums."""
    totals = (sum(column) for column in list(zip(*found, strict=True))[1:])
    return f"| {name} | {' | '.join(f'{total:,}' for total in totals)} |\n"


def pages() -> dict[str, str]:
    """The page of validation, and a page a system: how its vectors were made, and how many there are of each op."""
    head = "| {} | cases | refused | values compared |\n| --- | ---: | ---: | ---: |\n"
    found, every, rows = {}, [], []
    for system in systems():
        ops = counts(system)
        every += ops
        rows.append(row(f"[{system}](golden_{system}.md)", ops))
        table = head.format("op") + "".join(row(f"`{count.op}`", [count]) for count in ops)
        made = re.sub(r"(?m)^(\|.*\n)(?=[^|\n])", r"\1\n", (GOLDEN / system / "README.md").read_text("utf-8"))
        found[f"trust/golden_{system}.md"] = f"{made}\n## How many cases\n\n{table}"
    total = head.format("vectors") + "".join(rows) + row("**all**", every)
    tree = "\n".join(f"golden_{system}" for system in systems())
    text = (TEXT / "trust/validation.md").read_text("utf-8").replace("{counts}", total)
    found["trust/validation.md"] = f"{text}\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    return found

"""One tidy table as a file: .csv, or .parquet where pyarrow is installed."""

import csv
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from analysis.options import BadOption

SUFFIXES = (".csv", ".parquet")


def check(file: Path) -> Path:
    """Give the file, or raise BadOption if it cannot be written, before hours of work are done for it."""
    if file.suffix not in SUFFIXES:
        raise BadOption(f"--sweep {file}: the name must end in .csv or .parquet")
    if file.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise BadOption(f"--sweep {file}: .parquet needs pyarrow: pip install pyarrow, or choose a name in .csv")
    return file


def write(file: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of one length."""
    check(file).parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".csv":
        with file.open("w", newline="", encoding="utf-8") as lines:
            csv.writer(lines).writerows([columns, *zip(*columns.values(), strict=True)])
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(dict(columns)), file)

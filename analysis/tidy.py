"""The rows of a sweep as a file: .csv, or .parquet where pyarrow is installed."""

from importlib.util import find_spec
from pathlib import Path

from analysis.options import BadOption
from qops import Sweep

SUFFIXES = (".csv", ".parquet")


def check(file: Path) -> Path:
    """Give the file, or raise BadOption if it cannot be written, before hours of work are done for it."""
    if file.suffix not in SUFFIXES:
        raise BadOption(f"--sweep {file}: the name must end in .csv or .parquet")
    if file.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise BadOption(f"--sweep {file}: .parquet needs pyarrow: pip install pyarrow, or choose a name in .csv")
    return file


def write(file: Path, found: Sweep) -> None:
    """Write a table with a column for each number."""
    check(file).parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".csv":
        found.to_csv(file)
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(found.to_columns()), file)

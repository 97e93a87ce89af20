"""Writes the first layer that differs as files for its vendor: a model of its own, data, a test in C, a report."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from qops.tools.debug.c_test import test_program
from qops.tools.debug.case import Case, Smallest, smallest_of
from qops.tools.debug.columns import ColumnFound
from qops.tools.debug.layer_row import First
from qops.tools.debug.report import report
from qops.tools.folder import write_new

__all__ = ["ALWAYS", "reduced"]

ALWAYS = ("device.npz", "expected.npz", "test.c", "issue.md")
"""The files that are written for any layer."""


def reduced(case: Case, first: First, folder: str | Path, column: ColumnFound | None = None) -> list[Path]:
    """Write the files of a case; none is written over.

    Parameters
    ----------
    case : Case
        The layer.
    first : First
        What is known of it.
    folder : str or Path
        Made if it is missing.
    column : ColumnFound or None
        Another runtime that gives every tensor of the device.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    ValueError
        The layer itself does not differ, or its format has no writer.
    OSError
        A file that is there already, a folder that cannot be written to.
    """
    if not len(case.where):
        raise ValueError(f"{first.layer} gives the device's codes from its inputs: {first.cause}; nothing to reduce")
    if case.op.alone is None:
        raise ValueError(f"{first.layer} ({case.op.kind}) cannot be written as a model of its own")
    whole = case.op.alone(case.inputs, case.op.call(*case.inputs))
    assert whole is not None
    output, small = case.output, smallest_of(case)
    files: dict[str, str | bytes] = {
        f"layer{whole.suffix}": whole.file(),
        "device.npz": _npz({**case.reads, output: case.got}),
        "expected.npz": _npz({**case.reads, output: case.wanted}),
        **_of_smallest(small, whole.suffix, output),
        "test.c": test_program(case, small),
        "issue.md": report(case, small, first, whole.suffix, column),
    }
    return write_new(folder, files)


def _of_smallest(small: Smallest | None, suffix: str, output: str) -> dict[str, str | bytes]:
    if small is None:
        return {}
    device = _npz({**small.reads, output: small.got})
    return {f"smallest{suffix}": small.file, "smallest_device.npz": device}


def _npz(arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()

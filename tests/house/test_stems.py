"""In which file of a system's room an op stands: its name says it, or the table of stems in CONTRIBUTING.md."""

import inspect
import re
from pathlib import Path

from ops import ROOMS, own_functions

SYSTEMS = ("nnlib", "tensorflow", "onednn", "onnx", "tflite")
GUIDE = Path(__file__).parents[2] / "CONTRIBUTING.md"


def table():
    """Each op of the table, and the stems of its row."""
    rows = re.findall(r"^\| (`[a-z_0-9`, ]+) \| (`[a-z_0-9`, ]+) \|$", GUIDE.read_text(), re.M)
    return {op: re.findall(r"\w+", stems) for stems, ops in rows for op in re.findall(r"\w+", ops)}


def stems():
    """Each op of a system, and the stem of its file."""
    for room in SYSTEMS:
        for name, f in own_functions(ROOMS[room]).items():
            yield name, inspect.unwrap(f).__module__.rpartition(".")[2]


def has_its_name(op, stem):
    return stem in op or stem in op.replace("quantized_", "")


def test_an_op_stands_where_its_name_or_the_table_says():
    listed = table()
    assert len(listed) > 40
    assert not {op: stem for op, stem in stems() if not has_its_name(op, stem) and stem not in listed.get(op, [])}


def test_the_table_of_stems_says_nothing_that_names_say():
    """No row of an op that is gone, moved, or found by its name."""
    needed = {op for op, stem in stems() if not has_its_name(op, stem)}
    assert table().keys() == needed

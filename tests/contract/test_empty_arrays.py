"""An array without elements is done, or refused by name, at once, however large its other sizes are."""

import inspect
import sys

import bad
import empty_calls
import pytest
from children import answers
from ops import function

SECONDS = 60
"""The longest that a child may be silent: its start, or a call, on a machine that does other work too."""


@pytest.mark.long
def test_enormous_sizes_beside_0_take_no_time():
    every = [*empty_calls.calls()]
    wrong, taken = [], 0

    def child(first, end):
        return [sys.executable, empty_calls.__file__, str(first), str(end)]

    for found in answers(child, 0, len(every), SECONDS):
        name, key, shape = every[found["number"]]
        text = found.get("ended") or found["outcome"]
        taken += text == "taken"
        names = {*inspect.signature(function(name)).parameters}
        if "ended" in found or (text.startswith("refused: ") and not {*bad.blamed_by(text[9:])} <= names):
            wrong.append(f"{name}, {key} of shape {shape}: {text:.300}")
    assert not wrong, "\n".join(wrong)
    assert taken > 100, "most ops take an array without elements"

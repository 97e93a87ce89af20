"""Every notebook runs afresh, checks its claims with asserts, and is stored with its outputs.

A cell with the tag "exercise" waits for the reader: its assert fails, until it is replaced by the cell of
`solutions.ipynb` that solves it.
"""

import os
import re
import shlex
import subprocess
from ast import literal_eval
from ctypes import CDLL, c_float, c_int, c_void_p
from pathlib import Path

import nbformat
import numpy as np
import pytest
from matplotlib import pyplot, rc_context

import qops

FOLDER = Path(__file__).parents[2] / "notebooks"
SOLUTIONS = FOLDER / "solutions.ipynb"
CHAPTERS = [*sorted(FOLDER.glob("[1-9]_*.ipynb")), FOLDER / "appendix_traps.ipynb"]
NOTEBOOKS = [*CHAPTERS, SOLUTIONS]
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def is_exercise(cell):
    return "exercise" in cell.metadata.get("tags", ())


def exercises(path):
    return {f"{path.stem}/{cell.id}": cell for cell in code_cells(path) if is_exercise(cell)}


SOLVED = {cell.metadata["solves"]: cell for cell in code_cells(SOLUTIONS) if "solves" in cell.metadata}


def asserted(cell):
    return [line for line in cell.source.splitlines() if line.startswith("assert ")]


def printed(cell):
    return "".join(output.text for output in cell.outputs if output.get("name") == "stdout")


def run(cell, space):
    """Run a cell as Jupyter does, in the names of those before it, and lay out the figures that it made."""
    exec(compile(cell.source, cell.id, "exec"), space)
    for number in pyplot.get_fignums():
        pyplot.figure(number).draw_without_rendering()
    pyplot.close("all")


def test_every_notebook_has_its_place():
    assert set(FOLDER.glob("*.ipynb")) == set(NOTEBOOKS)
    assert [path.name[0] for path in CHAPTERS] == [*"123456789", "a"]


@pytest.mark.long
@every_notebook
def test_notebook_runs_afresh(path, monkeypatch, capsys):
    """Cells are plain Python, so no kernel of Jupyter is started. A warning is an error, as in all tests."""
    monkeypatch.chdir(path.parent)
    space = {"__name__": "__main__"}
    with rc_context():
        for cell in code_cells(path):
            if is_exercise(cell):
                with pytest.raises(AssertionError):  # else it has nothing left to solve
                    run(cell, space)
            else:
                run(cell, space)
            assert capsys.readouterr() == (printed(cell), ""), cell.source
            if is_exercise(cell):
                run(SOLVED[f"{path.stem}/{cell.id}"], space)
                capsys.readouterr()


def test_the_course_runs_on_every_tier():
    lines = [line for path in CHAPTERS for cell in code_cells(path) for line in asserted(cell) if "isa_tier()" in line]
    told = re.search(r"isa_tier\(\) in (\(.+\))", qops.isa_tier.__doc__)[1]
    assert [literal_eval(line.partition(" in ")[2]) for line in lines] == [set(literal_eval(told))]


@every_chapter
def test_exercises_are_solved(path):
    """A solution asserts what its exercise asserts, and an exercise is stored as the reader finds it."""
    found = exercises(path)
    assert found
    for name, cell in found.items():
        assert asserted(cell)
        assert asserted(cell) == asserted(SOLVED[name])
        assert not cell.outputs
        assert "raises-exception" in cell.metadata.tags, "so that the cells behind it run"


def test_every_solution_has_its_exercise():
    assert SOLVED.keys() == {name for path in CHAPTERS for name in exercises(path)}


def test_the_c_that_notebook_4_prints_gives_the_codes_of_nnlib(tmp_path):
    chapter = nbformat.read(FOLDER / "4_quantized_add_8p8to8.ipynb", as_version=4)
    (printed_c,) = re.findall(r"```c\n(.*?)```", chapter.cells[0].source, flags=re.S)
    source, library = tmp_path / "add.c", tmp_path / "add.so"
    source.write_text(f"#include <math.h>\n#include <stdint.h>\n{printed_c}")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-Wall", "-Werror", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    a, b = (np.ascontiguousarray(codes, np.uint8) for codes in np.mgrid[0:256, 0:256])
    (a_min, a_max), (b_min, b_max) = ends = (-1.0, 3.0), (-0.6, 0.6)
    want = qops.nnlib.quantized_add_8p8to8((a, *ends[0]), (b, *ends[1]), -1.6, 3.6, form="spec")
    c, found = np.empty_like(a), np.empty(2, np.float32)
    real = map(c_float, (a_min, a_max, b_min, b_max, want.min, want.max))
    first, second, *guess = [next(real) for _ in range(2)], [next(real) for _ in range(2)], *real
    places = [c_void_p(found[i:].ctypes.data) for i in range(2)]
    at = [c_void_p(codes.ctypes.data) for codes in (a, b, c)]
    CDLL(str(library)).add_with_a_guess(at[0], *first, at[1], *second, *guess, at[2], *places, c_int(a.size))
    np.testing.assert_array_equal(c, want.data)
    np.testing.assert_allclose(found, (-1.6, 3.6), atol=2.5 * 1.2 / 255)


@every_notebook
def test_notebook_reaches_no_kernel(path):
    """Not even through a module that imports them."""
    assert not [cell.source for cell in code_cells(path) if "kernels" in cell.source]


@every_notebook
def test_notebook_is_stored_with_asserts_and_outputs(path):
    cells = [cell for cell in code_cells(path) if not is_exercise(cell)]
    assert any(asserted(cell) for cell in cells)
    assert all(cell.execution_count for cell in cells if cell.source.strip()), "stored as it ran"
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs or path == SOLUTIONS
    assert not [output for output in outputs if output.output_type == "error"]
    assert not [output for output in outputs if output.get("name") == "stderr"]

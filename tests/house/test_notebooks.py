"""Every notebook runs afresh, checks its claims with asserts, and is stored with its outputs, small."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import qops

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def code_cells(path):
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_afresh(path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(qops.__file__).parent.parent))  # the qops that is tested, built in place
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": path.parent}}
    ).execute()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_reaches_no_kernel(path):
    """Not even through a module that imports them."""
    assert not [cell.source for cell in code_cells(path) if ".kernels" in cell.source]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_stored_with_asserts_and_outputs(path):
    cells = code_cells(path)
    assert any(line.startswith("assert ") for cell in cells for line in cell.source.splitlines())
    assert all(cell.execution_count for cell in cells if cell.source.strip()), "stored as it ran"
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs
    assert not [output for output in outputs if output.output_type == "error"]
    assert path.stat().st_size <= 300_000

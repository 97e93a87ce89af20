"""The course in JupyterLite: off unless it is asked for, and then every notebook, with a cell that installs qops."""

import json
import tomllib

import nbformat
import pytest
from imports import ROOT

from docs import browser, stage


def test_the_course_names_jupyterlite_if_it_is_asked_for():
    page = stage.course_page(lite=True)
    assert [path for path in stage.NOTEBOOKS if f'"../lite/notebooks/index.html?path={path.name}"' not in page] == []


@pytest.mark.parametrize("path", stage.NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_for_the_browser_installs_what_it_imports_first(path):
    made = browser.with_first_cell(path.read_text("utf-8"))
    nbformat.validate(nbformat.reads(made, as_version=4))
    first, *others = nbformat.reads(made, as_version=4).cells
    assert first.source == "%pip install -q qops matplotlib scikit-learn"
    assert others == nbformat.read(path, as_version=4).cells


def test_printed_text_is_one_string():
    stored = [json.loads(browser.with_first_cell(path.read_text("utf-8"))) for path in stage.NOTEBOOKS]
    outputs = [output for notebook in stored for cell in notebook["cells"] for output in cell.get("outputs", [])]
    printed = [output["text"] for output in outputs if output["output_type"] == "stream"]
    assert {type(text) for text in printed} == {str}
    assert "".join(printed).count("\n") > len(printed)


def test_only_a_wheel_for_that_pyodide_is_taken(tmp_path):
    (tmp_path / "qops-0.1.0-cp311-cp311-linux_x86_64.whl").touch()
    for name in ("qops-0.1.0-cp311-cp311-linux_x86_64.whl", f"qops-0.1.0-{browser.TAG}.whl"):
        with pytest.raises(SystemExit, match="is not a wheel of qops for Pyodide"):
            browser.build(tmp_path / name, None, stage.NOTEBOOKS, tmp_path / "lite", tmp_path / "site")
    build = (ROOT / "tests/pyodide/build.py").read_text("utf-8")
    assert f'PLATFORM = "{browser.TAG.rpartition("-")[2]}"' in build
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"jupyterlite-core>=0.5,<0.6", "jupyterlite-pyodide-kernel>=0.5,<0.6"} <= set(extras["lite"])


def test_only_that_pyodide_is_taken(tmp_path):
    wheel = tmp_path / f"qops-0.1.0-{browser.TAG}.whl"
    wheel.touch()
    for lock in (None, '{"info": {"abi_version": "2025_0"}}'):
        if lock:
            (tmp_path / "pyodide-lock.json").write_text(lock)
        with pytest.raises(SystemExit, match=r"is not the unpacked archive of a release of Pyodide 0\.27"):
            browser.build(wheel, tmp_path, stage.NOTEBOOKS, tmp_path / "lite", tmp_path / "site")

"""The course in the reader's own browser: JupyterLite beside the site, and in it qops from a wheel for Pyodide."""

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TAG = "cp312-cp312-pyodide_2024_0_wasm32"  # of the Pyodide that the extra `lite` of pyproject.toml brings
FIRST = "%pip install -q qops matplotlib scikit-learn"


def with_first_cell(notebook: str) -> str:
    """The notebook with a cell before all others that installs what it imports."""
    found = json.loads(notebook)
    cell = {"cell_type": "code", "id": "install", "metadata": {}, "outputs": [], "execution_count": None}
    found["cells"].insert(0, {**cell, "source": FIRST})
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def links(notebooks: Sequence[Path]) -> str:
    """The part of the course's page that opens each notebook in JupyterLite."""
    items = "".join(
        f'- <a href="../lite/notebooks/index.html?path={path.name}">{path.stem}</a>\n' for path in notebooks
    )
    return f"\n## To run them in this browser\n\nNothing is installed; Python itself is loaded first.\n\n{items}"


def build(wheel: Path, notebooks: Sequence[Path], folder: Path, site: Path) -> None:
    """Write JupyterLite with the notebooks and the wheel into the site."""
    if not wheel.name.endswith(f"-{TAG}.whl") or not wheel.is_file():
        sys.exit(f"--lite: {wheel} is not a wheel of qops for Pyodide (qops-...-{TAG}.whl); `make pyodide` builds one")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "contents").mkdir(parents=True)
    for path in notebooks:
        (folder / "contents" / path.name).write_text(with_first_cell(path.read_text("utf-8")), "utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--apps", "notebooks", "--apps", "tree"]
    places = ["--lite-dir", ".", "--contents", "contents", "--output-dir", (site / "lite").resolve()]
    subprocess.run([*command, *places, "--piplite-wheels", wheel.resolve()], cwd=folder, check=True)

"""The course in the reader's own browser: JupyterLite beside the site, and in it qops from a wheel for Pyodide."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

TAG = "cp312-cp312-pyodide_2024_0_wasm32"  # of the Pyodide that the extra `lite` of pyproject.toml brings
FIRST = "%pip install -q qops matplotlib scikit-learn"


def with_first_cell(notebook: str) -> str:
    """The notebook with a cell before all others that installs what it imports.

    JupyterLite shows commas between the lines of printed text that is stored as a list, so they are joined.
    """
    found = json.loads(notebook)
    for output in (output for cell in found["cells"] for output in cell.get("outputs", []) if "text" in output):
        output["text"] = "".join(output["text"])
    cell = {"cell_type": "code", "id": "install", "metadata": {}, "outputs": [], "execution_count": None}
    found["cells"].insert(0, {**cell, "source": FIRST})
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def links(notebooks: Sequence[Path]) -> str:
    """The part of the course's page that opens each notebook in JupyterLite."""
    items = "".join(
        f'- <a href="../lite/notebooks/index.html?path={path.name}">{path.stem}</a>\n' for path in notebooks
    )
    return f"\n## To run them in this browser\n\nNothing is installed; Python itself is loaded first.\n\n{items}"


def host(pyodide: Path, folder: Path) -> list[Path]:
    """Have JupyterLite take Pyodide from its folder; wheels that the kernel imports and Pyodide does not have."""
    lock = pyodide / "pyodide-lock.json"
    found = f"pyodide_{json.loads(lock.read_text('utf-8'))['info']['abi_version']}_" if lock.is_file() else ""
    if not found or found not in TAG:
        sys.exit(f"--pyodide: {pyodide} is not the unpacked archive of a release of Pyodide 0.27")
    (folder / "static").mkdir()
    (folder / "static/pyodide").symlink_to(pyodide.resolve())
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*pip, "--dest", folder / "wheels", "comm"], check=True)
    return sorted((folder / "wheels").glob("*.whl"))


def build(wheel: Path, pyodide: Path | None, notebooks: Sequence[Path], folder: Path, site: Path) -> None:
    """Write JupyterLite with the notebooks and the wheel into the site, and Pyodide too if its folder is given."""
    if not wheel.name.endswith(f"-{TAG}.whl") or not wheel.is_file():
        sys.exit(f"--lite: {wheel} is not a wheel of qops for Pyodide (qops-...-{TAG}.whl); `make pyodide` builds one")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "contents").mkdir(parents=True)
    for path in notebooks:
        (folder / "contents" / path.name).write_text(with_first_cell(path.read_text("utf-8")), "utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--apps", "notebooks", "--apps", "tree"]
    command += ["--lite-dir", ".", "--contents", "contents", "--output-dir", os.fspath((site / "lite").resolve())]
    for path in [wheel, *(host(pyodide, folder) if pyodide else [])]:
        command += ["--piplite-wheels", os.fspath(path.resolve())]
    subprocess.run(command, cwd=folder, check=True)

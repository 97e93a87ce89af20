"""The gallery: runs its scripts, each of which saves one figure beside it, and writes their page."""

import ast
import contextlib
import os
import runpy
from pathlib import Path

from qops import plot

SCRIPTS = sorted((Path(__file__).parent / "gallery").glob("*.py"))
STYLE = {**plot.STYLE, "savefig.dpi": 150, "svg.fonttype": "none", "svg.hashsalt": "qops"}


def words(script: Path) -> tuple[str, str]:
    """Title and text of a script, from its docstring."""
    doc = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
    title, _, text = doc.partition("\n\n")
    return title.rstrip("."), " ".join(text.split())


def draw(script: Path, folder: Path) -> Path:
    """Run a script in the folder, and give the path of the figure that it saves there."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with contextlib.chdir(folder), pyplot.rc_context(STYLE):
        runpy.run_path(os.fspath(script))
        pyplot.close("all")
    return folder / f"{script.stem}.{kind(script)}"


def kind(script: Path) -> str:
    """Ending of the figure that a script saves."""
    return "png" if f"{script.stem}.png" in script.read_text("utf-8") else "svg"


def pages() -> dict[str, str]:
    """Path -> text, of the gallery and of each figure."""
    cards, found = [], {}
    for script in SCRIPTS:
        title, text = words(script)
        figure = f"{script.stem}.{kind(script)}"
        cards.append(f":::{{grid-item-card}} {title}\n:img-top: {figure}\n:link: {script.stem}\n:link-type: doc\n:::\n")
        code = script.read_text("utf-8").split('"""', 2)[2].strip()
        picture = f"```{{image}} {figure}\n:alt: {title}\n:class: wide\n```"
        found[f"gallery/{script.stem}.md"] = f"# {title}\n\n{text}\n\n{picture}\n\n```python\n{code}\n```\n"
    tree = "\n".join(script.stem for script in SCRIPTS)
    grid = f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{''.join(cards)}::::\n"
    text = "Each figure links to the script that draws it, which fits on a screen. The scripts are in `docs/gallery/`."
    found["gallery/index.md"] = f"# Gallery\n\n{text}\n\n{grid}\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    return found

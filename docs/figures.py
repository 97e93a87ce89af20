"""The gallery: runs its scripts, each of which saves one figure beside it, and writes their page."""

import ast
import contextlib
import os
import re
import runpy
from pathlib import Path
from typing import TYPE_CHECKING

from qops import plot

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

SCRIPTS = sorted((Path(__file__).parent / "gallery").glob("*.py"))
THUMBNAIL = 3.2, 2.1
"""Inches of the picture on a card, which is as wide as it is shown."""
MOST_TICKS = 5
MOST_TEXTS = 12, 90
"""Texts in a picture up to which they are left: beside lines and bars, and in the cells of a map."""
STYLE = {**plot.STYLE, "savefig.dpi": 150, "svg.fonttype": "none", "svg.hashsalt": "qops"}


def words(script: Path) -> tuple[str, str]:
    """Title and text of a script, from its docstring."""
    doc = ast.get_docstring(ast.parse(script.read_text("utf-8"))) or ""
    title, _, text = doc.partition("\n\n")
    return title.rstrip("."), " ".join(text.split())


def is_number(text: str) -> bool:
    """Whether a label is a number or a power, not a word."""
    return not re.search("[A-Za-z]{2}", text.replace("mathdefault", ""))


def thin(axis: "Axis") -> None:
    """Leave at most some numbers of an axis, and no words."""
    places = [x for x in axis.get_ticklocs() if min(axis.get_view_interval()) <= x <= max(axis.get_view_interval())]
    axis.get_figure().canvas.draw()
    if not all(is_number(label.get_text()) for label in axis.get_ticklabels()):
        axis.set_ticks([])
    elif len(places) > MOST_TICKS:
        axis.set_ticks(places[:: -(-len(places) // MOST_TICKS)])
    axis.label.set_visible(False)


def thumbnail(figure: "Figure", file: Path) -> None:
    """Draw the largest picture of a figure anew in the size of a card, with few numbers, in large letters."""
    area = {axes: axes.get_position().width * axes.get_position().height for axes in figure.axes}
    main = max(area, key=lambda axes: round(area[axes], 3))
    crowd = main.texts if len(main.texts) > MOST_TEXTS[bool(main.images)] else []
    legends = [one.get_legend() for one in figure.axes if one.get_legend()]
    titles = [main.title, main._left_title, main._right_title]
    hidden = [one for one in figure.axes if one is not main]
    for other in [*hidden, *figure.texts, *figure.legends, *legends, *crowd, *titles]:
        other.set_visible(False)
    thin(main.xaxis)
    thin(main.yaxis)
    main.tick_params(labelsize=9)
    figure.set_size_inches(*THUMBNAIL)
    figure.set_layout_engine("none")
    main.set_position((0.15, 0.12, 0.8, 0.83))
    figure.savefig(file, dpi=200)


def draw(script: Path, folder: Path) -> Path:
    """Run a script in the folder, and give the path of the figure that it saves there."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with contextlib.chdir(folder), pyplot.rc_context(STYLE):
        runpy.run_path(os.fspath(script))
        thumbnail(pyplot.gcf(), Path(f"{script.stem}_small.png"))
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
        shown = f":img-top: {script.stem}_small.png\n:link: {script.stem}\n:link-type: doc"
        cards.append(f":::{{grid-item-card}} {title}\n{shown}\n:::\n")
        code = script.read_text("utf-8").split('"""', 2)[2].strip()
        picture = f"```{{image}} {figure}\n:alt: {title}\n:class: wide\n```"
        found[f"gallery/{script.stem}.md"] = f"# {title}\n\n{text}\n\n{picture}\n\n```python\n{code}\n```\n"
    tree = "\n".join(script.stem for script in SCRIPTS)
    grid = f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{''.join(cards)}::::\n"
    text = "Each figure links to the script that draws it, which fits on a screen. The scripts are in `docs/gallery/`."
    found["gallery/index.md"] = f"# Gallery\n\n{text}\n\n{grid}\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"
    return found

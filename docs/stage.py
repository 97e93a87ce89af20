"""Every source page of the site, as text: written by hand, or made from the package, its tests' data, the notebooks."""

import inspect
import json
import re
import shutil
import tomllib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from docs import browser, cpus, figures, readable, rule_pages, systems, validation
from docs.names import TITLES, rooms, short

ROOT = Path(__file__).parents[1]
HERE = Path(__file__).parent
TEXT = HERE / "text"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SEARCHED = {
    "ten_minutes": ("tutorial", "getting started", "quickstart", "first steps", "install", "installation"),
    "guide/index": ("user guide", "how to"),
    "guide/debug": ("layer by layer", "device dump"),
    "guide/dump": ("dump", "npz"),
    "guide/error": ("accuracy", "measure an error"),
    "guide/files": ("supported operators", "tflite operators", "onnx operators", "unsupported operator"),
    "guide/fused": ("fused", "unfused", "graph optimization"),
    "guide/language_models": ("language models", "LLM", "per-token", "dynamic quantization", "llama.cpp", "block"),
    "guide/layer": ("layer", "linear layer"),
    "guide/params": ("constants of a port",),
    "guide/port": ("port", "dsp"),
    "guide/saturation": ("saturation", "AVX2", "reduce_range", "overflow", "VPMADDUBSW"),
    "guide/speed": ("speed", "threads"),
    "guide/test_set": ("test set", "batch of images", "accuracy of a model file"),
    "guide/tolerance": ("tolerance", "assert"),
    "glossary": ("glossary", "words", "lsb"),
    "guide/test_vectors": ("test vectors", "golden vectors"),
    "notebooks/index": ("course", "notebook", "jupyter"),
    "trust/compare": ("peers", "alternatives"),
    "trust/host": ("rounding mode", "FloatingPointError", "flush to zero", "fast-math"),
    "trust/where": ("platforms", "windows", "macos"),
}
"""Page -> words that people search for, which lead to it first; a page of ops has the names of its ops."""


def course_page(lite: bool = False) -> str:
    """The list of notebooks, each a link; with `lite`, a second list that opens them in JupyterLite."""
    text = (ROOT / "notebooks/README.md").read_text("utf-8")
    for notebook in NOTEBOOKS:
        text = text.replace(f"| `{notebook.stem}` |", f"| [{notebook.stem}]({notebook.name}) |")
    tree = "\n".join(notebook.stem for notebook in NOTEBOOKS)
    text += browser.links(NOTEBOOKS) if lite else ""
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{tree}\n```\n"


def about(room: str) -> str:
    """The first sentence of a room's page."""
    own = TEXT / room / "index.md"
    text = own.read_text("utf-8") if own.exists() else inspect.getdoc(import_module(f"qops.{room}")) or ""
    return " ".join(text.replace("``", "`").split()).partition(". ")[0].removesuffix(".") + "."


def sidebar() -> dict[str, list[str]]:
    """Heading -> rooms, beside the reference; the rules have a page of their own in the site's head."""
    answers, shared = ["tools", "models"], ["nouns", "isa"]
    real = [room for room in rooms() if room not in ("frontdoor", *answers, *shared, "rules")]
    return {"Right ops": ["frontdoor"], "Answers": answers, "Real systems": real, "What all share": shared}


def ops_page() -> str:
    """The list of rooms, each with the first sentence of its page."""
    rows = "".join(f"| [{TITLES.get(room, room)}]({room}/index.md) | {about(room)} |\n" for room in rooms())
    trees = "".join(systems.toctree([f"{room}/index" for room in group], name) for name, group in sidebar().items())
    table = f"| page | what is there |\n| --- | --- |\n{rows}"
    text = (TEXT / "ops.md").read_text("utf-8").replace("{rooms}", table)
    return f"{text}\n{trees}"


def minutes() -> dict[str, str]:
    """Notebook -> how many minutes the list of the course gives it."""
    return dict(re.findall(r"^\| `(\w+)` \| (\d+) \|", (ROOT / "notebooks/README.md").read_text("utf-8"), re.M))


def described(notebook: Path) -> str:
    """A notebook with a link to itself, whose figures have the words before them for readers who cannot see them."""
    found, words = json.loads(notebook.read_text("utf-8")), ""
    takes = f"About {minutes()[notebook.stem]} minutes. " if notebook.stem in minutes() else ""
    found["cells"][0]["source"] += [f"\n\n{takes}{{download}}`Download this notebook <{notebook.name}>`"]
    for cell in found["cells"]:
        if cell["cell_type"] == "markdown":
            words = " ".join(re.sub(r"[#*`$\\]", "", "".join(cell["source"])).split())
        elif any("image/png" in output.get("data", ()) for output in cell["outputs"]):
            cell["metadata"]["mystnb"] = {"image": {"alt": words}}
    return json.dumps(found)


def claims_page() -> str:
    """What is promised about errors: the sentences that the analysis measures."""
    found = tomllib.loads((ROOT / "analysis/claims.toml").read_text("utf-8"))
    return (TEXT / "trust/claims.md").read_text("utf-8") + "".join(f"- {claim['text']}\n" for claim in found.values())


def develop_pages() -> dict[str, str]:
    """What the files of the root say about working on the package."""
    pages = {"contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
    found = {f"develop/{name}.md": (ROOT / file).read_text("utf-8") for name, file in pages.items()}
    cite = (ROOT / "CITATION.cff").read_text("utf-8")
    text = f"# Develop\n\n- [](contributing.md)\n- [](changelog.md)\n\n## To cite it\n\n```yaml\n{cite}```\n"
    return found | {"develop/index.md": f"{text}\n```{{toctree}}\n:hidden:\n\ncontributing\nchangelog\n```\n"}


def with_words(text: str, words: Iterable[str]) -> str:
    """A page that a search for these words finds first."""
    title, _, rest = text.partition("\n")
    return f"{title}\n\n```{{index}} {', '.join(f'! {word}' for word in words)}\n```\n{rest}"


def pages(lite: bool = False) -> dict[str, str]:
    """Path -> text, of every page that is not a notebook."""
    found = {path.relative_to(TEXT).as_posix(): path.read_text("utf-8") for path in sorted(TEXT.rglob("*.md"))}
    found |= systems.pages() | rule_pages.pages() | validation.pages() | figures.pages() | develop_pages()
    found |= readable.pages()
    found |= {"notebooks/index.md": course_page(lite), "ops.md": ops_page(), "trust/claims.md": claims_page()}
    found |= {"trust/cpus.md": cpus.page()}
    return found | {f"{page}.md": with_words(found[f"{page}.md"], words) for page, words in searched().items()}


def searched() -> dict[str, tuple[str, ...]]:
    """Page -> words, those of `SEARCHED` and the names of our own ops and tools."""
    ours = {f"{room}/{stem}": names for room in ("frontdoor", "tools") for stem, names in rooms()[room].items()}
    own = {page: tuple(short(n) for n in names if "BOUND" not in n) for page, names in ours.items()}
    return SEARCHED | {page: names for page, names in own.items() if names}


def microscope_page() -> str:
    """The microscope with a way back to the site, which it does not have where it is opened as a plain file."""
    text = (HERE / "microscope/index.html").read_text("utf-8")
    return text.replace("<header>\n", '<header>\n<p><a href="../index.html">qops</a></p>\n', 1)


def write(folder: Path, lite: bool = False) -> None:
    """Lay out all sources in a new folder, figures drawn."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in pages(lite).items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    for notebook in NOTEBOOKS:
        (folder / "notebooks" / notebook.name).write_text(described(notebook), "utf-8")
    for script in figures.SCRIPTS:
        figures.draw(script, folder / "gallery")
    shutil.copytree(HERE / "static", folder / "static")
    shutil.copytree(HERE / "microscope", folder / "extra/microscope")
    (folder / "extra/microscope/index.html").write_text(microscope_page(), "utf-8")
    shutil.copy(HERE / "conf.py", folder)

"""Pages of the rooms: one page for each system with its ops, and one for each source file with its docstrings."""

import contextlib
import inspect
import re
from importlib import import_module
from pathlib import Path

from docs.names import TITLES, grouped, rooms, short, title_of, value_of
from qops.prepared import Prepared

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
TEXT = Path(__file__).parent / "text"


def said() -> dict[str, str]:
    """Op -> what README's table says of it, and its bound if there is a column for that."""
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \|$", README.split("\n## Ops\n")[1].split("\n## ")[0], flags=re.M)
    plain = {name: text.replace("**", r"\*\*") for name, text in rows}  # 2**17 is no bold
    named = {name: text.removesuffix(" | -") for name, text in plain.items()}
    return {name: text.replace(" | ", ". *Error, in output LSB:* ") for name, text in named.items()}


def directive(dotted: str) -> str:
    """How Sphinx reads the docstring of a name."""
    value = value_of(dotted)
    if inspect.isclass(value) and issubclass(value, Prepared):
        given = inspect.signature(value).parameters  # the docstring of the class describes these
        shown = [
            name for name in dir(value) if name[0] != "_" and name not in given and inspect.getdoc(getattr(value, name))
        ]
        options = f":members: {', '.join(shown)}", ":inherited-members:", ":special-members: __call__"
        return f".. autoclass:: {dotted}\n   " + "\n   ".join(options) + "\n"
    if inspect.isclass(value):
        own = [name for name in vars(value) if name[0] != "_" and name not in fields(value)]
        members = f"\n   :members: {', '.join(own)}" if own else ""
        return f".. autoclass:: {dotted}{members}\n"
    return f".. autofunction:: {dotted}\n" if callable(value) else f".. autodata:: {dotted}\n"


def fields(kind: type) -> set[str]:
    """What the constructor of a named tuple or data class takes; its docstring describes it."""
    return {*getattr(kind, "_fields", ()), *getattr(kind, "__dataclass_fields__", ())}


def docstring_of(module: str, index: str = "   :no-index:\n") -> str:
    """Have Sphinx show the docstring of a module, whose name may be that of a function too."""
    return f"```{{eval-rst}}\n.. automodule:: {module}\n{index}```\n"


def summary(dotted: str) -> str:
    """The first sentence of a docstring, as Markdown."""
    doc = inspect.getdoc(value_of(dotted)) or ""
    text = " ".join(doc.split("\n\n")[0].split())
    return re.sub(r"(?<!`)`([^`]+)`(?!`)", r"`\1`", text.replace("``", "`")).replace("|", "\\|")


def row(dotted: str, texts: dict[str, str]) -> str:
    """One row of the table of a room."""
    return f"| {{py:obj}}`{short(dotted)} <{dotted}>` | {texts.get(short(dotted)) or summary(dotted)} |"


def module_of(room: str, stem: str) -> str:
    """The public module of a stem, or "" if it has none."""
    for name in (f"qops.{room}.{stem}", f"qops.{stem}"):
        with contextlib.suppress(ModuleNotFoundError):
            import_module(name)
            return name
    return ""


def kind(dotted: str) -> int:
    """Where a name stands on its page: functions, then classes, then bounds."""
    value = value_of(dotted)
    return 1 if inspect.isclass(value) else 0 if callable(value) else 2


def stem_page(room: str, stem: str, names: list[str]) -> str:
    """The page with the docstrings of one file."""
    module = module_of(room, stem)
    body = "\n".join(map(directive, sorted(names, key=kind)))
    return f"# {title_of(stem, names)}\n\n{docstring_of(module) if module else ''}\n```{{eval-rst}}\n{body}```\n"


def room_page(room: str, stems: dict[str, list[str]], more: str = "") -> str:
    """The page of a room: what it is, its ops with what they compute, the pages of its stems."""
    texts = said()
    own = TEXT / room / "index.md"
    top = own.read_text("utf-8") if own.exists() else docstring_of(f"qops.{room}", "")
    names = [name for group in stems.values() for name in group if "BOUND" not in name]
    places = {name: place for place, name in enumerate(texts)}  # README's rows may say "the same" of the row above
    names.sort(key=lambda name: places.get(short(name), len(places)))
    parts = []
    for heading, group in grouped(room).items():
        ops = "\n".join(row(name, texts) for name in names if any(name in stems[stem] for stem in group))
        parts.append(f"## {heading or 'Names'}\n\n| name | what it computes |\n| --- | --- |\n{ops}\n\n")
        parts.append(f"{toctree(group, heading or 'Functions')}\n")
    return f"# {TITLES.get(room, room)}\n\n{top}\n{more}\n{''.join(parts)}"


def toctree(pages: list[str], caption: str = "") -> str:
    """A part of the sidebar."""
    said = f":caption: {caption}\n" if caption else ""
    return "```{toctree}\n:hidden:\n" + said + "\n" + "\n".join(pages) + "\n```\n"


def hazard(dotted: str) -> str:
    """The words of a docstring from "Hazards." to the next bold word or heading, without the examples."""
    doc = inspect.getdoc(value_of(dotted)) or ""
    found = re.search(r"\*\*Hazards?\.\*\* (.+?)(?=\n\n\*\*[A-Z]|\n\n[A-Z][a-z ]+\n---|\Z)", doc, flags=re.S)
    paragraphs = re.sub(r"^ *>>>.*?(?=\n\n|\Z)", "", found[1], flags=re.M | re.S).split("\n\n") if found else []
    return " ".join(" ".join(text.split()).rstrip(":.") + "." for text in paragraphs if text.strip())


def hazards_page() -> str:
    """Every hazard of every docstring, room by room."""
    parts = []
    for room, stems in rooms().items():
        found = {name: text for names in stems.values() for name in names if (text := hazard(name))}
        items = "".join(f"* :py:obj:`{short(name)} <{name}>`: {text}\n" for name, text in found.items())
        parts.append(f"\n## {TITLES.get(room, room)}\n\n```{{eval-rst}}\n{items}```\n" if found else "")
    return (TEXT / "trust/hazards.md").read_text("utf-8") + "".join(parts)


def not_modelled_page() -> str:
    """What README says is not modelled."""
    return "# What is not modelled\n" + README.split("\n## What is not modelled\n")[1].split("\n## ")[0]


def pages() -> dict[str, str]:
    """Path -> text, of all rooms but the rules' own page."""
    found = {"trust/hazards.md": hazards_page(), "trust/not_modelled.md": not_modelled_page()}
    for room, stems in rooms().items():
        if room != "rules":
            found[f"{room}/index.md"] = room_page(room, stems)
        found |= {f"{room}/{stem}.md": stem_page(room, stem, names) for stem, names in stems.items()}
    return found

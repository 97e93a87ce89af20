"""Pages of the rooms: one page for each system with its ops, and one for each source file with its docstrings."""

import contextlib
import inspect
import math
import re
from importlib import import_module
from pathlib import Path

import qops
from docs import figures
from docs.names import TITLES, grouped, rooms, short, title_of, value_of
from qops.prepared import Prepared

TEXT = Path(__file__).parent / "text"
GALLERY = Path(__file__).parent / "gallery"


def power(value: float) -> str:
    """A bound as its docstring has it: 0.5 + 2**-7."""
    exponent = round(math.log2(value - 0.5)) if value > 0.5 else 0
    return f"0.5 + 2\\*\\*{exponent}" if value == 0.5 + 2.0**exponent else f"{value:g}"


def bounds(op: str) -> str:
    """The bound of an op of the front door, of each type of codes that has another one than the types before it."""
    found: dict[str, list[str]] = {}
    for dtype in ("uint8", "int8", "uint16", "int16", "int32"):
        with contextlib.suppress(ValueError):  # an op without a bound, or that does not give these codes
            found.setdefault(power(qops.bound(op, dtype)), []).append(dtype)
    first, *others = found or [""]
    return "; ".join([first, *(f"{', '.join(found[value])} {value}" for value in others)])


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


def row(dotted: str) -> str:
    """One row of the table of a room: the first sentence of the docstring, and the bound if there is one."""
    bound = bounds(short(dotted))
    words = summary(dotted) + (f" *Error, in output LSB:* {bound}" if bound else "")
    return f"| {{py:obj}}`{short(dotted)} <{dotted}>` | {words} |"


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
    body = "\n".join(map(directive, sorted(names, key=lambda name: (kind(name), not name.endswith(f".{stem}")))))
    top = (docstring_of(module) if module else "") + picture(stem)
    return f"# {title_of(stem, names)}\n\n{top}\n```{{eval-rst}}\n{body}```\n"


def picture(stem: str) -> str:
    """The figure of the gallery whose script has the name of the file, if there is one."""
    script = GALLERY / f"{stem}.py"
    if not script.exists():
        return ""
    title, figure = figures.words(script)[0], f"../gallery/{stem}.{figures.kind(script)}"
    return f"\n```{{image}} {figure}\n:alt: {title}\n:class: wide\n```\n\n[The script](../gallery/{stem}.md)\n"


def room_page(room: str, stems: dict[str, list[str]], more: str = "") -> str:
    """The page of a room: what it is, its ops with what they compute, the pages of its stems."""
    own = TEXT / room / "index.md"
    top = own.read_text("utf-8") if own.exists() else docstring_of(f"qops.{room}", "")
    names = [name for group in stems.values() for name in group if "BOUND" not in name]
    parts = []
    for heading, group in grouped(room).items():
        ops = "\n".join(row(name) for name in names if any(name in stems[stem] for stem in group))
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


def not_modelled(room: str) -> tuple[str, str]:
    """What the docstring of a room says is not modelled: names of ops, and what else."""
    doc = inspect.getdoc(import_module(f"qops.{room}")) or ""
    found = re.search(r"^Not modelled: (.+?);\s(.+?)\.(?=\n\n|\Z)", doc, flags=re.M | re.S)
    if not found:
        return "", ""
    names, rest = (" ".join(text.replace("``", "`").split()) for text in found.groups())
    return names, rest


def not_modelled_page() -> str:
    """What the docstrings of the rooms say is not modelled."""
    found = {
        room: not_modelled(room) for room in rooms() if room not in ("frontdoor", "tools", "models", "nouns", "isa")
    }
    rows = "".join(f"| {TITLES.get(room, room)} | {names} | {rest} |\n" for room, (names, rest) in found.items())
    return (TEXT / "trust/not_modelled.md").read_text("utf-8").replace("{systems}\n", rows)


def pages() -> dict[str, str]:
    """Path -> text, of all rooms but the rules' own page."""
    found = {"trust/hazards.md": hazards_page(), "trust/not_modelled.md": not_modelled_page()}
    for room, stems in rooms().items():
        if room != "rules":
            found[f"{room}/index.md"] = room_page(room, stems)
        found |= {f"{room}/{stem}.md": stem_page(room, stem, names) for stem, names in stems.items()}
    return found

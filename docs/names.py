"""Which public names there are, and on which page each of them stands: read from the package."""

import inspect
import pkgutil
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import qops

TITLES = {
    "frontdoor": "The front door",
    "tools": "Answers and errors",
    "models": "Model files",
    "nnlib": "Hexagon nnlib",
    "tensorflow": "TensorFlow",
    "onednn": "oneDNN",
    "onnx": "ONNX",
    "tflite": "TFLite",
    "rules": "Rules by name",
    "isa": "Instructions",
    "nouns": "Codes, ranges, fixed point",
}
"""Room -> title of its page, in the order of the site; a room that is not here comes last, under its own name."""
NOUNS = ("affine", "fixedpoint", "codes", "plot", "testing")
GROUPS = {
    "frontdoor": {
        "Codes and ranges": ("quantize", "observer", "requantize"),
        "Sums and products": ("add", "sub", "mul", "multiply_shift", "matmul", "conv2d", "passes"),
        "Between layers": ("relu", "max_pool", "pool", "lookup", "softmax", "concat", "pad"),
        "Error": ("error", "report", "error_report", "signed_error", "bound"),
    },
    "tools": {
        "Which rule": ("explain", "explanation"),
        "Which layer": ("debug", "hunt"),
        "Saturation": ("saturation", "safe_products", "repairs"),
        "A port": ("params", "vectors", "add_vectors", "quantize_vectors", "pool_vectors"),
        "Error": ("sweep", "plot"),
        "In test suites": ("testing",),
    },
}
"""Room -> heading in the sidebar -> stems. Those that are in no group come last, under "More"."""


def place(value: Any) -> tuple[str, str]:
    """Room and stem of the module that a public name comes from."""
    _, *parts = inspect.unwrap(value).__module__.split(".")
    if not parts:  # isa_tier, which the package itself defines
        return "isa", value.__name__
    if len(parts) > 1:
        return parts[0], parts[-1]
    return "tools" if parts[0] in ("plot", "testing") else "nouns", parts[0]


def packages() -> list[ModuleType]:
    """Packages of qops that export names: rooms, and the nouns."""
    found = [f"qops.{item.name}" for item in pkgutil.iter_modules(qops.__path__) if item.ispkg and item.name[0] != "_"]
    return [qops, *map(import_module, found), *(import_module(f"qops.{name}") for name in NOUNS)]


def is_ours(value: Any) -> bool:
    """Whether it is a function or a class; types and tables are shown elsewhere."""
    return inspect.isroutine(inspect.unwrap(value)) or inspect.isclass(value)


def is_defined_in(module: ModuleType, name: str) -> bool:
    """Whether the module's source assigns the name."""
    return f"\n{name} = " in inspect.getsource(module)


@cache
def rooms() -> dict[str, dict[str, list[str]]]:
    """Room -> stem -> dotted public names, in the order in which packages export them."""
    found: dict[str, dict[str, list[str]]] = {name: {} for name in TITLES}
    for package in packages():
        for name in getattr(package, "__all__", ()):
            value = getattr(package, name)
            if is_ours(value):
                room, stem = place(value)
                found.setdefault(room, {}).setdefault(stem, []).append(f"{package.__name__}.{name}")
            elif inspect.ismodule(value) and package.__name__ not in ("qops", "qops.frontdoor"):
                functions = inspect.getmembers(value, inspect.isfunction)
                own = [key for key, f in functions if f.__module__ == value.__name__ and key[0] != "_"]
                room, stem = package.__name__.rpartition(".")[2], name
                found[room].setdefault(stem, []).extend(f"{value.__name__}.{key}" for key in own)
    for stem, names in found["frontdoor"].items():
        module = import_module(f"qops.frontdoor.{stem}")
        bounds = [name for name in module.__all__ if name.startswith("BOUND") and is_defined_in(module, name)]
        names.extend(f"{module.__name__}.{name}" for name in bounds)
    return {room: dict(sorted(stems.items())) for room, stems in found.items() if stems}


def grouped(room: str) -> dict[str, list[str]]:
    """Heading -> stems of a room, in the order of the sidebar; one group without a heading if none is said."""
    stems, groups = [*rooms()[room]], GROUPS.get(room, {})
    found = {name: [stem for stem in group if stem in stems] for name, group in groups.items()}
    placed = {stem for group in found.values() for stem in group}
    rest = [stem for stem in stems if stem not in placed]
    return found | ({"More" if groups else "": rest} if rest else {})


def title_of(stem: str, names: list[str]) -> str:
    """The title of the page of a stem, what users type: its module, or its names, that of the stem first.

    Two are enough, and neither bounds nor prepared forms nor the long names beside a short one are needed.
    """
    shown = [short(name) for name in names if "BOUND" not in name]
    if {name.rpartition(".")[0].rpartition(".")[2] for name in shown} == {stem}:
        return f"qops.{shown[0].rpartition('.')[0]}"
    last = {name: name.rpartition(".")[2] for name in shown}
    small = {word.replace("_", "") for word in last.values() if word[0].islower()}
    mine = [name for name, word in last.items() if word[0].islower() or word.lower() not in small]
    if stem in last.values():
        mine = [name for name in mine if not last[name].startswith("quantized_") or last[name] == stem]
    first, *others = sorted(mine, key=lambda name: (last[name] != stem, last[name][0].isupper()))
    more = [last[name] for name in others[:1]] + ["..."] * (len(others) > 1)
    return ", ".join([first if "." in first else f"qops.{first}", *more])


def value_of(dotted: str) -> Any:
    """The object of a dotted name."""
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def short(dotted: str) -> str:
    """The name as a user writes it after ``import qops``: nnlib.requantize_32to8."""
    return dotted.removeprefix("qops.").removeprefix("frontdoor.")

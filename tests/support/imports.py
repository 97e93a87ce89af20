"""Which module imports which, read from the source, and which arrows run uphill."""

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOUNS = {
    "_errors",
    "_fixed_modes",
    "_keywords",
    "_pages",
    "_readable",
    "codes",
    "checks",
    "qtensor",
    "affine",
    "fixedpoint",
    "isa",
    "joining",
    "prepared",
    "window",
    "window_rows",
}
"""Modules between the kernels and the ops."""
PACKAGES = {folder.parent.name for folder in (ROOT / "qops").glob("[a-z]*/__init__.py")}  # front door and systems
KERNELS = {folder.parent.name for folder in (ROOT / "qops/_kernels").glob("[a-z]*/__init__.py")}
BESIDE_NUMPY = {"numpy", "libc", "cython", "cpython", *sys.stdlib_module_names}
PYX_IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import\s+(.*)|c?import\s+([\w.]+).*)$", re.M)


def modules(suffix):
    """The kernels that have a file with this suffix, as "room.stem"."""
    return sorted(f"{path.parent.name}.{path.stem}" for path in (ROOT / "qops/_kernels").rglob(f"*.{suffix}"))


def statements(block):
    """The statements of a block, and those inside of them; most nodes of a tree are parts of expressions."""
    for node in block:
        yield node
        for part in map(vars(node).get, ("body", "orelse", "handlers", "finalbody", "cases")):
            yield from statements(part or ())


def imported(source, module, is_package=False):
    """Absolute names that a Python module imports: "qops.add.name" for `from qops.add import name`."""
    for node in statements(ast.parse(source).body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = module.split(".")[: len(module.split(".")) - node.level + is_package] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield from (f"{start}.{alias.name}" for alias in node.names)


def imported_by_pyx(source):
    """Absolute names that a Cython module imports: its statements are Python's, or have a c in front."""
    for start, names, alone in PYX_IMPORT.findall(source):
        if alone:
            yield alone
        for name in re.findall(r"[\w*]+", names.split("#")[0].replace("(", "")) or ([""] if start else []):
            yield f"{start}.{name}".rstrip(".")


def room(name):
    """The room that a dotted name is in: "qops", "nouns", a package such as "nnlib", or "_kernels.nnlib" below it."""
    parts = name.split(".")
    if parts[0] != "qops":
        return parts[0]
    if len(parts) == 1:
        return "qops"
    if parts[1] in ("__main__", "plot", "testing"):
        return "tools"
    if parts[1] == "_kernels":
        return ".".join(parts[1:3] if len(parts) > 2 and parts[2] in KERNELS else parts[1:2])
    return "nouns" if parts[1] in NOUNS else parts[1]


READ, EXTRAS = ("tflite", "onnx"), ("flatbuffers", "google")
"""Systems whose files `models` reads; packages that it reads them with, beside those of the systems' names."""
LAYERS = ("machine", "arrays", "stage", "gemm", "pool", "conv")
"""Kernels that all rooms share, the lowest first: each may use those before it."""
FLOORS = {
    "models": (
        *(("tensor",), ("op", "real_functions"), ("live", "plan", "session")),
        *(("cut", "graph", "operator", "target"), ("code", "noise")),
        *(("onnx", "tflite"), ("kinds",), ("lanes",), ("loader",), ("argument",)),
    ),
    "tools": (
        *(("drawing", "folder", "progress", "where"), ("explain", "params", "sweep")),
        *(("debug", "saturation", "selftest", "vectors"), ("commands",)),
    ),
}
"""Rooms inside of rooms, the lowest floor first: each may use itself and the floors below it."""


def below(here):
    """The rooms of qops that modules of the room `here` may import."""
    shared = {"_kernels", *(f"_kernels.{name}" for name in LAYERS)}
    if here == "qops":
        return {*shared, "nouns", *PACKAGES}
    if here == "nouns":
        return {*shared, "_kernels.frontdoor", "nouns"}
    if here == "tools":
        return {"_kernels.machine", "_kernels.arrays", "nouns", *PACKAGES}
    if here == "models":
        return {here, "_kernels.arrays", "_kernels.conv", "_kernels.machine", "nouns", "rules", *READ, *EXTRAS}
    name = here.removeprefix("_kernels.")
    if name in LAYERS:
        return {here, *(f"_kernels.{layer}" for layer in LAYERS[: LAYERS.index(name)])}
    if here.startswith("_kernels"):
        return {here, *shared}
    if here == "rules":
        return {here, "nouns", *shared}
    return {here, "rules", "nouns", *shared, f"_kernels.{here}"}


def is_below(name, module):
    """Whether a module of a room with floors may import a name of its own room; other arrows are no question here."""
    here, there = module.split("."), name.split(".")
    if len(here) < 3 or here[1] not in FLOORS or there[:2] != here[:2]:
        return True
    floors = {inner: i for i, floor in enumerate(FLOORS[here[1]]) for inner in floor}
    inner = there[2] if len(there) > 2 else ""
    return inner == here[2] or floors.get(inner, len(floors)) < floors.get(here[2], 0)


def uphill(module, names):
    """The arrows among `names` that `module` must not draw, as text."""
    here = room(module)
    if here in {"analysis", "benchmarks", "docs", "notebooks"}:
        barred = [n for n in names if n.startswith("qops") and any(p.startswith("_") for p in n.split("."))]
        barred += [n for n in names if here == "benchmarks" and room(n) == "matplotlib"]
    else:
        drawing = {"matplotlib"} if module == "qops.plot" else set()
        allowed = below(here) | BESIDE_NUMPY | drawing
        barred = [n for n in names if room(n) not in allowed or not is_below(n, module)]
    return [f"{module} imports {name}" for name in barred]


@cache
def arrows():
    """Module -> names that it imports, of every module of the tree; a kernel's .pxd and .pyx are one."""
    found = defaultdict(list)
    for folder in ("qops", "analysis", "benchmarks", "docs"):
        for path in sorted((ROOT / folder).rglob("*.p*")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            if path.suffix == ".py":
                found[module] += imported(path.read_text(), module, parts[-1] == "__init__")
            elif path.suffix in {".pyx", ".pxd"}:
                found[module] += imported_by_pyx(path.read_text())
    return found

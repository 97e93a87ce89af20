"""The house itself: who imports whom, tiers, twins, and what must not stand in any file."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import imports
import nbformat
import ops
import pytest
import reference

import qops
from qops._kernels.machine import tiers as isa

ROOT = imports.ROOT


# --- imports ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_imports_run_downhill():
    arrows = imports.arrows()
    assert {"qops", "qops.frontdoor.add", "qops._kernels.frontdoor.add", "qops.qtensor"} <= set(arrows)
    assert "qops._kernels.arrays.walk.walk" in arrows["qops._kernels.frontdoor.passes"], "the kernels' imports are read"
    assert "qops.qtensor.QTensor" in arrows["qops.frontdoor.add"]
    assert not [text for module, names in arrows.items() for text in imports.uphill(module, names)]
    inner = {(parts[1], parts[2]) for module in arrows if len(parts := module.split(".")) > 2}
    listed = {(room, name) for room, floors in imports.FLOORS.items() for floor in floors for name in floor}
    assert listed == {pair for pair in inner if pair[0] in imports.FLOORS}, "each inner room stands on one floor"


def test_imports_of_notebooks_run_downhill():
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        for cell in (c for c in cells if c.cell_type == "code"):
            source = re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.M)
            assert not imports.uphill("notebooks", list(imports.imported(source, "notebooks"))), path.name


@pytest.mark.parametrize(
    ("module", "source", "name"),
    [
        ("qops.qtensor", "from qops.frontdoor.add import x", "qops.frontdoor.add.x"),
        ("qops.qtensor", "import qops", "qops"),
        ("qops.qtensor", "from . import frontdoor", "qops.frontdoor"),
        ("qops.frontdoor.add", "from ..tensorflow.add import x", "qops.tensorflow.add.x"),
        ("qops.frontdoor.add", "from qops._kernels.nnlib.add import x", "qops._kernels.nnlib.add.x"),
        ("qops.frontdoor.add", "def f():\n    import scipy.signal", "scipy.signal"),
        ("qops.tensorflow.add", "from qops.frontdoor.add import kernels", "qops.frontdoor.add.kernels"),
        ("qops.tensorflow.add", "from ..nnlib import add", "qops.nnlib.add"),
        ("qops.affine", "import matplotlib.pyplot as plt", "matplotlib.pyplot"),
        ("qops.rules.table", "from qops.onnx import x", "qops.onnx.x"),
        ("qops.rules.table", "from qops.tools.explain.explain import x", "qops.tools.explain.explain.x"),
        ("qops.nnlib.add", "from qops.tools.explain.explain import x", "qops.tools.explain.explain.x"),
        ("qops.affine", "from qops.rules import x", "qops.rules.x"),
        ("analysis.x", "from qops._kernels.machine import tiers", "qops._kernels.machine.tiers"),
        ("benchmarks.x", "import matplotlib", "matplotlib"),
        ("notebooks", "import qops._kernels.frontdoor.add", "qops._kernels.frontdoor.add"),
        ("qops.models.op", "from qops.models.graph import Graph", "qops.models.graph.Graph"),
        ("qops.models.onnx.ops", "from qops.models.tflite.site import x", "qops.models.tflite.site.x"),
        ("qops.models.tflite.ops", "from qops.models import Graph", "qops.models.Graph"),
        ("qops.tools.explain.page", "from ..debug import walk", "qops.tools.debug.walk"),
        ("qops.tools.params.params", "from qops.tools.explain.explain import x", "qops.tools.explain.explain.x"),
        ("qops._pages.svg", "import qops.tools.debug.page", "qops.tools.debug.page"),
    ],
)
def test_imports_that_run_uphill_are_found(module, source, name):
    """The checker on made-up sources: each of these must be found."""
    assert imports.uphill(module, list(imports.imported(source, module))) == [f"{module} imports {name}"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from qops.qtensor cimport operand", "qops.qtensor.operand"),
        ("cimport qops.affine", "qops.affine"),
        ("import qops.affine as affine  # why not", "qops.affine"),
        ("def f():\n    from qops.affine import (\n        exact)", "qops.affine"),
        ("from qops._kernels.tensorflow.formulas cimport clamp", "qops._kernels.tensorflow.formulas.clamp"),
        ("from qops._kernels.frontdoor.quantize cimport quantize", "qops._kernels.frontdoor.quantize.quantize"),
        ("import matplotlib", "matplotlib"),
    ],
)
def test_imports_of_kernels_that_run_uphill_are_found(source, name):
    module = "qops._kernels.nnlib.x"
    assert imports.uphill(module, list(imports.imported_by_pyx(source))) == [f"{module} imports {name}"]
    tier, product = "qops._kernels.machine.tiers.tier", "qops._kernels.gemm.gemm.product"
    assert not imports.uphill(module, ["numpy", "libc.math.rint", "os", tier, product])
    assert imports.uphill("qops._kernels.stage.x", [tier, product]) == [f"qops._kernels.stage.x imports {product}"]


# --- tiers -----------------------------------------------------------------------------------------------------------


def in_a_new_process(tier, code):
    environment = {**os.environ, "QOPS_ISA": tier, "PYTHONPATH": str(Path(qops.__file__).parent.parent)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("tier", ["", *isa.available()])
def test_tier_is_taken_from_the_environment(tier):
    done = in_a_new_process(tier, "import qops; print(qops.isa_tier())")
    assert done.stdout.strip() == (tier or isa.available()[-1]), done.stderr


@pytest.mark.parametrize("tier", ["sse9", "AVX2", " "])
def test_wrong_tier_in_the_environment_is_named(tier):
    done = in_a_new_process(tier, "import qops")
    assert done.returncode != 0
    assert f"ValueError: QOPS_ISA: {tier!r} is not one of the tiers of this CPU, plain" in done.stderr


def test_tier_can_be_asked_for_and_set():
    before = qops.isa_tier()
    assert isa.available()[0] == "plain"
    assert isa.available() == tuple(tier for tier in isa.TIERS if tier in isa.available())
    for tier in isa.available():
        isa.use(tier)
        assert qops.isa_tier() == tier
    isa.use(before)
    for tier in {"none", *isa.TIERS} - {*isa.available()}:
        with pytest.raises(ValueError, match=f"'{tier}' is not one of the tiers"):
            isa.use(tier)
    assert qops.isa_tier() == before


# --- twins -----------------------------------------------------------------------------------------------------------


def twins_in(path):
    """The names of the functions of `reference` that a file calls. Files that do not name it are not parsed."""
    tree = ast.parse(source if "reference." in (source := path.read_text()) else "")
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {f.attr for f in calls if isinstance(f, ast.Attribute) and getattr(f.value, "id", "") == "reference"}


def test_every_op_has_a_twin_that_tests_use():
    assert all(callable(reference.twin(name)) for name in ops.FRONT_DOOR)
    used = {twin for path in (ROOT / "tests").rglob("test_*.py") for twin in twins_in(path)}
    assert not {name.replace(".", "_") for name in ops.FRONT_DOOR} - used


def test_every_public_op_is_in_the_registry_and_all_its_arguments_are_known():
    """Arguments whose default is None, True or False, or an object that a system's tests know, may be left out."""
    lacking, beyond = sorted({*ops.public()} - {*ops.OPS}), sorted({*ops.OPS} - {*ops.public()})
    assert not lacking, f"public functions without a good call in tests/support/calls/ROOM.py: {lacking}"
    assert not beyond, f"good calls in tests/support/calls/ROOM.py of what is not public: {beyond}"
    for name, op in ops.OPS.items():
        parameters = inspect.signature(ops.function(name)).parameters
        assert ("out" in parameters) == (op.out is not None), name
        assert set(op.good) <= set(parameters), name
        needed = {key for key, p in parameters.items() if p.default is p.empty and p.kind != p.VAR_KEYWORD}
        assert needed <= set(op.good), name


def test_an_op_without_a_twin_is_found():
    with pytest.raises(KeyError):
        reference.twin("quantized_div_8p8to8")
    assert "quantized_add_8p8to8" in ops.public()


# --- files -----------------------------------------------------------------------------------------------------------

NOT_SOURCE = {".git", ".venv", "build", "dist", "__pycache__", ".hypothesis"}
MACHINE = re.compile(r"[/:](?:(?<=/)(?:home/\w|root/|Users/\w|work/|tmp/)|(?<=\b[A-Z]:)\\\\?Users)")


def sources():
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [p for p in inner if p not in NOT_SOURCE and not p.endswith(("_cache", ".egg-info", "_checkpoints"))]
        yield from (Path(folder, name) for name in files if not name.endswith((".so", ".npz", ".png", ".jpg")))


@pytest.mark.long
def test_no_file_names_a_path_of_a_machine():
    for start in ("/ho" + "me/ada", "/ro" + "ot", "/Use" + "rs/ada", "/wo" + "rk", "/tm" + "p", r"C:\Use" + "rs"):
        assert MACHINE.search(f'open("{start}/x")')
    read = {path.relative_to(ROOT).as_posix(): path.read_bytes().decode("utf-8", "replace") for path in sources()}
    assert {"README.md", "qops/frontdoor/add.py", "tests/house/test_house.py", ".ci/run"} <= set(read)
    assert not [name for name, text in read.items() if MACHINE.search(text)]


# --- packages --------------------------------------------------------------------------------------------------------

PACKED = """
import sys
from setuptools import Distribution
from setuptools._distutils.filelist import FileList

distribution = Distribution({"script_name": "setup.py"})
distribution.parse_config_files()
build = distribution.get_command_obj("build_py")
build.ensure_finalized()
print(*(file for *_, file in build.find_all_modules()))
print(*(f"{source}/{name}" for _, source, _, names in build.data_files for name in names))
files = FileList()
files.set_allfiles(sys.argv[1:])
for line in open("MANIFEST.in"):
    files.process_template_line(line.strip())
print(*files.files)
"""


@pytest.mark.long
def test_packages_hold_every_file_that_they_need():
    """The sdist every file of the tree; the wheel every module, stub and the mark of types, beside what is compiled."""
    tree = {path.relative_to(ROOT).as_posix() for path in sources()}
    packed = [sys.executable, "-c", PACKED, *tree]
    done = subprocess.run(packed, cwd=ROOT, capture_output=True, text=True, check=True)
    modules, data, manifest = (set(line.split()) for line in done.stdout.splitlines()[-3:])
    own = {"README.md", "LICENSE", "MANIFEST.in", "pyproject.toml", "setup.py"}  # setuptools adds these by itself
    assert "qops/_kernels/lanes/lanes.h" in manifest
    assert tree - manifest - own == set()
    wanted = {name for name in tree if name.startswith("qops/") and name.endswith((".py", "py.typed"))} | {
        "qops/tools/selftest.npz"
    }
    assert wanted == modules | data

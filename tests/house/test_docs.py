"""Docstrings are complete, their examples and README's run."""

import doctest
import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from ops import FRONT_DOOR, OPS, function, own_functions

import qops

README = Path(__file__).parents[2] / "README.md"
PACKAGE = Path(qops.__file__).parent
WRITTEN_BY_CYTHON = "qops._kernels.shared"  # it has no source of ours, so no docstring
MODULES = ["qops", *(found.name for found in pkgutil.walk_packages(qops.__path__, "qops."))]
MODULES.remove(WRITTEN_BY_CYTHON)
SYSTEMS = [
    found.name
    for found in pkgutil.iter_modules(qops.__path__)
    if found.ispkg and not found.name.startswith("_") and found.name not in {"frontdoor", "isa", "models", "tools"}
]
SYSTEM_ROOMS = [f"qops.{system}" for system in SYSTEMS]
SYSTEM_OPS = [name for name in OPS if name.rpartition(".")[0] in SYSTEMS]


def sections(doc):
    """Heading -> body of a numpydoc docstring; the summary under ""."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", inspect.cleandoc(doc), flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))


def documented(body):
    """Names that a Parameters or Attributes section lists."""
    heads = [line.split(":")[0] for line in body.splitlines() if line and not line.startswith(" ")]
    return [name.strip(" *") for head in heads for name in head.split(",")]


def complaints(f):
    """What the docstring of a function lacks."""
    if not f.__doc__:
        return ["a docstring"]
    found, parameters = sections(f.__doc__), [p for p in inspect.signature(f).parameters if p != "self"]
    lacking = [] if found[""].split("\n\n")[0].rstrip().endswith(".") else ["a summary that is a sentence"]
    wanted = (["Parameters", "Raises"] if parameters else []) + ["Returns"]
    lacking += [section for section in wanted if section not in found]
    if "Parameters" in found and documented(found["Parameters"]) != parameters:
        lacking.append(f"parameters {parameters}, has {documented(found['Parameters'])}")
    if ">>>" not in f.__doc__:
        lacking.append("an example")
    if run_in := re.search(r"^\s*(\w[\w ]*) -{3,}", f.__doc__, re.M):
        lacking.append(f"a line of its own for the heading {run_in[1]}")
    return lacking


def test_docstrings_are_complete():
    assert not {name: lacking for name in (*FRONT_DOOR, *SYSTEM_OPS) if (lacking := complaints(function(name)))}


@pytest.mark.parametrize("name", sorted(["isa", *(path.stem for path in PACKAGE.glob("[a-z]*.py"))]))
def test_docstrings_of_helpers_are_complete(name):
    """What all functions of `isa` raise stands in the docstring of the package."""
    functions = own_functions(import_module(f"qops.{name}")).values()
    helpers = [f for f in functions if inspect.isfunction(inspect.unwrap(f))]
    without = {"Raises"} if name == "isa" else set()
    assert not {f.__name__: lacking for f in helpers if (lacking := set(complaints(f)) - without)}


def test_docstrings_of_systems_name_their_source():
    assert not [name for name in SYSTEM_OPS if not re.search(r"\bSources?:", function(name).__doc__)]


PUBLIC = [name for name in MODULES if name.count(".") < 2 and hasattr(import_module(name), "__all__")]


def methods():
    """Public methods that give something, of the classes that packages export, by dotted names."""
    exported = [(name, getattr(import_module(name), word)) for name in PUBLIC for word in import_module(name).__all__]
    classes = {kind: name for name, kind in exported if inspect.isclass(kind)}
    own = [(f"{name}.{kind.__name__}", kind, word) for kind, name in classes.items() for word in vars(kind)]
    found = {f"{name}.{word}": getattr(kind, word) for name, kind, word in own if not word.startswith("_")}
    given = {name: inspect.signature(f).return_annotation for name, f in found.items() if inspect.isroutine(f)}
    return {name: found[name] for name, kind in given.items() if kind not in ("None", "NoReturn", "Never")}


def test_docstrings_of_methods_and_of_the_int8_workflow_are_complete():
    steps = {f"workflow.{name}": f for name, f in own_functions(qops.onednn.workflow).items()}
    assert {"workflow.output_scale", "qops.onednn.Window.taps", "qops.Vectors.program"} <= {*steps, *methods()}
    assert not {name: lacking for name, f in steps.items() if (lacking := complaints(f))}
    optional = {"an example", "Raises"}
    found = {name: set(complaints(f)) - optional for name, f in methods().items()}
    assert not {name: lacking for name, lacking in found.items() if lacking}


def test_signatures_are_those_that_the_source_has():
    """Types by their short names, not what numpy's aliases stand for, and no default as ``<class ...>``."""
    things = {
        f"{name}.{word}": getattr(import_module(name), word) for name in PUBLIC for word in dir(import_module(name))
    }
    own = {name: thing for name, thing in things.items() if getattr(thing, "__module__", "").startswith("qops")}
    called = {name: thing for name, thing in own.items() if inspect.isroutine(thing)}
    written = {name: str(inspect.signature(thing)) for name, thing in called.items()}
    assert not [name for name, text in written.items() if re.search(r"typing\.|numpy\.ndarray|ForwardRef|<", text)]
    assert len(written) > len(SYSTEM_OPS)


@pytest.mark.parametrize(
    "name", ["qops", *(f"qops.{name}" for name in qops.__all__ if inspect.ismodule(getattr(qops, name)))]
)
def test_completion_offers_public_names_only(name):
    module = import_module(name)
    assert sorted(dir(module)) == sorted(module.__all__)


def test_what_a_function_hides_is_in_its_room():
    """A function of a module's own name hides it: what others use of the module is then a public name of the room."""
    lost, hidden = {}, 0
    for name in (name for name in MODULES if name.count(".") == 2 and "._" not in name):
        room, module = import_module(name.rpartition(".")[0]), import_module(name)
        if getattr(room, name.rpartition(".")[2]) is not module:
            hidden += 1
            lost[name] = set(module.__all__) - set(room.__all__)
    assert hidden > 50
    assert not any(lost.values()), lost


def test_docstrings_that_lack_something_are_found():
    """The checker on made-up functions."""

    def bare(x):
        return x

    def half(x, y):
        """Add.

        Parameters
        ----------
        x : int
            One.
        """
        return x + y

    assert complaints(bare) == ["a docstring"]

    def run_in():
        """Nothing.

        Notes ----- Source: none.

        >>> 1
        """

    assert complaints(half) == ["Raises", "Returns", "parameters ['x', 'y'], has ['x']", "an example"]
    assert complaints(run_in) == ["Returns", "a line of its own for the heading Notes"]


@pytest.mark.parametrize("module", ["qops", *SYSTEM_ROOMS])
def test_every_public_name_has_a_docstring(module):
    package = import_module(module)
    assert package.__all__
    for name in package.__all__:
        value = getattr(package, name)
        assert inspect.getdoc(value), f"{module}.{name}"
        if inspect.isclass(value) and hasattr(value, "_fields"):
            assert documented(sections(value.__doc__)["Attributes"]) == list(value._fields), name


def test_no_function_shadows_a_module_of_the_front_door():
    modules = [name for name in MODULES if name.startswith("qops.frontdoor.")]
    assert len(modules) > 20
    assert not [name for name in modules if getattr(qops.frontdoor, name.rpartition(".")[2]) is not import_module(name)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    """As users type them: after ``import numpy as np`` and ``import qops``, and nothing else."""
    module = import_module(name)
    assert module.__doc__, "every module says what it is"
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder().find(module):
        test.globs = {"np": np, "qops": qops}
        assert not runner.run(test).failed, test.name


def test_examples_are_found_at_all():
    counts = {name: sum(len(t.examples) for t in doctest.DocTestFinder().find(import_module(name))) for name in MODULES}
    assert counts["qops.frontdoor.add"] >= 8
    assert counts["qops.fixedpoint"] >= 5


def test_examples_of_readme_run():
    result = doctest.testfile(str(README), module_relative=False)
    assert result.attempted > 0
    assert not result.failed

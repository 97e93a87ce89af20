"""Compiled modules: their stubs, and the public ops whose bodies they hold."""

import ast
import inspect
import re
import sys
import sysconfig
from importlib import import_module

import imports
import ops
import pytest

KERNELS = imports.modules("pyx")


def stubbed(name):
    """Public names of a kernel's stub: function -> arguments with defaults, class -> attributes, constant -> None."""
    found = {}
    for node in ast.parse((imports.ROOT / f"qops/_kernels/{name.replace('.', '/')}.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            args = node.args
            defaults = [None] * (len(args.args) - len(args.defaults)) + args.defaults + args.kw_defaults
            texts = [d and ast.unparse(d) for d in defaults]
            found[node.name] = [(a.arg, d) for a, d in zip(args.args + args.kwonlyargs, texts, strict=True)]
            found[node.name] += [(a.arg, None) for a in (args.vararg, args.kwarg) if a]
        elif isinstance(node, ast.ClassDef) and "TypedDict" not in map(ast.unparse, node.bases):  # that is a struct
            items = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            found[node.name] = {name for name in items if not name.startswith("_")}
        elif isinstance(node, ast.AnnAssign):
            found[node.target.id] = None
    return {key: value for key, value in found.items() if not key.startswith("_")}


def is_compiled(f):
    """Whether it is a definition with a compiled body."""
    return type(f).__name__ == "cython_function_or_method" and hasattr(f, "__wrapped__")


def compiled(name):
    """The same, of the compiled module; what it has imported is not its own; the body of a public op is a constant."""
    module = import_module(f"qops._kernels.{name}")
    assert module.__file__.endswith((".so", ".pyd"))
    found = {}
    for key, value in vars(module).items():
        if is_compiled(value):
            found[key] = None
            continue
        if (
            key.startswith("_")
            or inspect.ismodule(value)
            or getattr(value, "__module__", module.__name__) != module.__name__
        ):
            continue
        if inspect.isclass(value):
            found[key] = {name for name in vars(value) if not name.startswith("_")}
        elif callable(value):
            found[key] = [
                (p.name, None if p.default is p.empty else repr(p.default))
                for p in inspect.signature(value).parameters.values()
            ]
        else:
            found[key] = None
    return found


COMPILED = [name for name in ops.OPS if is_compiled(ops.function(name))]


def arguments(signature):
    """Those by position, in their order, and those by name alone, whose order means nothing to a caller."""
    found = [(p.name, p.kind, p.default) for p in signature.parameters.values()]
    by_name = [a for a in found if a[1] is inspect.Parameter.KEYWORD_ONLY]
    return [a for a in found if a not in by_name], sorted(by_name, key=str)


@pytest.mark.parametrize("name", sorted({*COMPILED, "quantize", "onednn.gemm_u8s8s32"}))
def test_compiled_bodies_take_what_their_definitions_say(name):
    f = ops.function(name)
    stated, taken = inspect.signature(f.__wrapped__), inspect.signature(f, follow_wrapped=False)
    assert arguments(stated) == arguments(taken)
    assert not f.__wrapped__.__code__.co_names, f"{name}: its definition has code, which is never run"


@pytest.mark.parametrize("name", COMPILED)
def test_threads_that_run_at_once_count_no_references_to_a_public_function(name):
    f = ops.function(name)
    before = sys.getrefcount(f)
    held = [f] * 5
    counted = sys.getrefcount(f) - before
    assert counted == (0 if sysconfig.get_config_var("Py_GIL_DISABLED") else len(held))


@pytest.mark.parametrize("name", KERNELS)
def test_stubs_agree_with_their_compiled_modules(name):
    assert stubbed(name) == compiled(name)


def test_every_kernel_has_a_stub_and_every_stub_a_kernel():
    assert imports.modules("pyi") == KERNELS
    assert "frontdoor.add" in KERNELS


def test_integers_of_every_prepare_step_are_used():
    """Porters print them: a test computes codes from them, or a tool gives them out."""
    files = [*(imports.ROOT / "tests").glob("*/test_*.py"), *(imports.ROOT / "qops").glob("*/*.py")]
    texts = [path.read_text() for path in files]
    steps = {(kernel, name) for kernel in KERNELS for name in stubbed(kernel) if name.endswith("_integers")}
    assert ("nnlib.quantize", "quantize_integers") in steps
    for kernel, name in steps:
        room, words = f"qops._kernels.{kernel.split('.')[0]}", re.compile(rf"\b{name}\b")
        assert any(room in text and words.search(text) for text in texts), f"{kernel}.{name}"

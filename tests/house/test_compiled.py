"""Public ops whose bodies are compiled."""

import inspect
import sys
import sysconfig

import ops
import pytest


def is_compiled(f):
    """Whether it is a definition with a compiled body."""
    return type(f).__name__ == "cython_function_or_method" and hasattr(f, "__wrapped__")


COMPILED = [name for name in ops.OPS if is_compiled(ops.function(name))]


def arguments(signature):
    """Those by position, in their order, and those by name alone, whose order means nothing to a caller."""
    found = [(p.name, p.kind, p.default) for p in signature.parameters.values()]
    by_name = [a for a in found if a[1] is inspect.Parameter.KEYWORD_ONLY]
    return [a for a in found if a not in by_name], sorted(by_name, key=str)


@pytest.mark.parametrize("name", sorted({*COMPILED, "quantize"}))
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

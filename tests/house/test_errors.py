"""Errors about an argument are made in one place, which keeps its name; nothing reads names out of messages."""

import ast
import re
from pathlib import Path

import pytest

import qops
from qops._kernels.arrays.refusal import bad_type, bad_value, renamed

ROOT = Path(qops.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*") if path.suffix in {".py", ".pyx"})
READS = {"partition", "rpartition", "split", "startswith", "endswith", "removeprefix", "replace", "find", "index"}
NAMED = re.compile(r"""raise (?:ValueError|TypeError)\(\s*f?["'](?:[a-z_]\w*|\{\w+\})(?:_\{\w+\})?(?:, \w+)*: """)
OF_FILES = {"{path}", "{where}"}


def of_error(node, names):
    """Whether a node is the text of a caught error."""
    is_text = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str"
    return is_text and bool(node.args) and isinstance(node.args[0], ast.Name) and node.args[0].id in names


def parsed(source):
    """The lines that read a message apart."""
    tree, found = ast.parse(source), []
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name} | {"error"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            reads = node.func.attr in READS and of_error(node.func.value, names)
            is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
            if reads or (is_re and any(of_error(part, names) for part in node.args)):
                found.append(node.lineno)
        elif isinstance(node, ast.Compare) and any(of_error(part, names) for part in node.comparators):
            found.append(node.lineno)
        elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "args":
            found += [node.lineno] * (isinstance(node.value.value, ast.Name) and node.value.value.id in names)
    return found


def test_no_code_reads_a_message():
    python = [path for path in FILES if path.suffix == ".py"]
    assert not {str(path): lines for path in python if (lines := parsed(path.read_text("utf-8")))}


@pytest.mark.parametrize(
    "line", ["str(why).partition(':')", "str(why).startswith('x')", "re.sub('a', 'b', str(why))", "'x' in str(why)"]
)
def test_what_reads_a_message_is_seen(line):
    assert parsed(f"try:\n    f()\nexcept ValueError as why:\n    print({line})\n") == [4]


def test_errors_about_arguments_are_made_in_one_place():
    found = {}
    for path in FILES:
        lines = [text for text in NAMED.findall(path.read_text("utf-8")) if not any(name in text for name in OF_FILES)]
        if lines and path.name != "refusal.py":
            found[path.relative_to(ROOT).as_posix()] = lines
    assert not found


def test_an_error_keeps_its_argument_when_it_is_renamed():
    for make, kind in ((bad_value, ValueError), (bad_type, TypeError)):
        error = make("scale", "expected a number: above 0")
        other = renamed(error, "y_scale")
        assert (type(error), error.argument, str(error)) == (kind, "scale", "scale: expected a number: above 0")
        assert (type(other), other.argument, str(other)) == (kind, "y_scale", "y_scale: expected a number: above 0")
    other = MemoryError("x: none left")
    assert renamed(other, "y") is other

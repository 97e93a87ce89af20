"""What a kind of operator is stands in its row: nothing else asks for a kind by its name."""

import ast
from pathlib import Path

import pytest

import qops
from qops.models.kinds import NODES, OPERATORS

ROOT = Path(qops.__file__).parent
SCHEMA = {"models/tflite/file.py", "models/tflite/variables.py"}
"""Files that read the schema of .tflite files: subgraphs, custom operators and variables."""
REWRITES = ("models/onnx/", "tools/saturation/onnx_")
"""Files whose subject is nodes that stand beside each other: what onnxruntime rewrites, and repairs of .onnx files."""
ACTIVATIONS = {"RELU", "RELU6", "RELU_N1_TO_1"}


def compared(tree):
    """The strings that are compared with something, in a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for part in ast.walk(node):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value, node.lineno


def files(room):
    found = sorted((ROOT / room).rglob("*.py"))
    assert found
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in found}


@pytest.mark.parametrize("room", ["models", "tools", "tflite"])
def test_kinds_are_asked_for_by_fields(room):
    asked = [(name, *word) for name, tree in files(room).items() for word in compared(tree)]
    tflite = [(name, word, line) for name, word, line in asked if word in {*OPERATORS} - ACTIVATIONS]
    assert not [where for where in tflite if where[0] not in SCHEMA]
    assert not [where for where in asked if where[1] in NODES and not where[0].startswith(REWRITES)]


def test_what_is_compared_is_found():
    source = "a.kind == 'CONV_2D'\nb = kind in ('Conv', 'Gemm')\nc = 'MUL'\n"
    assert {*compared(ast.parse(source))} == {("CONV_2D", 1), ("Conv", 2), ("Gemm", 2)}

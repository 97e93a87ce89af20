"""One name has one meaning in the whole tree: words that had several, and the types of the kernels."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import qops
from qops import onednn, onnx, rules, tflite

ROOT = Path(qops.__file__).parent
ROOMS_OF_OPS = (qops, onednn, onnx, rules, tflite)
SOURCES = sorted(path for path in ROOT.rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ".h"})
PROSE = {".h": r'/\*.*?\*/|"[^"\n]*"'}
OF_OTHERS = r'""".*?"""|"[^"\n]*"|\'[^\'\n]*\'|#[^\n]*'
ROOMS = {
    "pairs": (
        "_kernels/gemm/",
        "_kernels/onednn/",
        "onednn/",
        "isa/",
        "models/onnx/lost.py",
        "models/lanes/",
        "models/onnx/make.py",
        "onnx/",
        "rules/packed_rows.py",
        "tflite/",
    ),  # neighbours in k that saturate together
    "turn": (),
    "turns": (),
    "Codes": ("tflite/",),
    "Ends": ("_kernels/", "nnlib/"),
    "Values": ("models/",),
}
"""Where these are names; anywhere else they would name something else."""
IN_SEVERAL_ROOMS = {"Conv2D", "MatMul", "Divided", "code", "value"}
"""Types that mean the same in each room: kernels of prepared ops, ops in parts, the C types of codes and values."""
OF_FORMATS = {"Kind"}
"""The row of an operator of .tflite files and that of .onnx files, which have one base."""
OF_OTHER_ROOMS = {"Convolution", "Machine", "Node", "Session", "Worst"}
"""Bases of a room's convolutions; lanes of a CPU and a version of oneDNN on them; nodes of nnlib and of an .onnx file;
calls of a node that keeps its range, and of a graph that keeps its states; the worst element of a report and of a case.
"""
TYPE = re.compile(r"^(?:cdef |ctypedef )(?:class|struct|enum|fused|union) (\w+)", re.M)


def names(source, suffix):
    """The source without comments and strings."""
    return re.sub(PROSE.get(suffix, OF_OTHERS), "", source, flags=re.S)


@cache
def named():
    """The names of each file."""
    return {path.relative_to(ROOT).as_posix(): names(path.read_text("utf-8"), path.suffix) for path in SOURCES}


@pytest.mark.parametrize("word", ROOMS)
def test_a_word_names_one_thing(word):
    found = {path for path, text in named().items() if re.search(rf"\b{word}\b", text)}
    assert not [path for path in found if not path.startswith(ROOMS[word])]
    assert bool(found) == bool(ROOMS[word])


def test_names_are_told_from_prose():
    assert names('"""pairs"""\nx = "pairs"  # pairs', ".py").split() == ["x", "="]
    assert names("int pairs; /* pairs\n * pairs */", ".h").split() == ["int", "pairs;"]


def test_a_type_of_the_kernels_has_one_definition():
    modules = defaultdict(set)
    for path in SOURCES:
        for name in TYPE.findall(path.read_text("utf-8") if path.suffix in {".pyx", ".pxd"} else ""):
            modules[name].add(path.with_suffix("").relative_to(ROOT).as_posix())
    assert len(modules) > 80
    assert {name for name, found in modules.items() if len(found) > 1} == IN_SEVERAL_ROOMS


def test_a_class_has_one_definition():
    """But for ops, which each room exports under the name that they have in its system."""
    modules = defaultdict(set)
    for path in SOURCES:
        for name in re.findall(r"^class (\w+)", path.read_text("utf-8"), re.M) if path.suffix == ".py" else ():
            modules[name].add(path.relative_to(ROOT).as_posix())
    exported = {name for room in ROOMS_OF_OPS for name in room.__all__}
    several = {name for name, found in modules.items() if len(found) > 1}
    assert several - exported == (OF_FORMATS | OF_OTHER_ROOMS) - exported


def test_a_doc_does_not_lean_on_the_one_above_it():
    """One that begins "The same" or "The one" says nothing to who reads it alone."""
    leans = re.compile(r'^ *(?:r?"""|/\* )?The (?:same|one)\b.*', re.M)
    assert leans.findall('x = 1\n"""The same of y."""') == ['"""The same of y."""']
    found = {path.relative_to(ROOT).as_posix(): leans.findall(path.read_text("utf-8")) for path in SOURCES}
    assert not {path: lines for path, lines in found.items() if lines}

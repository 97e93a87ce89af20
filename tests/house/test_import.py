"""``import qops`` loads no room: each is imported when it is first used, and nobody notices."""

import ast
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from ops import own_functions

import qops

SOURCE = Path(qops.__file__)


def in_a_new_process(code, *words):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parents[1])}
    done = subprocess.run([sys.executable, "-c", code, *words], env=environment, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout.split()


LOADED = "print(*(name for name in sys.modules if name.startswith('qops.') and '_kernels' not in name))"


def test_import_loads_no_room():
    assert in_a_new_process(f"import sys, qops; {LOADED}") == []
    assert "numpy" not in in_a_new_process("import sys, qops; print(*sys.modules)")


USES = {
    "qops.quantize": {"frontdoor"},
    "qops.MatMul": {"frontdoor"},
    "qops.QTensor": set(),
    "qops.rules": {"rules"},
    "qops.nnlib.quantized_relu_8": {"nnlib"},
    "qops.explain": {"tools", "rules"},
    "qops.tflite.tanh": {"tflite", "rules"},
}
IN_FORKS = """
import os, sys, numpy
for use in sys.argv[1:]:
    if not os.fork():
        import qops
        eval(use)
        print(*{f"{use}:{name.split('.')[1]}" for name in sys.modules if name.startswith("qops.")}, flush=True)
        os._exit(0)
    os.wait()
"""


def test_a_name_loads_its_own_room():
    """Each is used in a process of its own, forked from one that has imported numpy and nothing of qops."""
    loaded, known = in_a_new_process(IN_FORKS, *USES), {room for rooms in USES.values() for room in rooms}
    known |= {"tensorflow", "onednn", "onnx"}
    assert set(loaded) >= {f"{use}:_kernels" for use in USES}
    found = {use: {room for room in known if f"{use}:{room}" in loaded} for use in USES}
    assert found == USES


def test_modules_of_the_front_door_load_one_by_one():
    loaded = in_a_new_process(f"import sys, qops; qops.frontdoor.relu; {LOADED}")
    assert "qops.frontdoor.relu" in loaded
    assert "qops.frontdoor.matmul" not in loaded
    with pytest.raises(AttributeError, match=r"module 'qops\.frontdoor' has no attribute 'div'"):
        _ = qops.frontdoor.div


def test_a_name_that_is_nearly_right_is_put_right():
    done = subprocess.run([sys.executable, "-c", "import qops; qops.quantise"], capture_output=True, text=True)
    assert done.stderr.endswith("module 'qops' has no attribute 'quantise'. Did you mean 'quantize'?\n")


def test_every_public_name_is_found_and_no_other():
    found = {}
    exec("from qops import *", found)
    assert set(qops.__all__) <= set(found)
    with pytest.raises(AttributeError, match="module 'qops' has no attribute 'quantise'"):
        _ = qops.quantise
    with pytest.raises(ImportError, match="cannot import name 'quantise' from 'qops'"):
        exec("from qops import quantise")


def test_public_names_are_the_same_wherever_they_stand():
    """In `_HOMES`, the imports that type checkers read and that never run, `__all__`, and the docstring."""
    tree = ast.parse(SOURCE.read_text())
    (block,) = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    once = sorted({*seen, "isa_tier"} ^ {*qops.__all__})
    assert not once, f"qops/__init__.py has these in __all__ or in the import under TYPE_CHECKING, not in both: {once}"
    assert sorted(qops.__all__) == sorted(dir(qops))
    homes = {(name, module[5:]) for name, module in seen.items() if module != "qops"} ^ {*qops._HOME.items()}
    assert not homes, f"qops/__init__.py has these in _HOMES or in the import under TYPE_CHECKING, not in both: {homes}"
    for name, module in seen.items():
        value = getattr(qops, name)
        assert value is getattr(sys.modules[module], name)
    listed = re.findall(r"\w+", " ".join(line[:52] for line in qops.__doc__.splitlines()[2:]))
    unlisted = sorted(own_functions(qops).keys() - {*listed})
    assert not unlisted, f"the docstring of qops lists all of its functions, and lacks {unlisted}"


def test_what_is_pickled_is_read_in_a_process_that_has_not_used_qops(tmp_path):
    path = tmp_path / "t.pickle"
    path.write_bytes(
        pickle.dumps([qops.quantize([0.0, 1.0]), qops.quantized_add_8p8to8, qops.MatMul((np.uint8([[1]]), 0.0, 1.0))])
    )
    code = (
        f"import pickle; t, add, op = pickle.load(open({str(path)!r}, 'rb')); print(type(t).__module__, add(t, t).max)"
    )
    assert in_a_new_process(code) == ["qops.qtensor", "2.0"]


def test_source_without_kernels_says_what_to_do(tmp_path):
    machine = tmp_path / "qops/_kernels/machine"
    machine.mkdir(parents=True)
    for folder in (machine, machine.parent):
        (folder / "__init__.py").touch()
    (tmp_path / "qops/__init__.py").write_text(SOURCE.read_text())
    done = subprocess.run([sys.executable, "-c", "import qops"], cwd=tmp_path, capture_output=True, text=True)
    assert f"ImportError: {tmp_path}" in done.stderr
    assert "whose kernels are not compiled: run `make dev` there" in done.stderr

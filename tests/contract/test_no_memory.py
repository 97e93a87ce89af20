"""Nothing is remembered between calls: what is dropped is freed, and no module keeps what calls fill."""

import gc
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path

import pytest
from nested import at, paths
from ops import OPS, PREPARED, function
from prepared_ops import kind_of, parts

import qops

ROOT = Path(qops.__file__).parent
SUPPORT = Path(__file__).parents[1] / "support"
KEPT: dict[str, str] = {}
"""Functions that may have a cache, and what it holds; there are none."""
MAY_CHANGE = {"machine/tiers.pyx", "machine/caches.pyx", "machine/threads.pyx"}
"""Kernels that have state: the tier and the caches, which are set and not filled, and the workers of the threads."""

# --- memory ----------------------------------------------------------------------------------------------------------

FRESH = """
import ctypes, gc, math, os, sys
import numpy as np
import qops
from qops import onednn, onnx, rules, tflite

rng = np.random.default_rng(1)
IMAGE, ROWS = rng.integers(0, 256, (1, 32, 5, 5), np.uint8), rng.integers(0, 256, (3, 128), np.uint8)
ACC, PIXELS = rng.integers(-9999, 9999, (2, 4096), np.int32), np.ascontiguousarray(IMAGE.transpose(0, 2, 3, 1))

def codes(*shape):
    '''Random int8, four of one random number.'''
    return rng.integers(0, 1 << 32, math.prod(shape) // 4, np.uint32).view(np.int8).reshape(shape)

def filters():
    return codes(32, 32, 3, 3)

def matrix():
    return codes(128, 96)

def scales(count):
    return np.float32(rng.random(count)) + np.float32(0.01)

def numbers():
    return float(rng.random()) + 0.1

CALLS = {
    "onnx.conv_integer": lambda: onnx.conv_integer(IMAGE, filters()),
    "onnx.qlinear_conv": lambda: onnx.qlinear_conv(IMAGE, 0.5, 7, filters(), scales(32), 0, 9.0, 5),
    "onnx.matmul_integer": lambda: onnx.matmul_integer(ROWS, matrix()),
    "onnx.qlinear_matmul": lambda: onnx.qlinear_matmul(ROWS, 0.5, 7, matrix(), scales(96), 0, 9.0, 5),
    "tflite.conv_2d": lambda: tflite.conv_2d(
        PIXELS.view(np.int8), filters().transpose(0, 2, 3, 1).copy(), ACC[0, :32], x_scale=numbers(), x_zero_point=3,
        w_scale=scales(32), y_scale=900.0, y_zero_point=0,
    ),
    "tflite.tanh": lambda: tflite.tanh(PIXELS, x_scale=numbers(), x_zero_point=3, y_scale=0.01, y_zero_point=0),
    "onednn.convolution": lambda: onednn.convolution(IMAGE, filters()),
    "onednn.inner_product": lambda: onednn.inner_product(ROWS, np.ascontiguousarray(matrix().T)),
    "onednn.gemm_u8s8s32": lambda: onednn.gemm_u8s8s32(ROWS, matrix()),
    "rules.requantize": lambda: rules.requantize(ACC, "fp32-even", scale=scales(4096)),
    "rules.add": lambda: rules.add(
        ROWS, ROWS, "xnnpack", a_scale=numbers(), a_zero_point=3, b_scale=numbers(), b_zero_point=4, y_scale=1.0,
        y_zero_point=5,
    ),
    "conv2d": lambda: qops.conv2d((PIXELS, 0.0, 1.0), (filters().transpose(2, 3, 1, 0).copy(), -1.0, numbers())),
    "matmul": lambda: qops.matmul((ROWS, 0.0, 1.0), (matrix(), -1.0, numbers())),
}

def resident():
    gc.collect()
    if sys.platform == "linux":
        getattr(ctypes.CDLL(None), "malloc_trim", lambda pad: None)(0)
    blocks = sys.getallocatedblocks()
    if not os.path.exists("/proc/self/statm"):
        return 0, blocks
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE"), blocks

for call in CALLS.values():
    for _ in range(20):
        call()
gc.freeze()  # what calls keep is younger
for name, call in CALLS.items():
    before = resident()
    for _ in range(1000):
        call()
    print(name, *(after - was for after, was in zip(resident(), before)))
"""


def in_a_new_process(code):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT.parent, SUPPORT)))}
    # else a build with sanitizers keeps what is freed for a while
    environment["ASAN_OPTIONS"] = f"{os.environ.get('ASAN_OPTIONS', '')}:quarantine_size_mb=0"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_a_thousand_calls_with_fresh_weights_leave_no_memory_behind():
    """The weights of 1,000 calls are 9 MB and more; a call without weights that is kept has a block of memory."""
    lines = in_a_new_process(FRESH)
    assert len(lines) == 13
    for name, grown, blocks in map(str.split, lines):
        assert int(grown) <= 2 << 20, f"{name}: {grown} bytes"
        assert int(blocks) < 500, f"{name}: {blocks} blocks"


@pytest.mark.parametrize("name", PREPARED)
def test_what_is_dropped_is_freed(name):
    """The op, the arrays that it holds, and the arrays that it and its function were given."""
    gc.freeze()  # what was there before need not be searched for garbage
    kind = type("Seen", (kind_of(name),), {"__slots__": ("__weakref__",)})  # prepared ops take no weak references
    numbers, data = parts(name)
    op = kind(**numbers)
    op(**data)
    function(PREPARED[name][0])(**numbers, **data)
    for wrong in data:
        with pytest.raises((TypeError, ValueError)):
            op(**data | {wrong: "no data"})
    held = [getattr(op, key) for key in dir(op) if not key.startswith("_") and key != "integers"]
    seen = [weakref.ref(at(part, path)) for part in (numbers, data, held) for path in paths(part)] + [weakref.ref(op)]
    del op, numbers, data, held, kind
    gc.collect()
    assert [ref() for ref in seen if ref() is not None] == []


# --- what modules keep ------------------------------------------------------------------------------------------------

FILLED = """
import copy, functools, gc, importlib, pkgutil, sys
import numpy as np
import qops
from nested import at, paths
from ops import OPS, PREPARED, function
from prepared_ops import kind_of, parts

def modules():
    return [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "qops"]

def size(value, seen):
    '''How many elements a container has, with those of the containers in it.'''
    if id(value) in seen:
        return 0
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset)):
        parts = [*value]
    elif type(value).__module__ == "collections" and hasattr(value, "__iter__"):
        parts = [*value]
    elif isinstance(value, type):
        parts = [x for key, x in vars(value).items() if not key.startswith("__")]
    elif type(value).__name__ in ("function", "cython_function_or_method"):
        cells = [cell.cell_contents for cell in value.__closure__ or () if filled(cell)]
        parts = [value.__dict__, value.__defaults__ or (), cells]
    else:
        return 0
    seen.add(id(value))
    return len(parts) + sum(size(part, seen) for part in parts)

def filled(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True

def snapshot():
    found = {}
    for module in modules():
        for name, value in vars(module).items():
            if not name.startswith("__"):
                found[f"{module.__name__}.{name}"] = size(value, set())
    for x in gc.get_objects():
        if hasattr(type(x), "cache_info") and str(getattr(x, "__module__", "")).startswith("qops"):
            found[f"{x.__module__}.{x.__qualname__}"] = x.cache_info().currsize
    return found

def fresh(arguments, change):
    '''The same arguments in other objects, arrays and numbers changed.'''
    other = copy.deepcopy(arguments)
    for path in paths(other):
        x = at(other, path)
        x[...] = np.roll(x, change)
    return {key: x * (1 + change / 1000) if type(x) is float else x for key, x in other.items()}

def call_all(change):
    refused = 0
    for name, op in OPS.items():
        try:
            function(name)(**fresh(op.good, change))
        except (TypeError, ValueError):
            refused += 1
    for name in PREPARED:
        given, data = parts(name)
        try:
            op = kind_of(name)(**fresh(given, change))
        except ValueError:  # an op whose result has one scale
            refused += 1
        else:
            op(**fresh(data, change))
    return refused

for info in pkgutil.walk_packages(qops.__path__, "qops."):
    if info.name != "qops.__main__":
        importlib.import_module(info.name)
for module in modules():
    for name in getattr(module, "__all__", ()):
        getattr(module, name)
before = snapshot()
print(call_all(0), call_all(1), call_all(2), len(before))
after = snapshot()
for name in sorted(before.keys() | after.keys()):
    if before.get(name) != after.get(name):
        print(name, before.get(name), after.get(name))
"""


@pytest.mark.long
def test_no_module_keeps_what_calls_fill():
    """Sizes of all containers of all modules, of what functions and classes hold, and of functools' caches."""
    counts, *grown = in_a_new_process(FILLED)
    refused, *few, watched = map(int, counts.split())
    assert refused == 0
    assert max(few) < len(OPS) // 10, "most calls with changed numbers are good ones"
    assert watched > 1000
    assert {line.split()[0] for line in grown} <= KEPT.keys(), grown


CACHES = re.compile(r"\b(lru_cache|cached_property|functools\.cache|import cache)\b|@cache\b")
EMPTY = r"(\{\}|\[\]|\w*([dD]ict|[dD]ictionary|[sS]et|list|deque)\(\))"
FILLS = re.compile(rf"^(cdef )?((dict|list|set|object) )?\w+(: [^=]+)? = {EMPTY}", re.M)


def state_of(source, suffix):
    """What in a module's source may keep something between calls: caches, `global`, empty containers to be filled."""
    found = CACHES.findall(source) + FILLS.findall(source) + re.findall(r"^\s+(?:global|nonlocal) \w+", source, re.M)
    if suffix == ".h":
        found = re.findall(r"^\s*(?:static|_Thread_local)\s+(?!const|inline)[\w \t*]+(?:\[.*\])?\s*[=;]", source, re.M)
    return found


def test_the_source_has_no_caches():
    files = [path for path in ROOT.rglob("*") if path.suffix in {".py", ".pyx", ".pxd", ".h"}]
    assert len(files) > 200
    found = {path.relative_to(ROOT).as_posix() for path in files if state_of(path.read_text("utf-8"), path.suffix)}
    allowed = {f"_kernels/{name}" for name in MAY_CHANGE}
    allowed |= {name.removeprefix("qops.").rpartition(".")[0].replace(".", "/") + ".py" for name in KEPT}
    assert found <= allowed, found - allowed


@pytest.mark.parametrize(
    ("source", "suffix"),
    [
        ("from functools import lru_cache\n@lru_cache\ndef f(): pass", ".py"),
        ("from functools import cache", ".py"),
        ("_seen = {}", ".py"),
        ("_SEEN: dict[int, int] = {}", ".py"),
        ("_seen = WeakKeyDictionary()", ".py"),
        ("def f():\n    global x\n    x = 1", ".py"),
        ("cdef dict kept = {}", ".pyx"),
        ("cdef list kept = []", ".pyx"),
        ("void f(void) {\n    static int n;\n}", ".h"),
    ],
)
def test_state_is_found(source, suffix):
    assert state_of(source, suffix)

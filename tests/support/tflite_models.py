"""Model files of golden TFLite cases: one operator each, with the data that the golden set has for it."""

import json
from functools import cache
from pathlib import Path

import numpy as np
from npz import read_npz

from qops.models.tensor import Tensor
from qops.models.tflite.file import Operator
from qops.models.tflite.writer import tflite_bytes

GOLDEN = Path(__file__).parents[1] / "golden/tflite"
SYSTEMS = {"ref": "reference", "opt": "optimized", "xnn": "xnnpack", "tflm": "tflm"}
SUFFIXES = {"ref": "", "opt": "_optimized", "xnn": "_xnnpack", "tflm": "_tflm"}


@cache
def arrays_of(kind):
    """The arrays of an operator, each read once; no test can write to one."""
    return read_npz(GOLDEN / f"{kind}.npz")


def cases(kind):
    """The cases of an operator, and its arrays."""
    return json.loads((GOLDEN / f"{kind}.json").read_text()), arrays_of(kind)


def kinds():
    return sorted(path.stem for path in GOLDEN.glob("*.json") if ".rejects" not in path.name)


def rejects(kind):
    """The cases of an operator that some systems refuse, and its arrays."""
    return json.loads((GOLDEN / f"{kind}.rejects.json").read_text()), arrays_of(kind)


def tensor(name, case, array, data):
    attrs = case["attrs"]
    scale = attrs.get(f"{name}_scale")
    axis = attrs.get(f"{name}_axis", 0) if isinstance(scale, list) and len(scale) > 1 else None
    if scale is not None:
        scale = np.float32(scale).reshape(-1 if axis is not None else ())
    zero = None if scale is None else np.full(scale.shape, attrs.get(f"{name}_zp", 0), np.int64)
    dtype = attrs.get("w_type", array.dtype.name) if name == "w" else array.dtype.name
    return Tensor(name, array.shape, dtype, scale, zero, axis, array if data else None)


def fed_names(case):
    """The names of what a call takes: neither constants nor state."""
    kept = [*case["attrs"].get("const", []), *case["attrs"].get("state", [])]
    return [name for name, key in case["inputs"].items() if key is not None and name not in kept]


def types(case, arrays):
    """The types of what a call takes, and of its result."""
    return [arrays[key].dtype.name for key in (*(case["inputs"][n] for n in fed_names(case)), case["outputs"]["y"])]


def model(case, arrays):
    """The bytes of the file of one case; the arrays that a call takes, by name."""
    steps = "steps" in case
    inputs = {name: None if key is None else arrays[key] for name, key in case["inputs"].items()}
    if steps:
        inputs["x"] = inputs["x"][0]
    fixed = {name for name in inputs if name in case["attrs"].get("const", [])}
    tensors = {name: None if a is None else tensor(name, case, a, name in fixed) for name, a in inputs.items()}
    y = arrays[case["outputs"]["y"]] if "outputs" in case else np.empty(1, _dtype(case, inputs))
    result = tensor("y", case, y[0] if steps else y, data=False)
    inner = [
        Tensor(f"inner_{i}", (0,), "int8", np.float32(scale), np.int64(zero))
        for i, (scale, zero) in enumerate(case["attrs"].get("intermediates", []))
    ]
    options = {key[0].upper() + key[1:]: value for key, value in case.get("options", {}).items()}
    fed = [tensors[name] for name in fed_names(case)]
    operator = Operator(case["op"], list(tensors.values()), [result], options, inner)
    known = [t for t in tensors.values() if t is not None]
    file = tflite_bytes([*known, *inner, result], [operator], fed, [result])
    return file, {t.name: inputs[t.name] for t in fed}


def _dtype(case, inputs):
    """The type of the result of a case that was refused: that of its data, but for cases of such types."""
    return np.int16 if case["id"] in ("try-output-type", "try-types") else inputs.get("x", inputs.get("a")).dtype


def wanted(case, arrays, system):
    """What a system gave that ran the case."""
    found = case.get(f"outputs{SUFFIXES[system]}", case["outputs"])
    y = arrays[found["y"]]
    return y[0] if "steps" in case else y

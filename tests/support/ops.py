"""The registry of public ops: one good call of each, which the sweeps over all rooms start from.

A public function that is not in `OPS` fails a test. From the good call the sweeps derive what else they need: an array
or a tensor (a tuple that begins with an array) is laid out in other ways, resized and spoilt; a number is replaced.
"""

import inspect
from collections.abc import Mapping

import calls
import numpy as np

import qops
from qops import affine, fixedpoint, isa, nnlib, onednn, onnx, rules, tensorflow, tflite
from qops._kernels.machine import tiers

OPS = calls.gathered("CALLS")
PREPARED = calls.gathered("PREPARED")
ROOMS = {"": qops, "affine": affine, "fixedpoint": fixedpoint, "isa": isa} | {
    "nnlib": nnlib,
    "tensorflow": tensorflow,
    "onednn": onednn,
    "onnx": onnx,
    "rules": rules,
    "tflite": tflite,
    "onednn.workflow": onednn.workflow,
}
TOOLS = {"bound", *calls.tools.CALLS}
FRONT_DOOR = [name for name in OPS if name.rpartition(".")[0] in {"", "affine", "fixedpoint"} and name not in TOOLS]
OUTPUTS = [name for name, op in OPS.items() if op.out]


def function(name):
    room, _, attribute = name.rpartition(".")
    return getattr(ROOMS[room], attribute)


def call(name, **changes):
    return function(name)(**{**OPS[name].good, **changes})


def own_functions(module):
    """The public functions that a package exports, or that a module defines."""
    names = (
        module.__all__ if hasattr(module, "__all__") else vars(module)
    )  # a room may import them when they are asked for
    found = {name: getattr(module, name) for name in names}
    found = {name: value for name, value in found.items() if inspect.isroutine(inspect.unwrap(value))}
    if hasattr(module, "__all__"):
        return found
    own = {name: value for name, value in found.items() if inspect.unwrap(value).__module__ == module.__name__}
    functions = {name: value for name, value in own.items() if inspect.isfunction(inspect.unwrap(value))}
    return {name: value for name, value in functions.items() if not name.startswith("_")}


def public():
    """The names of all public functions, as `OPS` has them."""
    return [f"{room}.{name}".lstrip(".") for room, module in ROOMS.items() for name in own_functions(module)]


def words(name):
    """The arguments that are words, with the ones of the good call."""
    defaults = {key: p.default for key, p in inspect.signature(function(name)).parameters.items()}
    return {key: value for key, value in {**defaults, **OPS[name].good}.items() if isinstance(value, str)}


def is_tensor(value):
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[0], np.ndarray)


def arrays(name):
    """The names of the arguments that are arrays, or tensors."""
    return [key for key, value in OPS[name].good.items() if isinstance(value, np.ndarray) or is_tensor(value)]


def changed(name, key, change):
    """A good argument with `change` made to its array, or to each of a list."""
    value = OPS[name].good[key]
    if isinstance(value, list):
        return [*map(change, value)]
    return (change(value[0]), *value[1:]) if is_tensor(value) else change(value)


def parts(result):
    """What a result is made of: arrays, numbers, words."""
    if isinstance(result, qops.QTensor):
        return [result.data, result.min, result.max, result.code_type.name]
    if isinstance(result, (tuple, list)):  # a named tuple too
        return [part for value in result for part in parts(value)]
    if hasattr(result, "__dataclass_fields__"):
        return parts([getattr(result, field) for field in result.__dataclass_fields__])
    if isinstance(result, Mapping):
        return parts([*result.items()])
    return [result]


def same(one, two):
    """Bit equality of two results."""
    assert type(one) is type(two)
    lefts, rights = parts(one), parts(two)
    assert len(lefts) == len(rights)
    for left, right in zip(lefts, rights, strict=True):
        assert type(left) is type(right)
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            assert left.shape == right.shape
            assert left.tobytes() == right.tobytes(), f"{left} is not {right}"
        elif left is None or isinstance(left, (str, int, float, complex, np.generic)):
            assert repr(left) == repr(right)


def first_array(result):
    """The array of a result: a QTensor's codes, the first of several arrays, or the array itself."""
    if isinstance(result, (tflite.SvdfStep, tflite.LstmSequence)):
        return result.y
    return result.data if isinstance(result, qops.QTensor) else result


def on_every_tier(op, *arguments, **keywords):
    """The result of a call, the same bits from the plain loop and from every SIMD body that this CPU has."""
    before, results = tiers.name(), []
    try:
        for tier in tiers.available():
            tiers.use(tier)
            results.append(op(*arguments, **keywords))
    finally:
        tiers.use(before)
    for other in results[1:]:
        same(other, results[0])
    return results[0]

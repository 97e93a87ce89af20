"""A small streaming network in a .tflite file: a variable holds the last inputs of a layer, CALL_ONCE fills it."""

import numpy as np

from qops.models import Operator, Tensor, load, tflite_bytes

START = np.int8([[5, -3], [7, 1], [-2, 4]])


def _codes(name, shape, scale=0.05, zero=3, data=None):
    return Tensor(name, shape, "int8", np.float32(scale), np.int64(zero), None, data)


def _integers(name, values):
    return Tensor(name, (len(values),), "int32", data=np.int32(values))


def _handle(name, tensor):
    return Operator("VAR_HANDLE", [], [tensor], {"SharedName": name}, [])


def model(name=b"memory", start=True):
    """The bytes: three frames of two codes are kept, the oldest falls out, and a layer reads all."""
    handle, other = (Tensor(key, (), "resource") for key in ("handle", "handle of the start"))
    x, held, joined, kept = (_codes(key, (n, 2)) for key, n in (("x", 1), ("held", 3), ("joined", 4), ("kept", 3)))
    flat, y = _codes("flat", (1, 8)), _codes("y", (1, 3), 0.2, -4)
    ends = [_integers(key, values) for key, values in (("begin", [1, 0]), ("end", [4, 2]), ("steps", [1, 1]))]
    shape = _integers("shape", [1, 8])
    draw = np.random.default_rng(5)
    w = _codes("w", (3, 8), 0.02, 0, draw.integers(-127, 128, (3, 8)).astype(np.int8))
    bias = Tensor("b", (3,), "int32", np.float32(0.05 * 0.02), np.int64(0), None, np.int32([40, -900, 300]))
    cut = {"BeginMask": 0, "EndMask": 0, "EllipsisMask": 0, "NewAxisMask": 0, "ShrinkAxisMask": 0}
    ops = [
        *([Operator("CALL_ONCE", [], [], {"InitSubgraphIndex": 1}, [])] if start else []),
        _handle(name, handle),
        Operator("READ_VARIABLE", [handle], [held], {}, []),
        Operator("CONCATENATION", [held, x], [joined], {"Axis": 0}, []),
        Operator("STRIDED_SLICE", [joined, *ends], [kept], cut, []),
        Operator("ASSIGN_VARIABLE", [handle, kept], [], {}, []),
        Operator("RESHAPE", [joined, shape], [flat], {"NewShape": [1, 8]}, []),
        Operator("FULLY_CONNECTED", [flat, w, bias], [y], {}, []),
    ]
    first = [
        _handle(name, other),
        Operator("ASSIGN_VARIABLE", [other, _codes("first", (3, 2), data=START)], [], {}, []),
    ]
    tensors = [x, handle, held, joined, kept, *ends, shape, flat, w, bias, y]
    return tflite_bytes(tensors, ops, [x], [y], [first] if start else [])


def file(path, runtime=None):
    """Write the network, and give it with the data of six steps."""
    path.write_bytes(model())
    steps = np.random.default_rng(8).integers(-128, 128, (6, 1, 2)).astype(np.int8)
    return load(path, runtime=runtime), steps

"""Random networks with a gap in the middle, and networks that keep a variable from step to step."""

import numpy as np
import tflite_codes
from draws import Pair, pick
from elsewhere import call
from tflite_net import Net, activation, scale, zero_point

from qops.models import Operator, Tensor, tflite_bytes

MISSING = "BROADCAST_TO"
"""An operator that LiteRT and TFLite Micro have for codes, and qops does not."""


def around_a_gap(kernel, rng):
    """A few operators, one that is a gap to qops, and a few more: it is walked around, with the gap's result given."""
    net = Net(rng, kernel, "int8")
    net.x = net.image()
    net.results = [net.x]
    kinds = ("RELU", "LOGISTIC", "MUL", "LEAKY_RELU", "TANH", "MAXIMUM", "ABS")
    _grow(net, kinds, int(rng.integers(0, 3)))
    before = net.x
    after = net.tensor("int8", before.scale, before.zero_point, before.shape)
    count = len(net.operators)
    net.x, net.results = after, [after]
    fed = dict(net.fed)
    net.fed[after.name] = np.zeros(after.shape, np.int8)  # for the shapes behind it
    _grow(net, kinds, int(rng.integers(1, 3)))
    del net.fed[after.name]
    shape = net.constant(np.int32(before.shape))
    net.operators.insert(count, Operator(MISSING, [before, shape], [after], {}, []))
    content = net.bytes({})
    given = {**fed, **net.fed}

    def ours():
        graph = net.load(content, kernel, gaps=True)
        assert [op.kind for op in graph.gaps] == [MISSING]
        made = {**given, **graph.run(given, keep="all")}[before.name]
        return [*graph.run(given, given={after.name: made}).values()]

    return Pair(lambda: call("system_tflite", "run", content, [given], kernel), ours, net.described())


def _grow(net, kinds, count):
    for _ in range(count):
        kept = net.x, len(net.operators), len(net.tensors), dict(net.fed)
        tflite_codes.DRAWN[pick(net.rng, kinds)](net)
        try:
            net.shaped()
        except ValueError:  # scales that qops refuses: without this operator
            net.x, operators, tensors, net.fed = kept
            del net.operators[operators:], net.tensors[tensors:]


def stream(kernel, rng):
    """Frames that a variable holds, the oldest of which falls out, and a layer that reads all: some steps."""
    held, size, count = (int(rng.integers(1, most)) for most in (5, 9, 7))
    numbers = np.float32(scale(rng)), np.int64(zero_point(rng, np.int8))

    def codes(name, shape, s=numbers[0], z=numbers[1], data=None):
        return Tensor(name, shape, "int8", np.float32(s), np.int64(z), None, data)

    def ints(name, values):
        return Tensor(name, (len(values),), "int32", data=np.int32(values))

    handle, other = (Tensor(name, (), "resource") for name in ("handle", "handle of the start"))
    x, old, joined, kept = (codes(n, (k, size)) for n, k in (("x", 1), ("old", held), ("all", held + 1), ("new", held)))
    ends = [ints("begin", [1, 0]), ints("end", [held + 1, size]), ints("steps", [1, 1])]
    flat, shape = codes("flat", (1, (held + 1) * size)), ints("shape", [1, (held + 1) * size])
    w = codes(
        "w", (count, (held + 1) * size), 0.01, 0, rng.integers(-127, 128, (count, (held + 1) * size)).astype(np.int8)
    )
    bias_scale = np.float32(numbers[0] * np.float32(0.01))
    bias = Tensor(
        "b", (count,), "int32", bias_scale, np.int64(0), None, rng.integers(-3000, 3000, count).astype(np.int32)
    )
    y = codes("y", (1, count), float(numbers[0]) * rng.uniform(0.5, 3), zero_point(rng, np.int8))
    first = codes("first", (held, size), data=rng.integers(-128, 128, (held, size)).astype(np.int8))
    cut = {"BeginMask": 0, "EndMask": 0, "EllipsisMask": 0, "NewAxisMask": 0, "ShrinkAxisMask": 0}
    memory = {"SharedName": b"memory"}
    operators = [
        Operator("CALL_ONCE", [], [], {"InitSubgraphIndex": 1}, []),
        Operator("VAR_HANDLE", [], [handle], memory, []),
        Operator("READ_VARIABLE", [handle], [old], {}, []),
        Operator("CONCATENATION", [old, x], [joined], {"Axis": 0}, []),
        Operator("STRIDED_SLICE", [joined, *ends], [kept], cut, []),
        Operator("ASSIGN_VARIABLE", [handle, kept], [], {}, []),
        Operator("RESHAPE", [joined, shape], [flat], {"NewShape": [1, (held + 1) * size]}, []),
        Operator("FULLY_CONNECTED", [flat, w, bias], [y], activation(rng), []),
    ]
    start = [Operator("VAR_HANDLE", [], [other], memory, []), Operator("ASSIGN_VARIABLE", [other, first], [], {}, [])]
    tensors = [x, handle, old, joined, kept, *ends, shape, flat, w, bias, y]
    content = tflite_bytes(tensors, operators, [x], [y], [start])
    steps = rng.integers(-128, 128, (int(rng.integers(1, 7)), 1, size)).astype(np.int8)

    def ours():
        session = Net(rng, kernel, "int8").load(content, kernel).session()
        return [session(step)["y"] for step in steps]

    how = {"held": held, "size": size, "numbers": [*map(float, numbers)], "steps": steps}
    feeds = [{"x": step} for step in steps]
    return Pair(lambda: call("system_tflite", "run", content, feeds, kernel), ours, how)

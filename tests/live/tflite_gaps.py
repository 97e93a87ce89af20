"""Random networks with an operator in the middle that qops lacks, walked to the end with a dump of the system."""

import numpy as np
import tflite_codes
from draws import Pair, pick
from elsewhere import call
from tflite_net import Net

from qops import debug
from qops.models import Operator

KINDS = ("RELU", "LOGISTIC", "MUL", "LEAKY_RELU", "TANH", "MAXIMUM", "ABS")
"""Operators around a gap. They keep the shape, so that their results may be the second operands of others."""


def broadcast(net, x):
    """The array twice, along one axis more: LiteRT and TFLite Micro have this operator for codes, and qops lacks it."""
    shape = (2, *x.shape)
    return "BROADCAST_TO", [x, net.constant(np.int32(shape))], shape


def around_a_gap(kernel, rng):
    """A few operators, one that is a gap to qops, and a few more.

    The system gives all results, which are the dump: `qops.debug` finds that each operator but the gap gives what it
    gave there, and a run that is given the gap's result gives all.
    """
    net = Net(rng, kernel, "int8")
    net.x = net.image()
    net.results = [net.x]
    _grow(net, int(rng.integers(0, 3)))
    before, count = net.x, len(net.operators)
    missing, inputs, shape = broadcast(net, before)
    after = net.tensor("int8", before.scale, before.zero_point, shape)
    net.x, net.results, fed = after, [after], dict(net.fed)
    net.fed[after.name] = np.zeros(shape, np.int8)  # for the shapes behind it
    _grow(net, int(rng.integers(1, 4)))
    del net.fed[after.name]
    net.operators.insert(count, Operator(missing, inputs, [after], {}, []))
    names = [op.outputs[0].name for op in net.operators]
    content, fed = net.bytes({}, results=names), {**fed, **net.fed}

    def system():
        return call("system_tflite", "run", content, [fed], kernel)

    def ours():
        graph, dump = net.load(content, kernel, gaps=True), dict(zip(names, system(), strict=True))
        assert [op.kind for op in graph.gaps] == [missing]
        rows = debug(graph, fed, device=dump).layers
        assert [row.output for row in rows] == names
        assert [row.unchecked for row in rows if row.unchecked] == [f"not checked: {missing}"]
        assert all(row.differ == 0 for row in rows if not row.unchecked), [*rows]
        return [*graph.run(fed, given={after.name: dump[after.name]}).values()]

    return Pair(system, ours, net.described())


def _grow(net, count):
    for _ in range(count):
        kept = net.x, len(net.operators), len(net.tensors), dict(net.fed)
        tflite_codes.DRAWN[pick(net.rng, KINDS)](net)
        try:
            net.shaped()
        except ValueError:  # scales that qops refuses: without this operator
            net.x, operators, tensors, net.fed = kept
            del net.operators[operators:], net.tensors[tensors:]

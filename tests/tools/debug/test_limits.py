"""Where `debug` begins to tell: how far floats may be apart, how many codes a shift needs, what counts as saturated."""

import numpy as np
import pytest
from onnx_networks import Network

import qops
from qops import models

F32 = np.float32


def loaded(path, net, *outputs):
    path.write_bytes(net.model(*outputs).SerializeToString())
    return models.load(path)


def quantizer(path, scale, zero):
    """A graph that quantizes, and gives the real values of the codes."""
    net = Network()
    return loaded(path, net, net.both(net.input([None]), scale, zero))


@pytest.mark.parametrize(("by", "differs"), [(2.0**-17, 0), (2.0**-16, 0), (2.0**-15, 1)])
def test_floats_differ_from_2_to_the_minus_16_of_the_largest_on(tmp_path, by, differs):
    graph = quantizer(tmp_path / "one.onnx", 1.0, np.uint8(0))
    dump = graph.run(F32([1, 2, 64]), keep="all")
    last = graph.ops[-1].outputs[0]
    dump[last] = dump[last] + F32([64 * by, 0, 0])
    assert qops.debug(graph, device=dump).layers[-1].differ == differs


@pytest.mark.parametrize("count", [7, 8])
def test_a_shift_of_all_codes_is_told_from_8_codes_on(tmp_path, count):
    net = Network()
    x = net.both(net.input([None]), 1.0, np.uint8(0))
    graph = loaded(tmp_path / "one.onnx", net, net.both(net.node("Sigmoid", x), 1 / 256, np.uint8(0)))
    dump = graph.run(np.arange(1, 1 + count, dtype=F32) / 2, keep="all")
    codes = graph.ops[-2].outputs[0]
    assert dump[codes].min() > 0
    assert dump[codes].max() < 252
    dump[codes] = dump[codes] + np.uint8(3)
    told = "a wrong zero point of the result: 3 instead of 0" in qops.debug(graph, device=dump).first.cause
    assert told == (count >= 8)


@pytest.mark.parametrize(("zero", "share"), [(0, 0.25), (255, 0.5), (100, 0.75)])
def test_codes_at_an_end_that_is_not_real_0_are_saturated(tmp_path, zero, share):
    graph = quantizer(tmp_path / "one.onnx", 1.0, np.uint8(zero))
    values = F32([-zero, -zero, 255 - zero, 50 - zero] * 5)
    dump = graph.run(values, keep="all")
    assert qops.debug(graph, device=dump).layers[0].saturated == share

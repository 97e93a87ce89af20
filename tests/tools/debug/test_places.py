"""Where a layer differs stands in words in the text, the JSON, the page and the report."""

import numpy as np
import planted_faults
import pytest
import small_network

import qops
from qops.__main__ import main


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "small.tflite"
    graph, x = small_network.file(path, images=8)
    return path, graph, graph.run(x, keep="all")


def of_output(graph, name):
    return next(op for op in graph.ops if op.outputs[0] == name)


def faulty(network, place, fault):
    _, graph, dump = network
    op = of_output(graph, place)
    got = fault(op.layer, dump[op.reads[0]], dump[place])
    return qops.debug(graph, device={**dump, place: got})


def no_bias(layer, x, got):
    return planted_faults.bent(layer, got, layer.sums(x, None), layer.requantize.rule)


def test_the_sentence_stands_in_each_form(network, tmp_path, capsys):
    path, graph, dump = network
    op = of_output(graph, "conv")
    lost = planted_faults.only(no_bias, planted_faults.channel(2))
    got = {**dump, "conv": lost(op.layer, dump["image"], dump["conv"])}
    np.savez(tmp_path / "dump.npz", **got)
    found = qops.debug(path, device=got)
    assert found.first.cause == "the bias left out there"
    words = "; ".join(found.first.where)
    assert words.startswith("only channel 2")
    assert f"  where: {words}" in str(found).splitlines()
    assert found.as_dict()["first"]["where"] == list(found.first.where)
    assert f"Where: {words}." in found.page()
    found.reduce(tmp_path / "report")
    assert f"Where: {words}." in (tmp_path / "report" / "issue.md").read_text()
    main(["debug", str(path), "--device", str(tmp_path / "dump.npz")])
    assert f"where: {words}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ((slice(None), slice(None), 5), "only column 5"),
        ((slice(None), slice(4, 8)), "only rows 4 to 7, the last 4"),
        ((slice(None), slice(None), slice(None), slice(1, None, 4)), "only channels 1, 5"),
        ((3,), "only image 3"),
    ],
)
def test_regions(network, part, words):
    _, graph, dump = network
    got = dump["conv"].copy()
    got[part] ^= 5
    first = qops.debug(graph, device={**dump, "conv": got}).first
    assert first.where[0].startswith(words)


def test_only_where_padding_is_read(network):
    found = faulty(network, "conv", planted_faults.padded_by(lambda zero: 0))
    assert found.first.cause.startswith("padding by 0 instead of the zero point of the input, -1")
    found = faulty(network, "conv", planted_faults.padded_by(lambda zero: 100))
    assert found.first.where[0].startswith("only where padding is read, in ")


def test_noise_has_no_place(network):
    draw = np.random.default_rng(1)
    found = faulty(network, "conv", lambda layer, x, got: got ^ draw.choice([0, 0, 1], got.shape).astype(got.dtype))
    assert found.first.where == ()

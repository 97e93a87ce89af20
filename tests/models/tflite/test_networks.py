"""Whole networks, with gaps or without, are walked to their end with a dump of LiteRT: each layer gives its bits."""

from pathlib import Path

import numpy as np
import pytest

import qops
from qops.models import load

FOLDER = Path(__file__).with_name("networks")
NETWORKS = [
    ("deeplab", 36, []),
    ("ssd", 47, ["TOPK_V2"]),
    ("movenet", 78, []),
    ("yamnet", 27, ["RFFT2D", "COMPLEX_ABS"]),
]
"""Names, how many operators each has, and which of them qops lacks."""


@pytest.fixture
def dump_of():
    def read(name):
        with np.load(FOLDER / f"{name}.npz") as file:
            return {key.replace("|", "/"): file[key] for key in file.files}

    return read


@pytest.mark.parametrize(("name", "count", "gaps"), NETWORKS)
def test_a_network_is_walked_to_its_end(dump_of, name, count, gaps):
    dump = dump_of(name)
    found = qops.debug(FOLDER / f"{name}.tflite", device=dump)
    assert not found.differs
    assert len(found.layers) == count
    assert [row.unchecked for row in found.layers if row.unchecked] == [f"not checked: {kind}" for kind in gaps]
    assert [row.differ for row in found.layers if not row.unchecked] == [0] * (count - len(gaps))


@pytest.mark.parametrize(("name", "count", "gaps"), NETWORKS)
def test_what_the_gaps_give_is_enough_to_run_it(dump_of, name, count, gaps):
    graph, dump = load(FOLDER / f"{name}.tflite", gaps=True), dump_of(name)
    assert [op.kind for op in graph.gaps] == gaps
    given = {key: dump[key] for op in graph.gaps for key in op.outputs}
    found = graph.run({key: dump[key] for key in graph.inputs}, given=given, keep="all")
    codes = [key for op in graph.ops for key in op.outputs if graph.tensors[key].scale is not None]
    assert len(codes) > count // 2
    assert [key for key in codes if not np.array_equal(found[key], dump[key])] == []


def test_a_wrong_code_behind_a_gap_is_found(dump_of):
    dump = dump_of("yamnet")
    graph = load(FOLDER / "yamnet.tflite", gaps=True)
    last = next(op for op in reversed(graph.ops) if op.kind == "FULLY_CONNECTED")
    dump[last.outputs[0]] = dump[last.outputs[0]] ^ 1
    assert qops.debug(graph, device=dump).first.layer == last.name

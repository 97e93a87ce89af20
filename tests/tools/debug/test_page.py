"""The page of `debug`: whole, needs nothing beside it, says what was found, and leads from each layer to its row."""

import re

import numpy as np
import pytest
import small_network
from nesting import Nesting

import qops
from qops.__main__ import main
from qops.models import Operator, Tensor, load, tflite_bytes


def seen(html):
    """Text by element, of a page that is checked to be whole."""
    found = Nesting()
    found.feed(html)
    assert not found.open, "every element is closed"
    assert not re.search(r"https?:|\ssrc=|url\(|@import|<script", html)
    anchors = re.findall(r'href="#([^"]*)"', html)
    assert set(anchors) <= set(re.findall(r'\sid="([^"]*)"', html))
    return found.text, anchors


@pytest.fixture
def network(tmp_path):
    graph, x = small_network.file(tmp_path / "small.tflite")
    return graph, graph.run(x, keep="all")


def test_a_network_that_agrees(network):
    graph, dump = network
    found = qops.debug(graph, device=dump)
    text, anchors = seen(found.page())
    assert "".join(text["h1"]) == "No layer differs: the device gives every integer of the model"
    assert anchors[:8] == [f"layer-{i}" for i in range(1, 9)]
    assert found.worst.unit == "LSB"
    worst = max(found.layers, key=lambda row: row.lsb)
    assert found.worst.layer == worst.name == "".join(text["code"][-1:])
    assert np.abs(found.worst.off).max() == worst.lsb


def test_a_network_that_differs_in_the_middle(network):
    graph, dump = network
    wrong = dump["pointwise"].copy()
    wrong[0, :2, 3, 1:3] += 1
    dump["pointwise"] = wrong
    found = qops.debug(graph, device=dump)
    html = found.page()
    text, _ = seen(html)
    assert "".join([*text["h1"], *text["code"][1:2]]).replace(" differs first", "") == "conv_2d_1"
    assert html.count('<li class="first">') == 1
    assert found.worst.layer == "conv_2d_1" or found.worst.unit == "codes"
    (row,) = [row for row in found.layers if row.name == found.worst.layer]
    assert np.count_nonzero(found.worst.off) == row.differ
    counts = [int(t.split(": ")[1]) for t in text["title"] if re.fullmatch(r"[+≤≥-]+\d: \d+", t)]
    drawn = {found.differing.layer: found.differing.off, found.worst.layer: found.worst.off}
    assert found.differing.layer == "conv_2d_1"
    assert sum(counts) == sum(np.count_nonzero(off) for off in drawn.values())
    assert (html.count("The first layer that differs") == 1) == (found.worst.layer != "conv_2d_1")
    colours = re.findall(r'<rect class="(c\d|none)" width="112"', html)
    assert [c == "c0" for c in colours] == [not row.differ for row in found.layers]


def test_without_a_dump_colours_say_how_far_from_float(network):
    graph, _ = network
    found = qops.debug(graph)
    html = found.page()
    text, _ = seen(html)
    assert "".join(text["h1"]).startswith("No dump of a device")
    ends = (1.0, 2.0, 4.0, 16.0)
    wanted = [f"c{sum(row.lsb > end for end in ends)}" for row in found.layers]
    assert re.findall(r'<rect class="(c\d|none)" width="112"', html) == wanted
    assert any("seeded noise" in words for words in text["p"])


def test_names_of_a_hostile_file_are_text(tmp_path):
    names = ("x", '"><script>alert(1)</script><b title="')
    ends = [Tensor(name, (1, 6), "int8", np.float32(0.1), np.asarray(0)) for name in names]
    (tmp_path / "a&b.tflite").write_bytes(
        tflite_bytes(ends, [Operator("RELU", [ends[0]], [ends[1]], {}, [])], ends[:1], ends[1:])
    )
    graph = load(tmp_path / "a&b.tflite")
    x = np.arange(-3, 3, dtype=np.int8)[None]
    html = qops.debug(graph, x, device={names[1]: np.full((1, 6), 9, np.int8)}).page()
    text, _ = seen(html)
    assert "<title>a&amp;b.tflite</title>" in html
    assert names[1] in text["td"]


def test_the_command_line_writes_the_page(network, tmp_path, capsys):
    graph, dump = network
    np.savez(tmp_path / "dump.npz", **dump)
    words = [
        "debug",
        str(tmp_path / "small.tflite"),
        "--device",
        str(tmp_path / "dump.npz"),
        "--html",
        str(tmp_path / "out"),
    ]
    assert main(words) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(tmp_path / "out" / "hunt.html")
    assert (tmp_path / "out/hunt.html").read_text() == qops.debug(graph, device=dump).page()
    assert main(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""  # refused before the run
    assert "hunt.html: is there already" in printed.err

"""Text stands out from what is behind it, 4.5 to 1 at least, in light and in dark colours."""

import re
import shutil
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
import small_network

import qops
from analysis import report, style
from docs import contrast
from qops.__main__ import main as command
from qops._pages import html
from qops.tools.debug import page

ROOT = Path(__file__).parents[2]
SHEETS = {
    "report": (ROOT / "analysis/page.css").read_text("utf-8"),
    "microscope": (ROOT / "docs/microscope/page.css").read_text("utf-8"),
    "tools": html.STYLE,
    "debug": html.STYLE + page._STYLE,
}
TEXT = {"ink", "faint", "soft", "blue", "good", "bad", "drop", "odd", "tie", "copy", "exponent", "on"}
BEHIND = {"page", "tint", "panel", "code", "pale"}
PAIRS = {
    "drop": {"page", "dropped"},
    "tie": {"page"},
    "odd": {"page", "panel"},
    "copy": {"page", "pale"},
    "exponent": {"page", "exponents"},
    "good": {"page"},
    "bad": {"page"},
    "on": {"c0", "c1", "c2", "c3", "c4", "none"},
}
"""What is behind some texts; all others stand on every plain background."""


def colours(sheet):
    """The colours of a sheet in light and in dark mode."""
    blocks = [
        dict(re.findall(r"--(\w+): (#[0-9a-f]+)", block)) for block in re.findall(r":root \{(.*?)\}", sheet, re.S)
    ]
    light = {name: colour for block in blocks[::2] for name, colour in block.items()}
    return {"light": light, "dark": light | {name: colour for block in blocks[1::2] for name, colour in block.items()}}


def ratio(one, other):
    low, high = sorted(style.luminance(mpl.colors.to_rgb(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_of_text_stand_out(sheet, mode):
    found = colours(SHEETS[sheet])[mode]
    pairs = [(text, back) for text in TEXT & {*found} for back in PAIRS.get(text, BEHIND) & {*found}]
    assert len(pairs) >= 4
    assert not {pair: round(r, 2) for pair in pairs if (r := ratio(found[pair[0]], found[pair[1]])) < 4.5}


@pytest.mark.parametrize("sheet", SHEETS)
def test_dark_mode_changes_every_colour_of_text_and_page(sheet):
    modes = colours(SHEETS[sheet])
    assert not [name for name in (TEXT | BEHIND) & {*modes["light"]} if modes["light"][name] == modes["dark"][name]]
    assert "color-scheme: light dark" in SHEETS[sheet]


def test_numbers_on_coloured_cells_stand_out():
    for name, part in product(("Oranges", "viridis", "RdBu"), np.linspace(0, 1, 50)):
        cell = mpl.colormaps[name](part)
        assert ratio(style.readable(cell), cell[:3]) >= 4.5


FAINT = """<!doctype html>
<style>@media (prefers-color-scheme: dark) { p { color: #222 } } b { opacity: .5 } svg text { fill: #ddd }</style>
<body style="background: white"><p>a <em style="color: #777">b</em> <b>c</b></p>
<svg><text x=9 y=9>drawn</text></svg><div style="width: 1200px">x</div>"""
"""A page with faults."""


def tools(folder, capsys):
    """A page of each tool."""
    acc = np.arange(-2000, 2000)
    y = qops.rules.requantize(acc, "fp32-even", scale=0.0033)
    np.savez(folder / "dump.npz", acc=acc, y=y + (acc > 1990), scale=0.0033)
    assert command(["explain", str(folder / "dump.npz"), "--html"]) == 1
    (folder / "explain.html").write_text(capsys.readouterr().out, "utf-8")
    graph, x = small_network.file(folder / "small.tflite")
    dump = graph.run(x, keep="all")
    dump["pointwise"] = dump["pointwise"] + (dump["pointwise"] < 100)
    hunt = qops.debug(graph, device=dump)
    (folder / "debug.html").write_text(hunt.page(), "utf-8")
    w = np.random.default_rng(0).integers(-127, 128, (300, 64)).astype(np.int8)
    (folder / "saturation.html").write_text(qops.saturation(w).page(), "utf-8")
    return ["explain.html", "debug.html", "saturation.html"]


def own(folder):
    """A page of the report, the microscope, and the page with faults."""
    bars = '<div class="bar"><span class="who">qops</span><span class="num">0.5 <small>of 0.6</small></span></div>'
    rows = [["held", "add", "a claim", "0.5", "<= 0.6"], ["BROKEN", "qops add", "another", "0.7", "<= 0.6"]]
    table = report.Table("Claims", ("", "op", "claim", "measured", "limit"), rows, 3, ["a note"], {"0.5": "index.html"})
    title = '<h1>Errors</h1><p class="verdict">At most 0.6 LSB.</p>'
    report.write(folder, "index", [title, f'<div class="chart">{bars}</div>', report.as_html(table)], ["add", "rules"])
    shutil.copytree(ROOT / "docs/microscope", folder / "microscope")
    (folder / "faint.html").write_text(FAINT, "utf-8")
    return ["index.html", "microscope/index.html", "faint.html"]


@pytest.mark.skipif(not contrast.CHROMIUM, reason="chromium is not installed; the tests of colours above hold the rest")
def test_every_text_of_a_page_stands_out_as_chromium_draws_it(tmp_path, capsys):
    pages = tools(tmp_path, capsys) + own(tmp_path)
    rows = contrast.read(tmp_path, pages)
    assert {row[:3] for row in rows} == {*product(pages, contrast.WIDTHS, contrast.MODES)}
    assert not {row[:3]: row.faint for row in rows if row.page != "faint.html" and row.faint}
    assert min(row.texts for row in rows if row.page == "microscope/index.html") > 500
    for row in (row for row in rows if row.page == "faint.html"):
        assert [line.split()[0] for line in row.faint if line[:3] != "is "] == ["em.", "b.", "text."]
        assert bool([line for line in row.faint if line.startswith("is ")]) == (row.width == 390)


def test_all_pages_of_a_site_are_its_own(tmp_path):
    for name in ("index.html", "guide/debug.html", "lite/lab/index.html", "_static/frame.html"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    assert contrast.all_pages(tmp_path) == ["guide/debug.html", "index.html"]

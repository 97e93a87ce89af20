"""The report: a summary first, a page a family, every figure and table once, nothing that is not in its folder."""

import re
from html import unescape

import numpy as np
import ops
import pytest
from matplotlib.figure import Figure

import analysis.__main__ as main
from analysis import claims, first_page, reasons, report, summary, sweep_error
from analysis.ranges import hold_zero
from analysis.systems import FUSED

pytestmark = pytest.mark.long  # all that the analysis measures
PAGES = ["index", *main.PAGES, "claims"]


@pytest.fixture(scope="module")
def pages(out):
    return {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in PAGES}


def test_folder_holds_the_pages_the_figures_and_the_sweep(out, found):
    stems = {name for view in main.VIEWS for name in view.FIGURES}
    files = {f"{name}{end}" for name in stems for end in (".png", ".webp", "_card.webp")}
    assert files | {f"{name}.html" for name in PAGES} | {"sweep.csv"} == {file.name for file in out.iterdir()}
    assert min((out / f"{name}.png").stat().st_size for name in stems) > 3_000


def test_each_page_holds_the_figures_and_tables_of_its_views(pages, found):
    for page, views in main.PAGES.items():
        stems = [name for view in views for name in view.FIGURES]
        assert re.findall(r'<figure id="(\w+)"><a href="(\w+)\.png"><img [^>]*src="(\w+)\.webp"', pages[page]) == [
            (name, name, name) for name in stems
        ]
        assert pages[page].count("<table>") == sum(len(view.tables(found[main.stem(view)])) for view in views)
    assert pages["index"].count("<table>") == pages["claims"].count("<table>") == 1


def test_index_begins_with_the_answer_and_leads_to_every_page(pages, found):
    first = pages["index"]
    told = first_page.verdict(main.lines(main.VIEWS, found), claims.claims(found))
    parts = [told, 'class="chart"', "<img", "The first four numbers of a row are", "<table>"]
    assert sorted(parts, key=first.index) == parts
    assert set(re.findall(r'class="card" href="(\w+)\.html"', first)) == set(main.PAGES)
    for page in PAGES:
        assert set(re.findall(r"<nav>.*</nav>", pages[page])[0].split('href="')[1:]) != set()
        assert re.findall(r'href="(\w+)\.html" aria-current="page"', pages[page]) == [page]


def noise(inches):
    """A figure that no packing makes small."""
    figure = Figure(inches, dpi=200)
    shape = (round(inches[1] * 200), round(inches[0] * 200), 3)
    figure.figimage(np.random.default_rng(0).integers(0, 256, shape, np.uint8))
    return figure


def test_a_page_loads_less_than_two_megabytes_and_leads_to_all_pixels(tmp_path):
    stems = [name for view in main.PAGES["photograph"] for name in view.FIGURES]
    with report.packing() as later:
        for stem in stems:
            report.drawn(stem, lambda: noise((9.44, 3.5)), tmp_path, later)
    sizes = {
        stem: [(tmp_path / f"{stem}{end}").stat().st_size for end in (".png", ".webp", "_card.webp")] for stem in stems
    }
    assert min(large for large, _, _ in sizes.values()) > 3_000_000
    assert sum(shown for _, shown, _ in sizes.values()) < 2_000_000
    assert max(card for _, _, card in sizes.values()) * len(main.PAGES) < 2_000_000


def test_every_page_has_one_title(pages):
    assert [text.count("<h1 ") for text in pages.values()] == [1] * len(pages)


def test_pages_refer_to_nothing_outside_their_folder(pages, out):
    for text in pages.values():
        for link in re.findall(r"""(?:src|href|action|poster|srcset)\s*=\s*["']?([^"'>\s]+)""", text):
            assert (out / link).is_file()
        assert not re.search(r"https?:|//\w|url\(|@import|<script|<link|<iframe", text)


def test_every_cell_of_a_narrow_screen_says_what_it_is(pages):
    for text in pages.values():
        assert text.count("<td ") == len(re.findall(r'<td class="[a-z ]*" data-head="[^"]*">', text))
        assert "overflow-x" not in text


def test_verdict_is_what_was_measured(found):
    lines, checked = main.lines(main.VIEWS, found), claims.claims(found)
    told = first_page.verdict(lines, checked)
    largest = max(x.anywhere for x in lines if x.bound is not None and not x.op.startswith("multiply and shift"))
    assert f"at most {largest:.3f} LSB off" in told
    assert told.endswith(f"none is beyond its bound, and all {len(checked)} claims hold.")
    worse = [x._replace(anywhere=0.7) if x.system == "qops matmul into int32" else x for x in lines]
    told = first_page.verdict(worse, [checked[0]._replace(limit=-1.0), *checked[1:]])
    assert "at most 0.700 LSB off (layers, a range per channel" in told
    assert "beyond its bound: qops matmul into int32, layers" in told
    assert told.endswith(f"and 1 of {len(checked)} claims are BROKEN.")


def test_chart_has_every_row_with_its_number_and_bound(pages, found):
    rows = re.findall(r'<div class="bar">(.*?)</div>', pages["index"])
    lines = main.lines(main.VIEWS, found)
    assert len(rows) == len(lines)
    for x in lines:
        mine = [r for r in rows if f'"who">{x.system}<' in r and f'"num">{summary.size(x.anywhere)}' in r]
        assert mine, x
        bound = "</span>" if x.bound is None else f" <small>of {summary.size(x.bound)}</small></span>"
        assert all(f'"num">{summary.size(x.anywhere)}{bound}' in r for r in mine), x
        assert all((unescape(x.why) in unescape(r)) == (max(x.max, x.anywhere) > reasons.FAR) for r in mine if x.why)
    assert not re.search('class="[a-z]+ over"', pages["index"])


def test_chart_is_logarithmic_and_ends_where_it_says():
    assert [first_page.place(x) for x in (0, 0.1, 1, 10, 1000, 1e9)] == [
        f"left:{p:.2f}%" for p in (0, 0, 25, 50, 100, 100)
    ]
    line = summary.Line("op", "qops x", 0.5, 0.1, bound=0.6, anywhere=0.61)
    assert 'class="qops over"' in first_page.row(line)
    assert "over" not in first_page.row(line._replace(anywhere=0.6))


def test_every_op_of_the_front_door_has_a_row_and_a_claim(found):
    names = {m.rpartition(".")[2] for m in ops.OPS if ops.function(m).__module__.startswith("qops.frontdoor.")}
    helpers = {"error", "signed_error", "values", "bound", "range_of", "requantization_range", "Observer"}
    told = " ".join(c.text for c in claims.claims(found)) + " "
    missing = {n for n in names - helpers if not re.search(rf"(?<![a-z]){n}(?![a-z])", told)}
    assert not missing
    rows = {(x.op, x.system) for x in main.lines(main.VIEWS, found)}
    assert {(c.op, c.system) for c in claims.claims(found)} <= rows


def test_terminal_gets_every_page_and_claim_once(found):
    table = first_page.brief(main.by_page(found), claims.claims(found))
    assert len(table.rows) < len(main.lines(main.VIEWS, found))
    assert sum(int(row[-1].split(" of ")[1]) for row in table.rows) == len(claims.claims(found))


def test_summary_counts_every_claim_once(found):
    checked = claims.claims(found)
    lines = main.lines(main.VIEWS, found)
    table = first_page.overview(lines, checked, {})
    column = [row[table.head.index("claims held")] for row in table.rows]
    assert sum(int(cell.split(" of ")[1]) for cell in column if cell != "-") == len(checked)
    broken = first_page.overview(lines, [c._replace(limit=-np.inf, at_least=False) for c in checked], {})
    assert {row[table.head.index("claims held")][0] for row in broken.rows} == {"0", "-"}


def test_summary_keeps_what_was_measured(found):
    lines = {(x.op, x.system): x for x in main.lines(main.VIEWS, found)}
    ours = found["sweep_error"].of(FUSED[0])
    line = lines["add into 8 bits", "qops 8p8to8"]
    assert line.anywhere == max(r.max_lsb for r in ours) <= line.bound
    assert line.max == max(r.max_lsb for r in ours if hold_zero(*r.ranges))
    assert line.worst in {sweep_error.told(r) for r in ours if r.max_lsb == line.max}
    assert lines["digits in int8", "exact"].max < lines["digits in int8", "saturating"].max


def test_rows_that_are_far_off_are_explained(found):
    lines = main.lines(main.VIEWS, found)
    far = [x for x in lines if max(x.max, x.anywhere) > reasons.FAR]
    assert len(far) > 10
    assert all(x.why for x in far)
    table = summary.table("", lines, [])
    cells = {(row[0], row[1]): row[-1] for row in table.rows}
    assert all(cells[x.op, x.system].endswith(f" LSB: {x.why}") for x in far)
    assert any("was given a range too narrow" in x.why for x in far if summary.size(x.anywhere) == "765.0")
    tables = [table for view in main.VIEWS for table in view.tables(found[main.stem(view)])]
    for table in (t for t in tables if {"max LSB", "by at most"} & set(t.head)):
        place = table.head.index("max LSB" if "max LSB" in table.head else "by at most")
        column = [float(row[place]) for row in table.rows]
        told = " ".join(table.notes)
        assert all(row[0] in told for row, x in zip(table.rows, column, strict=True) if x > reasons.FAR), table.title


def test_rows_that_are_far_off_for_one_reason_share_a_note():
    assert reasons.notes({"x": (3.0, "why"), "y": (4.0, "why"), "z": (1.0, "")}) == ["x (3 LSB); y (4 LSB): why"]


def test_tables_say_the_same_on_the_terminal_and_the_page():
    rows = [["qops add", "0.5", "at <0>"], ["other", "12.25", "at 1"]]
    table = report.Table("Title <&>", ("op", "max", "worst case"), rows, 1, ["other: why"], {"other": "other.html"})
    assert report.as_text(table).splitlines() == [
        "Title <&>",
        "op          max  worst case",
        "--------  -----  ----------",
        "qops add    0.5  at <0>",
        "other     12.25  at 1",
        "Why errors are larger than 2 LSB:",
        "  * other: why",
    ]
    html = report.as_html(table)
    assert "Title &lt;&amp;&gt;" in html
    assert '<tr class="front"><td class="words" data-head="op">qops add</td>' in html
    assert '<tr><td class="words" data-head="op"><a href="other.html">other</a></td>' in html
    assert "at &lt;0&gt;" in html
    assert '<p class="notes">Why errors are larger than 2 LSB:</p><ul class="notes"><li>other: why</li>' in html


def test_every_word_of_the_pages_has_its_place(found, pages):
    for view in main.VIEWS:
        written = set(report.WORDS[main.stem(view)]) - {"title", "text"}
        assert written == set(view.FIGURES)
    assert set(report.WORDS) == {"index", "pages", "claims", *map(main.stem, main.VIEWS)}
    everything = unescape(" ".join(pages.values()))
    assert all(text.strip() in everything for words in report.WORDS.values() for text in words.values())


def test_a_picture_that_cannot_be_written_is_told(tmp_path):
    """Its file is written by another thread, while other pictures are drawn."""
    stem = "photograph_blur"
    with pytest.raises(FileNotFoundError, match="no_folder"), report.packing() as later:
        report.drawn(stem, Figure, tmp_path / "no_folder", later)
    with report.packing() as later:
        report.drawn(stem, Figure, tmp_path, later)
    assert (tmp_path / f"{stem}.png").stat().st_size

"""The report: a summary first, a page a family, every figure and table once, nothing that is not in its folder."""

import re
from html import unescape

import numpy as np
import pytest

import analysis.__main__ as main
from analysis import claims, reasons, report, summary

PAGES = ["index", *main.PAGES, "claims"]


@pytest.fixture(scope="module")
def pages(out):
    return {name: (out / f"{name}.html").read_text(encoding="utf-8") for name in PAGES}


def test_folder_holds_the_pages_the_figures_and_the_sweep(out, found):
    stems = {name for view in main.VIEWS for name in view.figures(found[main.stem(view)])}
    assert {f"{name}.png" for name in stems} | {f"{name}.html" for name in PAGES} | {"sweep.csv"} == {
        file.name for file in out.iterdir()
    }
    assert min((out / f"{name}.png").stat().st_size for name in stems) > 30_000


def test_each_page_holds_the_figures_and_tables_of_its_views(pages, found):
    for page, views in main.PAGES.items():
        stems = [name for view in views for name in view.figures(found[main.stem(view)])]
        assert re.findall(r'<figure id="(\w+)"><a href="(\w+)\.png"><img [^>]*src="(\w+)\.png"', pages[page]) == [
            (name, name, name) for name in stems
        ]
        assert pages[page].count("<table>") == sum(len(view.tables(found[main.stem(view)])) for view in views)
    assert pages["index"].count("<table>") == pages["claims"].count("<table>") == 1


def test_index_begins_with_the_summary_and_leads_to_every_page(pages):
    first = pages["index"]
    assert first.index("The first four numbers of a row are") < first.index("<table>") < first.index("<img")
    assert set(re.findall(r'class="card" href="(\w+)\.html"', first)) == set(main.PAGES)
    for page in PAGES:
        assert set(re.findall(r"<nav>.*</nav>", pages[page])[0].split('href="')[1:]) != set()
        assert re.findall(r'href="(\w+)\.html" aria-current="page"', pages[page]) == [page]


def test_pages_refer_to_nothing_outside_their_folder(pages, out):
    for text in pages.values():
        for link in re.findall(r"""(?:src|href|action|poster|srcset)\s*=\s*["']?([^"'>\s]+)""", text):
            assert (out / link).is_file()
        assert not re.search(r"https?:|//\w|url\(|@import|<script|<link|<iframe", text)


def test_every_cell_of_a_narrow_screen_says_what_it_is(pages):
    for text in pages.values():
        assert text.count("<td ") == len(re.findall(r'<td class="[a-z ]*" data-head="[^"]*">', text))
        assert "overflow-x" not in text


def test_summary_counts_every_claim_once(found):
    checked = claims.claims(found)
    table = main.overview(found, checked)
    column = [row[table.head.index("claims held")] for row in table.rows]
    assert sum(int(cell.split(" of ")[1]) for cell in column if cell != "-") == len(checked)
    broken = main.overview(found, [c._replace(limit=-np.inf, at_least=False) for c in checked])
    assert {row[table.head.index("claims held")][0] for row in broken.rows} == {"0", "-"}


def test_summary_keeps_what_was_measured(found):
    lines = {(x.op, x.system): x for x in main.lines(main.VIEWS, found)}
    ours = [r for r in found["sweep_error"].rows if (r.op, r.system) == ("add into 8 bits", "qops 8p8to8")]
    line = lines["add into 8 bits", "qops 8p8to8"]
    assert line.anywhere == max(r.max_lsb for r in ours) <= line.bound
    assert line.max == max(r.max_lsb for r in ours if r.holds_zero)
    assert line.worst in {r.worst for r in ours if r.max_lsb == line.max}
    assert lines["digits in int8", "exact"].max < lines["digits in int8", "saturating"].max


def test_rows_that_are_far_off_are_explained(found):
    lines = main.lines(main.VIEWS, found)
    far = [x for x in lines if max(x.max, x.anywhere) > reasons.FAR]
    assert len(far) > 10
    assert all(x.why for x in far)
    notes = " ".join(summary.table("", lines, []).notes)
    assert all(f"{x.op}, {x.system} (" in notes for x in far)
    tables = [table for view in main.VIEWS for table in view.tables(found[main.stem(view)])]
    for table in (t for t in tables if {"max LSB", "by at most"} & set(t.head)):
        place = table.head.index("max LSB" if "max LSB" in table.head else "by at most")
        column = [float(row[place]) for row in table.rows]
        told = " ".join(table.notes)
        assert all(row[0] in told for row, x in zip(table.rows, column, strict=True) if x > reasons.FAR), table.title


def test_an_error_far_off_without_a_reason_is_seen():
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
        assert written == set(view.figures(found[main.stem(view)]))
    assert set(report.WORDS) == {"index", "pages", "claims", *map(main.stem, main.VIEWS)}
    everything = unescape(" ".join(pages.values()))
    assert all(text.strip() in everything for words in report.WORDS.values() for text in words.values())

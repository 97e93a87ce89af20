"""The main job: every claim holds, a broken one is told, and the page shows everything and needs nothing beside it."""

import re
from base64 import b64decode

import pytest

import analysis.__main__ as main
from analysis import claims, report


@pytest.fixture(scope="module")
def found():
    return main.measure()


@pytest.fixture(scope="module")
def out(tmp_path_factory, found):
    folder = tmp_path_factory.mktemp("analysis") / "new" / "folder"
    main.write(folder, found, main.claim_table(claims.claims(found)))
    return folder


@pytest.fixture(autouse=True)
def measured_once(monkeypatch, found):
    monkeypatch.setattr(main, "measure", lambda: found)


def test_check_passes_and_draws_nothing(tmp_path, capsys):
    assert main.main(["--check", "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr()
    assert "BROKEN" not in told.out + told.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("at_least", [False, True])
def test_check_fails_on_every_claim_once_it_is_broken(monkeypatch, capsys, found, at_least):
    true = [c for c in claims.claims(found) if c.at_least is at_least]
    beyond = 1e-9 if at_least else -1e-9
    broken = [c._replace(limit=c.measured + beyond) for c in true]
    assert broken
    for one in broken:
        monkeypatch.setattr(main, "claims", lambda _, one=one: [one])
        assert main.main(["--check"]) == 1
        assert f"BROKEN: {one.text}" in capsys.readouterr().err


def test_check_fails_when_an_op_is_worse(monkeypatch, capsys, found):
    worse = found["add_error"]._replace(largest=0.61, passes=3)
    monkeypatch.setattr(main, "measure", lambda: {**found, "add_error": worse})
    assert main.main(["--check"]) == 1
    assert capsys.readouterr().err.count("BROKEN") == 2


def test_nothing_measured_is_not_a_claim_that_holds():
    assert not claims.Claim("", float("nan"), 1.0).holds
    assert not claims.Claim("", float("nan"), 1.0, at_least=True).holds


def test_page_holds_every_figure_and_table(out, found):
    page = (out / "index.html").read_text(encoding="utf-8")
    stems = [name for view in main.VIEWS for name in view.figures(found[main.stem(view)])]
    tables = [table for view in main.VIEWS for table in view.tables(found[main.stem(view)])]
    pictures = re.findall(r'<figure id="(\w+)"><img [^>]*src="data:image/png;base64,([^"]+)"', page)
    assert [name for name, _ in pictures] == stems
    for name, data in pictures:
        assert b64decode(data) == (out / f"{name}.png").read_bytes()
        assert (out / f"{name}.png").stat().st_size > 50_000
    assert page.count("<table>") == len(tables) + 1
    assert {f"{name}.png" for name in stems} | {"index.html"} == {file.name for file in out.iterdir()}


def test_page_refers_to_nothing_outside(out):
    page = (out / "index.html").read_text(encoding="utf-8")
    links = re.findall(r"""(?:src|href|action|poster|srcset)\s*=\s*["']?([^"'>\s]+)""", page)
    assert links
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in links)
    assert not re.search(r"https?:|//\w|url\(|@import|<script|<link|<iframe", re.sub(r"base64,[^\"]+", "", page))
    for target in re.findall(r'href="#(\w+)"', page):
        assert f'id="{target}"' in page


def test_tables_say_the_same_on_the_terminal_and_the_page():
    table = report.Table("Title <&>", ("op", "max"), [["qops add", "0.5"], ["other", "12.25"]])
    assert report.as_text(table).splitlines() == [
        "Title <&>",
        "op          max",
        "--------  -----",
        "qops add    0.5",
        "other     12.25",
    ]
    html = report.as_html(table)
    assert "Title &lt;&amp;&gt;" in html
    assert '<tr class="front"><td class="words">qops add</td><td>0.5</td></tr>' in html
    assert '<tr><td class="words">other</td><td>12.25</td></tr>' in html


def test_every_word_of_the_page_has_its_place(found):
    for view in main.VIEWS:
        written = set(report.WORDS[main.stem(view)]) - {"title", "text"}
        assert written == set(view.figures(found[main.stem(view)]))
    assert set(report.WORDS) == {"page", "claims", *map(main.stem, main.VIEWS)}

"""The sources of the site: every op, notebook and rule has its page, every link leads somewhere, tables are the code's.

Sphinx is not needed here. `make docs` makes the pages of these sources, with warnings as errors, and checks those.
"""

import inspect
import json
import re
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import ops
import pytest
from imports import ROOT
from PIL import Image

import qops
from docs import check, figures, names, rule_table, stage, systems, validation
from qops import rules

PAGES = stage.pages()
NOTEBOOKS = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("*.ipynb")}
FIGURES = {f"gallery/{script.stem}.{figures.kind(script)}" for script in figures.SCRIPTS}
OWN = {"microscope/index.html", "gallery/ties.html"}


def prose(text):
    """A page without its blocks of code."""
    return re.sub(r"^(`{3,})(?!\{).*?^\1$", "", text, flags=re.M | re.S)


def targets(path, text):
    """The files that a page links to, from the root of the site."""
    found = re.findall(r"\]\(([^)\s]+)\)|href=\"([^\"]+)\"", re.sub(r"`[^`\n]+`", "", prose(text)))
    links = [link.partition("#")[0] for pair in found for link in pair if link and "://" not in link]
    folder = Path(path).parent
    return [Path(*simple(folder / link)).as_posix() for link in links]


def simple(path):
    """The parts of a path without "..", which must not leave the site."""
    parts = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return parts


def tree(path, text):
    """The pages that the toctrees of a page name."""
    blocks = re.findall(r"^```\{toctree\}\n(.*?)^```$", text, flags=re.M | re.S)
    lines = [
        re.sub(r".* <(.+)>$", r"\1", line)
        for block in blocks
        for line in block.splitlines()
        if line[:1] not in ("", ":")
    ]
    return [(Path(path).parent / line).as_posix() for line in lines]


def test_no_page_names_jupyterlite_unless_it_is_asked_for():
    assert not [path for path, text in PAGES.items() if "../lite/" in text]


def test_every_public_op_is_on_one_page():
    shown = [
        name
        for page in PAGES.values()
        for name in re.findall(r"^\.\. auto(?:function|class):: qops\.(\S+)", page, re.M)
    ]
    assert len(shown) == len(set(shown))
    assert set(ops.OPS) <= set(shown)
    exported = {
        name
        for room in ops.ROOMS.values()
        for name in getattr(room, "__all__", ())
        if names.is_ours(getattr(room, name))
    }
    assert exported <= {name.rpartition(".")[2] for name in shown}


def test_every_room_has_a_row_for_every_name_with_its_first_sentence_and_its_bound():
    for room, stems in names.rooms().items():
        table = PAGES[f"{room}/index.md"]
        for name in (name for group in stems.values() for name in group if "BOUND" not in name):
            assert f"<{name}>` | {systems.summary(name)}" in table, name
            assert systems.summary(name).endswith("."), f"the docstring of {name} must begin with a whole sentence"
    rows = PAGES["frontdoor/index.md"]
    assert re.search(r"<qops\.add>` .* \*Error, in output LSB:\* 0\.6; int32 0\.5 \+ 2\\\*\\\*-7 \|", rows)
    assert re.search(r"<qops\.quantize>` .* 0\.5 \+ 2\\\*\\\*-13; uint16, int16 0\.5 \+ 2\\\*\\\*-5 \|", rows)
    assert re.search(r"<qops\.max_pool>` [^*]* \|", rows)


def test_pages_have_the_names_that_users_type():
    titles = {path: text.splitlines()[0].removeprefix("# ") for path, text in PAGES.items()}
    assert titles["frontdoor/matmul.md"] == "qops.matmul"
    assert titles["frontdoor/quantize.md"] == "qops.quantize, dequantize"
    assert titles["nouns/fixedpoint.md"] == "qops.fixedpoint"
    assert titles["nnlib/dequantize.md"] == "nnlib.dequantize, dequantize_qint32_f"
    for room, stems in names.rooms().items():
        assert len({titles[f"{room}/{stem}.md"] for stem in stems}) == len(stems), room
        assert sorted(stem for group in names.grouped(room).values() for stem in group) == sorted(stems)


def test_functions_come_before_classes_and_bounds():
    page = PAGES["frontdoor/conv2d.md"]
    places = [page.index(f":: qops.{name}\n") for name in ("conv2d", "Conv2D", "frontdoor.conv2d.BOUND_CONV2D")]
    assert places == sorted(places)


def test_the_microscope_leads_back_to_the_site():
    assert '<a href="../index.html">qops</a>' in stage.microscope_page()


def test_every_page_and_notebook_is_in_a_toctree_once():
    listed = [page for path, text in PAGES.items() for page in tree(path, text)]
    pages = {path.rpartition(".")[0] for path in {*PAGES, *NOTEBOOKS}}
    assert len(NOTEBOOKS) > 10
    assert sorted(listed) == sorted(pages - {"index"})


def test_every_link_leads_to_a_page():
    known = {*PAGES, *NOTEBOOKS, *OWN}
    assert (ROOT / "docs/microscope/index.html").exists()
    links = [(path, target) for path, text in PAGES.items() for target in targets(path, text)]
    assert len(links) > 500
    assert not [link for link in links if link[1] not in known]
    cards = re.findall(r"^:link: (\S+)\n:link-type: doc$", PAGES["index.md"], flags=re.M)
    assert len(cards) > 4
    assert not [card for card in cards if f"{card}.md" not in PAGES]
    roles = {name for text in PAGES.values() for name in re.findall(r"py:obj[}:]`[^`<]+ <([\w.]+)>`", text)}
    assert roles <= {name for stems in names.rooms().values() for group in stems.values() for name in group}


def test_links_of_readme_lead_to_files():
    links = re.findall(r"\]\(([^)\s]+)\)", (ROOT / "README.md").read_text("utf-8"))
    assert len(links) > 8
    assert not [link for link in links if not (ROOT / link).exists()]


def test_readme_names_every_room():
    rows = re.findall(r"^\| (`qops.+?) \|", (ROOT / "README.md").read_text("utf-8"), flags=re.M)
    named = {*re.findall(r"`qops\.(\w+)`", " ".join(rows))}
    rooms = {name for name in qops.__all__ if inspect.ismodule(getattr(qops, name))} - {"frontdoor"}
    lacking, beyond = sorted(rooms - named), sorted(named - {*qops.__all__})
    assert not lacking, f"the table of rooms in README lacks these of qops.__all__: {lacking}"
    assert not beyond, f"the table of rooms in README has these, which are not in qops.__all__: {beyond}"


def test_every_rule_has_a_page_with_its_c():
    for rule, row in rules.TABLE.items():
        page = PAGES[f"rules/requantize/{rule}.md"]
        assert rules.emit(rule).strip() in page
        assert row.systems in page
    assert f"{len(rules.TABLE)} named rules" in PAGES["index.md"].replace("\n", " ")
    assert f"{len(rules.TABLE)} rules of requantization" in (ROOT / "README.md").read_text("utf-8")


# --- what the lines of a rule's formula mean, in exact numbers

EXACT = {
    "floor": floor,
    "truncate": int,
    "half_up": lambda x: floor(x + Fraction(1, 2)),
    "half_away": lambda x: floor(abs(x) + Fraction(1, 2)) * (1 if x > 0 else -1),
    "half_even": round,
    "float32": lambda x: Fraction(float(np.float32(float(x)))),
    "float64": lambda x: Fraction(float(x)),
    "clamp": lambda x: min(max(x, -128), 127),
    "saturate_s16": lambda x: min(max(x, -(2**15)), 2**15 - 1),
}


@pytest.mark.parametrize("rule", rules.TABLE)
@pytest.mark.parametrize("scale", [0.0033, 2.0**-5])
def test_the_formula_on_the_page_of_a_rule_is_what_the_rule_computes(rule, scale):
    acc = np.concatenate([np.arange(-4400, 4400, 16), np.arange(-42_000, 42_000, 173)])
    lines = rules.TABLE[rule].formula
    assert f"```text\n{lines}\n```" in PAGES[f"rules/requantize/{rule}.md"]
    known = {"scale": Fraction(scale), "zero_point": 3}
    how = {"scale": scale}
    if not rules.TABLE[rule].multiplier.startswith("float"):
        numbers = (217, 16) if rule == rule_table.GIVEN else tuple(rules.integers(rule, scale))
        how = {"integers": numbers}
        known |= {"multiplier": Fraction(numbers[0]), "right_shift": numbers[1]}
    got = rules.requantize(acc, rule, zero_point=3, **how)
    program = compile(lines, rule, "exec")
    for x, code in zip(acc.tolist(), got.tolist(), strict=True):
        space = {**EXACT, **known, "acc": Fraction(x)}
        exec(program, space)
        assert space["code"] == code, x


def test_counts_of_who_differs_are_those_of_the_rules():
    acc, scale = rule_table.SITUATIONS["0.0033"]
    one, two = (rules.requantize(acc, rule, scale=scale, zero_point=3) for rule in ("tflite-double", "fp32-even"))
    assert one.min() == -128
    assert one.max() == 127
    assert (
        f"| [fp32-even](fp32-even.md) | {np.count_nonzero(one != two)} |" in PAGES["rules/requantize/tflite-double.md"]
    )


def test_validation_counts_what_is_in_the_files():
    file = ROOT / "tests/golden/tensorflow/QuantizedAdd"
    cases = json.loads(file.with_suffix(".json").read_text("utf-8"))
    rejects = json.loads(file.with_suffix(".rejects.json").read_text("utf-8"))
    found = {count.op: count for count in validation.counts("tensorflow")}["QuantizedAdd"]
    assert (found.cases, found.refused) == (len(cases), len(rejects))
    arrays = np.load(file.with_suffix(".npz"))
    outputs = [v for c in cases for part in ("outputs", "outputs_onednn1") for v in c.get(part, {}).values()]
    assert found.values == sum(arrays[v].size if isinstance(v, str) else 1 for v in outputs)
    every = [count for system in validation.systems() for count in validation.counts(system)]
    assert f"| **all** | {sum(count.cases for count in every):,} |" in PAGES["trust/validation.md"]
    assert sum(count.cases for count in every) > 2500


def test_every_claim_is_on_the_page():
    claims = re.findall(r'^text = "(.+)"$', (ROOT / "analysis/claims.toml").read_text("utf-8"), flags=re.M)
    assert re.findall(r"^- (.+)$", PAGES["trust/claims.md"], flags=re.M) == claims


def test_every_hazard_is_on_the_page():
    functions = [name for name in ops.OPS if "**Hazard" in (ops.function(name).__doc__ or "")]
    assert len(functions) > 80
    page = PAGES["trust/hazards.md"]
    assert not [name for name in functions if f"<qops.{name}>`: " not in page]
    told = "In ``spec`` the sum x ", "For ranges far from 0, ", "The retry rules of ``spec``", "that was not given."
    assert [page.count(words) for words in told] == [1, 1, 1, 1], "one op's, those behind an example too"
    assert ">>>" not in page


def test_first_screen_runs(capsys):
    code = re.search(r"```python\n(.*?)```", PAGES["index.md"], flags=re.S)[1]
    space = {}
    exec(code, space)
    assert capsys.readouterr().out.endswith(f"{space['found'].exact}\n")
    assert "tflite-double" in space["found"].exact
    assert space["c_source"].startswith("/* tflite-double")


@pytest.mark.long
@pytest.mark.parametrize("script", figures.SCRIPTS, ids=lambda script: script.stem)
def test_every_script_of_the_gallery_draws_its_figure(script, tmp_path, monkeypatch):
    monkeypatch.setitem(figures.STYLE, "savefig.dpi", 50)
    title, words = figures.words(script)
    assert title
    assert words
    figure = figures.draw(script, tmp_path)
    small = tmp_path / f"{script.stem}_small.png"
    assert {figure, small} == {*tmp_path.iterdir()}
    assert figure.stat().st_size > 3_000
    with Image.open(small) as card:
        assert card.size == (640, 420)
        assert 0.01 < (np.asarray(card.convert("L")) < 245).mean() < 0.99
    assert f":img-top: {small.name}\n" in PAGES["gallery/index.md"]
    if script.stem == "ties":  # a copy is shown by README
        written = [
            re.findall(r"<text[^>]*>([^<]+)</text>", f.read_text("utf-8"))
            for f in (figure, ROOT / "docs/static/ties.svg")
        ]
        assert "XNNPACK rndnu" in written[0]
        assert written[0] == written[1]


def test_pages_that_are_wrong_are_found(tmp_path):
    pages = {
        "a": '<p id="x"><a href="b.html#y">1</a><a href="f.html">2</a><a href="#x">3</a></p>',
        "b": '<a href="https://example.org">1</a><script src="https://example.org/x.js"></script>',
        "c": "<p>at most 0.5 + 2**-7 LSB** of **kw, <code>a` 2** b</code></p><p>a `b</p>",
        "d": "<p><code>max&amp;#124;T&amp;#124;</code> a &amp; b</p><code>``a</code>",
        "e": '<img alt="" src="d.png"><img alt="a map" src="d.png"><img alt="d.png" src="d.png">',
        "f": "<h1>Another</h1>",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(f"<title>{name}</title><h1>{name}</h1>{text}")
    (tmp_path / "g.html").write_text("<h1>g</h1>")
    (tmp_path / "d.png").touch()
    (tmp_path / "s.css").write_text("@font-face { src: url(https://example.org/f.woff) }")
    assert check.complaints(tmp_path) == [
        "a.html links to b.html#y, which has no such anchor",
        "b.html loads https://example.org/x.js",
        "c.html shows its markup: LSB**",
        "c.html shows its markup: `b",
        "d.html shows its markup: max&#124;T&#124;",
        "d.html shows its markup: ``a",
        "e.html has no words for d.png",
        "f.html has 2 of <h1>",
        "g.html has 0 of <title>",
        "s.css loads from the network",
    ]
    (tmp_path / "f.html").unlink()
    assert "a.html links to f.html, which is not there" in check.complaints(tmp_path)


def test_figures_of_notebooks_have_words():
    cells = [cell for notebook in stage.NOTEBOOKS for cell in json.loads(stage.described(notebook))["cells"]]
    words = [cell["metadata"]["mystnb"]["image"]["alt"] for cell in cells if "mystnb" in cell["metadata"]]
    assert len(words) > 10
    assert min(map(len, words)) > 40


def test_what_the_docs_need_is_an_extra():
    assert qops.__version__ in (ROOT / "CITATION.cff").read_text("utf-8")
    text = (ROOT / "pyproject.toml").read_text("utf-8").split("\ndocs = [")[1].split("]\n")[0]
    packages = {name.replace("-", "_") for name in re.findall(r'"([\w-]+)>=', text)}
    used = re.search(r"extensions = \[(.*?)\]", (ROOT / "docs/conf.py").read_text("utf-8"), flags=re.S)[1]
    assert {name.split(".")[0] for name in re.findall(r'"([\w.]+)"', used)} <= packages


def test_words_that_people_search_for_lead_to_their_page(tmp_path):
    assert "```{index} ! tutorial, ! getting started, " in PAGES["ten_minutes.md"]
    assert "```{index} ! dequantize, ! quantize\n" in PAGES["frontdoor/quantize.md"]
    index = {"docnames": ["a", "b"], "indexentries": {"tutorial": [[1, "index-0", True]], "add": [[0, "", False]]}}
    (tmp_path / "searchindex.js").write_text(f"Search.setIndex({json.dumps(index)})")
    assert check.unfound(tmp_path, {"b": ("tutorial",)}) == []
    lost = check.unfound(tmp_path, {"a": ("tutorial", "add", "sub")})
    assert lost == [f"a search for {word!r} does not lead to a" for word in ("tutorial", "add", "sub")]


def test_every_notebook_offers_itself():
    for notebook in stage.NOTEBOOKS:
        first = json.loads(stage.described(notebook))["cells"][0]
        text = "".join(first["source"])
        assert text.endswith(f"{{download}}`Download this notebook <{notebook.name}>`")
        assert bool(re.search(r"\nAbout \d\d minutes\. ", text)) == (notebook.stem != "solutions")

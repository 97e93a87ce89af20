"""The pages written by hand: their code runs, and gives the outputs that they show."""

import doctest
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from analysis.options import parser
from docs import stage
from qops.__main__ import main
from qops.tools.explain import dump_file as dump

PAGES = {path.relative_to(stage.TEXT).as_posix(): path.read_text("utf-8") for path in sorted(stage.TEXT.rglob("*.md"))}
RUN = [name for name, text in PAGES.items() if ">>>" in text]
CODE_BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", flags=re.M | re.S)


def ended(words):
    """Run a shell command; its exit code."""
    if words[:3] == ["python", "-m", "qops"]:
        return main(words[3:])
    if words[:3] == ["python", "-m", "analysis"]:  # takes minutes: its options are read, and it is not run
        return 0 if parser().parse_args(words[3:]) else 1
    compiler = shlex.split(os.environ.get("CC", "cc"))
    assert words[0] == "cc" or Path(words[0]).is_relative_to("case"), words
    return subprocess.run([*compiler, *words[1:]] if words[0] == "cc" else words, check=False).returncode


def run(text, name):
    """Run the blocks of a page one after the other, those of Python in one space; how many examples failed of how many.

    A shell command is one of qops, the C compiler, or a program that it made. It must succeed, or end with the code
    that a comment behind it says.
    """
    space, failed, tried = {}, 0, 0
    runner = doctest.DocTestRunner()
    for language, code in CODE_BLOCK.findall(text):
        if language == "sh":
            for line in code.splitlines():
                words, wanted = shlex.split(line, comments=True), re.search(r"# ends with (\d)$", line)
                assert ended(words) == (int(wanted[1]) if wanted else 0), line
            continue
        examples = doctest.DocTestParser().get_doctest(code, space, name, name, 0)
        result = runner.run(examples, clear_globs=False)
        space.update(examples.globs)
        failed, tried = failed + result.failed, tried + result.attempted
    return failed, tried


def test_the_pages_for_a_beginning_are_run():
    guide = {name for name in PAGES if name.startswith("guide/")} - {"guide/index.md"}
    assert len(guide) >= 7
    assert {*guide, "ten_minutes.md", "surprises.md", "trust/cpus.md"} == {*RUN}


@pytest.mark.parametrize("name", RUN)
def test_the_code_of_a_page_gives_what_the_page_shows(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, tried = run(PAGES[name], name)
    assert tried >= 4
    assert failed == 0


def test_a_wrong_output_is_found():
    assert run("```python\n>>> a = 1\n>>> a + 1\n2\n```\n\nand\n\n```python\n>>> a\n2\n```\n", "made up") == (1, 3)


def test_every_surprise_says_what_it_is_of():
    for part in PAGES["surprises.md"].split("\n## ")[1:-1]:
        assert re.search(r"^\*[^*]+\d[^*]*\*", part, flags=re.M), part
        assert re.search(r"\b([Rr]un|[Rr]ead)\b", part.split("```")[-1]), part


def test_the_table_of_dumps_is_the_code_s():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \|$", PAGES["guide/dump.md"], flags=re.M)
    assert dict(rows) == dump.NAMES


def test_examples_are_what_type_checkers_take():
    """Types of numpy say that ``np.int8`` takes a number; at run time it makes an array of a list as well."""
    pages = [*stage.TEXT.rglob("*.md"), stage.ROOT / "README.md", *(stage.HERE / "gallery").glob("*.py")]
    lines = [line for page in pages for line in page.read_text("utf-8").split("\n") if not line.startswith("QTensor(")]
    sources = [path.read_text("utf-8").split("\n") for path in (stage.ROOT / "qops").rglob("*.py")]
    lines += [line for text in sources for line in text if line.lstrip().startswith((">>> ", "... "))]
    assert len(lines) > 4_000
    assert not [line for line in lines if re.search(r"\bnp\.(u?int|float)\d+\(\[", line)]

"""python -m analysis --op: pages about an op of the user's own."""

import csv

import numpy as np
import pytest
from matplotlib import rcParams
from PIL import Image

import qops
from analysis import __main__ as main

MINE = """
import numpy as np
import qops


def average(a, b):
    (x, lo, hi), (y, lo_b, hi_b) = a, b
    return ((x.astype(int) + y + 1) >> 1).astype(np.uint8), (lo + lo_b) / 2, (hi + hi_b) / 2


def mean(a, b):
    return (a + b) / 2


def average_of_one_range(a, b):
    return ((a.data.astype(int) + b.data + 1) >> 1).astype(np.uint8), a.min, a.max


def root(t):
    return qops.quantize(np.sqrt(np.abs(qops.values(t))))


def exact_root(x):
    return np.sqrt(np.abs(x))


def refuses(t):
    raise ValueError("t: not today")


def exact_sum(a, b, c):
    return a + b + c


three = 3
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine_of_a_user.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(rcParams, "figure.dpi", 50)  # coarse pixels take less time
    monkeypatch.setattr("sys.path", [*main.sys.path])
    yield
    main.sys.modules.pop("mine_of_a_user", None)


def run(op, exact, *more):
    words = ["--op", f"mine_of_a_user:{op}", "--exact", f"mine_of_a_user:{exact}", "--out", "pages"]
    return main.main([*words, "--ranges", "3", "--workers", "1", *more])


@pytest.mark.long
def test_an_op_of_two_operands_and_a_picture(tmp_path, rng, capsys):
    Image.fromarray(rng.integers(0, 256, (40, 50), np.uint8)).save(tmp_path / "photo.png")
    assert run("average", "mean", "--image", "photo.png") == 0
    with open("pages/sweep.csv") as lines:
        rows = list(csv.DictReader(lines))
    import mine_of_a_user

    ranges = [[tuple(float(row[f"{end}_{i}"]) for end in ("min", "max")) for i in (0, 1)] for row in rows]
    want = qops.sweep(mine_of_a_user.average, mine_of_a_user.mean, ranges)
    assert [float(row["max_lsb"]) for row in rows] == [row.max_lsb for row in want]
    page = (tmp_path / "pages/index.html").read_text()
    assert 'src="worst.webp"' in page
    assert 'src="picture.webp"' in page
    assert all((tmp_path / f"pages/{stem}.png").stat().st_size > 10_000 for stem in ("worst", "picture"))
    assert "average on 3 choices of ranges" in capsys.readouterr().out


@pytest.mark.long
def test_an_op_whose_operands_have_one_range(tmp_path, rng, capsys):
    Image.fromarray(rng.integers(0, 256, (40, 50), np.uint8)).save(tmp_path / "photo.png")
    assert run("average_of_one_range", "mean", "--one-range", "--image", "photo.png") == 0
    with open("pages/sweep.csv") as lines:
        rows = list(csv.DictReader(lines))
    assert [(row["min_0"], row["max_0"]) for row in rows] == [(row["min_1"], row["max_1"]) for row in rows]
    assert [float(row["max_lsb"]) for row in rows] == pytest.approx([0.5] * 3)
    assert "on photo.png: long exposure, short: 1/4 of the light\nelements      2000\n" in (
        said := capsys.readouterr().out
    )
    assert "max error     0.5000 LSB" in said


@pytest.mark.long
def test_an_op_of_one_operand(tmp_path, capsys):
    assert run("root", "exact_root") == 0
    assert "root on 3 choices of ranges" in capsys.readouterr().out
    assert (tmp_path / "pages/worst.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("op", "exact", "text"),
    [
        ("none", "mean", "--op mine_of_a_user:none: expected MODULE:FUNCTION"),
        ("average", "three", "--exact mine_of_a_user:three: expected a function, got 3"),
        ("root", "exact_sum", "--exact mine_of_a_user:exact_sum: expected a function of one or two operands"),
        ("average", "exact_root", "--op mine_of_a_user:average: expected a function of one operand, as --exact is"),
        ("root", "mean", "--op mine_of_a_user:root: expected a function of two operands, as --exact is"),
        ("refuses", "exact_root", "it refuses every choice of ranges"),
    ],
)
def test_what_is_no_op_is_named(op, exact, text, capsys):
    with pytest.raises(SystemExit):
        run(op, exact)
    assert text in " ".join(capsys.readouterr().err.split())


def test_a_cluster_that_does_not_answer_is_named(capsys):
    with pytest.raises(SystemExit):
        main.main(["--op", "mine_of_a_user:root", "--exact", "mine_of_a_user:exact_root", "--scheduler", "nowhere"])
    assert "--scheduler: no dask scheduler answers at nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", [["--op", "a:b"], ["--exact", "a:b"], ["--image", "x.png", "--check"], ["--one-range"]]
)
def test_options_that_need_each_other_or_exclude_each_other(words, capsys):
    with pytest.raises(SystemExit):
        main.main(words)
    assert words[0] in capsys.readouterr().err

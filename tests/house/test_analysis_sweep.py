"""Sweeps: every executor gives the same rows, and the table is tidy."""

import csv
import pickle
import sys
from functools import partial
from time import sleep

import dask
import numpy as np
import pytest
from distributed import LocalCluster
from pyarrow import parquet
from work import die_once, fail

import analysis.__main__ as main
from analysis import sweep_error, sweeps
from analysis.options import BadOption
from analysis.ranges import both_kinds
from analysis.systems import ALL, FORMS, FUSED, PRODUCTS, all_pairs
from qops import sweep
from qops.tools.sweep.workers import run

RANGES = both_kinds(3)


@pytest.fixture(scope="module")
def found():
    return sweep_error.measure(sweeps.processes(1), 3)


@pytest.fixture(scope="module")
def cluster():
    """Two processes on loopback, forked from one that has imported dask."""
    forked = dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with (
        forked,
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as started,
    ):
        yield started


@pytest.mark.long
def test_every_executor_gives_the_same_table(tmp_path, found, cluster, capsys):
    wanted = found.rows.to_columns()
    for name, options in {"a": ["--workers", "2"], "b": ["--scheduler", cluster.scheduler_address]}.items():
        file = tmp_path / f"{name}.csv"
        assert main.main(["--sweep", str(file), "--ranges", "3", *options]) == 0
        with file.open(newline="") as lines:
            table = list(csv.DictReader(lines))
        assert len(table) == len(found.rows)
        for key, values in wanted.items():
            assert [line[key] for line in table] == [str(value) for value in values]
    told = capsys.readouterr()
    assert "dask, 2 workers" in told.out
    assert "million pairs of codes a second" in told.out


@pytest.mark.long
def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path, cluster):
    with sweeps.cluster(cluster.scheduler_address) as where:
        made = run(partial(die_once, str(tmp_path)), range(30), where.open, lambda done: None)
    assert made == [x * x for x in range(30)]
    assert (tmp_path / "3").stat().st_size >= 2, "a byte a call; a cluster may do a piece more often than it must"


@pytest.mark.long
def test_an_error_on_a_cluster_is_raised_here_and_what_is_cancelled_holds_nothing_up(cluster):
    with sweeps.cluster(cluster.scheduler_address) as where, where.open() as executor:
        waiting = [executor.submit(sleep, 0.5) for _ in range(100)]
        assert all(call.cancel() for call in waiting)
        with pytest.raises(ValueError, match="sleep length"):
            executor.submit(sleep, -1).result(20)  # what was cancelled would take 25 s before it


def test_a_cluster_that_is_not_there_is_named(capsys):
    with pytest.raises(SystemExit) as end:
        main.main(["--sweep", "x.csv", "--scheduler", "nowhere"])
    assert end.value.code == 2
    assert "--scheduler: no dask scheduler answers at nowhere" in capsys.readouterr().err


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadOption, match=r"pip install 'qops\[dask\]'"), sweeps.cluster("tcp://127.0.0.1:1"):
        pass


def test_parquet_holds_the_same_table(tmp_path, found):
    sweeps.write(tmp_path / "new" / "x.parquet", found.rows)
    table = parquet.read_table(tmp_path / "new" / "x.parquet").to_pydict()
    wanted = found.rows.to_columns()
    assert list(table) == list(wanted)
    for key, values in wanted.items():
        np.testing.assert_array_equal(table[key], values)


@pytest.mark.parametrize("name", ["x.txt", "x", "x.parquet"])
def test_a_table_that_cannot_be_written_is_told_before_the_sweep(monkeypatch, capsys, name):
    monkeypatch.setattr(sweeps, "find_spec", lambda _: None)
    monkeypatch.setattr(sweep_error, "measure", fail)
    with pytest.raises(SystemExit):
        main.main(["--sweep", name])
    assert f"--sweep {name}: " in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--ranges", "0"], ["--workers", "-1"], ["--check", "--sweep", "x.csv"]])
def test_options_that_make_no_sense_are_refused(capsys, options):
    with pytest.raises(SystemExit):
        main.main(options)
    assert options[0] in capsys.readouterr().err.splitlines()[-1], "the lines before are the usage, with every option"


def test_rows_cover_every_system_and_say_what_was_refused(found):
    for system in ALL:
        guesses = ("none", "exact", "quarter") if system.guessed else ("none",)
        for guess in guesses:
            assert [r.ranges for r in found.of(system, guess)] == RANGES
        assert len(found.of(system)) == len(RANGES) * len(guesses)
    assert len(found.rows) == len(FORMS) * len(RANGES)
    assert not any(r.refused or np.isnan(r.max_lsb) for r in found.rows)


def test_what_a_system_refuses_is_a_row_and_not_one_of_its_errors():
    huge, form = ((-1e30, 1e30),) * 2, next(f for f in FORMS.values() if ALL[f.number] is PRODUCTS[0])
    rows = sweep({form.name: form}, np.multiply, [huge, ((0, 1), (0, 1))])
    assert "float32" in rows[0].refused
    assert sweep_error.Measured(rows, "here", 1.0).of(PRODUCTS[0]) == rows[1:]


def test_a_form_gives_the_system_its_guess_and_tells_its_passes():
    a, b = all_pairs((-1.0, 1.0), (0.0, 3.0))
    for form in FORMS.values():
        system = ALL[form.number]
        guess = {"none": None, "exact": (-1.0, 4.0), "quarter": (-0.25, 1.0)}[form.guess]
        if system is FUSED[0]:
            assert form(a, b)[1] == system.run(a, b, guess)[1]
            assert form(a, b)[0] == system.run(a, b, guess)[0]
        assert pickle.loads(pickle.dumps(form)) == form

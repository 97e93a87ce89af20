"""Sweeps: every executor gives the same rows, a dead worker costs its pieces alone, the table is tidy."""

import csv
import sys
from concurrent.futures import Executor, ThreadPoolExecutor

import dask
import numpy as np
import pytest
from distributed import LocalCluster
from pyarrow import parquet
from work import die, die_once, fail, square

import analysis.__main__ as main
from analysis import pool, sweep, tidy
from analysis.options import BadOption
from analysis.systems import ALL

PARTS = sweep.pieces(3)


def quiet(done, of):
    pass


def test_results_keep_the_order_of_the_pieces():
    told = []
    threads = pool.Pool("threads", lambda: ThreadPoolExecutor(3))
    done = pool.run(threads, square, [(x,) for x in range(40)], lambda done, of: told.append((done, of)))
    assert done.results == [x * x for x in range(40)]
    assert done.rate > 0
    assert told == [(i, 40) for i in range(1, 41)]
    assert pool.run(threads, square, [], quiet).results == []


def test_a_killed_process_costs_its_pieces_alone(tmp_path):
    pieces = [(str(tmp_path), x) for x in range(30)]
    opened = []
    one = pool.processes(1)
    counted = one._replace(open=lambda: opened.append(1) or one.open())
    assert pool.run(counted, die_once, pieces, quiet).results == [x * x for x in range(30)]
    assert len(opened) == 2  # the pool is broken by the kill: a new one, once
    assert [(tmp_path / str(x)).stat().st_size for x in range(3)] == [1, 1, 1]  # done before: not run again
    assert (tmp_path / "3").stat().st_size == 2


def test_workers_that_always_die_end_in_an_error():
    with pytest.raises(RuntimeError, match="1 process: the workers died 3 times in a row; 2 pieces are left"):
        pool.run(pool.processes(1), die, [(1,), (2,)], quiet)


def test_an_error_of_the_work_is_raised_and_the_rest_dropped():
    begun = []

    class Inline(Executor):
        def submit(self, f, *args):
            begun.append(args)
            return ThreadPoolExecutor(1).submit(f, *args)

    with pytest.raises(ZeroDivisionError, match="piece 0"):
        pool.run(pool.Pool("inline", Inline), fail, [(0,)], quiet)
    assert begun == [(0,)]


@pytest.fixture(scope="module")
def rows():
    return [row for piece in PARTS for row in sweep.measure_piece(*piece)]


@pytest.fixture(scope="module")
def cluster():
    """Two processes on loopback, of a scheduler that gives a piece up as soon as a worker dies of it."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0") as started,
    ):
        yield started


@pytest.mark.long
def test_every_executor_gives_the_same_table(tmp_path, rows, cluster, capsys):
    wanted = sweep.columns(rows)
    for name, options in {"a": ["--workers", "2"], "b": ["--scheduler", cluster.scheduler_address]}.items():
        file = tmp_path / f"{name}.csv"
        assert main.main(["--sweep", str(file), "--ranges", "3", *options]) == 0
        with file.open(newline="") as lines:
            table = list(csv.DictReader(lines))
        assert len(table) == len(rows)
        for key, values in wanted.items():
            assert [line[key] for line in table] == [str(value) for value in values]
    told = capsys.readouterr()
    assert "dask, 2 workers" in told.out
    assert "million pairs of codes a second" in told.out


@pytest.mark.long
def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path, cluster):
    with pool.cluster(cluster.scheduler_address) as where:
        done = pool.run(where, die_once, [(str(tmp_path), x) for x in range(30)], quiet)
    assert done.results == [x * x for x in range(30)]
    assert (tmp_path / "3").stat().st_size == 2


def test_a_cluster_that_is_not_there_is_named(capsys):
    with pytest.raises(SystemExit) as end:
        main.main(["--sweep", "x.csv", "--scheduler", "nowhere"])
    assert end.value.code == 2
    assert "--scheduler: no dask scheduler answers at nowhere" in capsys.readouterr().err


def test_without_dask_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadOption, match=r"pip install 'qops\[dask\]'"), pool.cluster("tcp://127.0.0.1:1"):
        pass


def test_parquet_holds_the_same_table(tmp_path, rows):
    tidy.write(tmp_path / "new" / "x.parquet", sweep.columns(rows))
    table = parquet.read_table(tmp_path / "new" / "x.parquet").to_pydict()
    wanted = sweep.columns(rows)
    assert list(table) == list(wanted)
    for key, values in wanted.items():
        np.testing.assert_array_equal(table[key], values)


@pytest.mark.parametrize("name", ["x.txt", "x", "x.parquet"])
def test_a_table_that_cannot_be_written_is_told_before_the_sweep(monkeypatch, capsys, name):
    monkeypatch.setattr(tidy, "find_spec", lambda _: None)
    monkeypatch.setattr(sweep, "measure_piece", fail)
    with pytest.raises(SystemExit):
        main.main(["--sweep", name])
    assert f"--sweep {name}: " in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--ranges", "0"], ["--workers", "-1"], ["--check", "--sweep", "x.csv"]])
def test_options_that_make_no_sense_are_refused(capsys, options):
    with pytest.raises(SystemExit):
        main.main(options)
    assert options[0] in capsys.readouterr().err


def test_rows_cover_every_system_and_say_what_was_refused(rows):
    assert {(r.op, r.system) for r in rows} == {(s.op, s.name) for s in ALL}
    huge = sweep.measure_piece((-1e30, 1e30), (-1e30, 1e30))
    refused = {(r.op, r.system) for r in huge if r.refused}
    assert ("multiply into 8 bits", "qops 8x8to8") in refused
    assert ("add into 8 bits", "qops 8p8to8") not in refused
    assert all(np.isnan(r.max_lsb) for r in huge if r.refused)
    assert not any(np.isnan(r.max_lsb) for r in rows)


def test_every_piece_is_in_one_batch():
    parts = sweep.pieces(100)
    assert len(set(parts)) == len(parts) > 100
    for count in (1, 2, 3):
        assert [p for batch in sweep.batches(parts, count) for p in batch] == parts

"""Pieces of work on executors: results in order, and a dead worker costs its pieces alone."""

from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context

import pytest
from work import die, die_once, fail, square

from qops.tools.sweep.workers import run


def one_process():
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def quiet(done):
    pass


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(3), lambda: ThreadPoolExecutor(3)])
def test_results_keep_the_order_of_the_pieces(executor):
    told = []
    assert run(square, range(40), executor, told.append) == [x * x for x in range(40)]
    assert told == [*range(1, 41)]
    assert run(square, [], executor, quiet) == []


def test_a_killed_process_costs_its_pieces_alone(tmp_path):
    opened = []

    def counted():
        opened.append(1)
        return one_process()

    assert run(partial(die_once, str(tmp_path)), range(30), counted, quiet) == [x * x for x in range(30)]
    assert len(opened) == 2  # the pool is broken by the kill: a new one, once
    assert [(tmp_path / str(x)).stat().st_size for x in range(3)] == [1, 1, 1]  # done before: not run again
    assert (tmp_path / "3").stat().st_size == 2


def test_workers_that_always_die_end_in_an_error():
    with pytest.raises(RuntimeError, match="executor: its workers died 3 times in a row; 2 pieces are left"):
        run(die, [1, 2], one_process, quiet)


def test_an_executor_that_was_not_opened_here_is_not_opened_again():
    with one_process() as pool, pytest.raises(BrokenProcessPool):
        run(die, [1, 2], pool, quiet)


def test_an_error_of_the_work_is_raised_and_the_rest_dropped():
    begun = []

    class Inline(Executor):
        def submit(self, f, *args):
            begun.append(args)
            return ThreadPoolExecutor(1).submit(f, *args)

    with pytest.raises(ZeroDivisionError, match="piece 0"):
        run(fail, [0], Inline, quiet)
    assert begun == [(0,)]

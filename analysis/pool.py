"""Pieces of work on any executor: processes, or a dask cluster. The pieces of a worker that died are run again."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from analysis.options import BadOption

T = TypeVar("T")
PATIENCE = 3  # pools in a row that may break before any piece is finished
Tell = Callable[[int, int], None]


class Pool(NamedTuple):
    """Where pieces run: how to open an executor, and the errors that say a worker died, not that a piece is wrong."""

    name: str
    open: Callable[[], Executor]
    died: tuple[type[BaseException], ...] = (BrokenExecutor, CancelledError)


class Done(NamedTuple):
    """Results in the order of the pieces; the rate is pieces a second, once the first was finished."""

    results: list[Any]
    rate: float


def processes(workers: int) -> Pool:
    """So many processes of this machine; they start afresh, as a fork of threads may hang."""
    name = f"{workers} process" + "es" * (workers > 1)
    return Pool(name, lambda: ProcessPoolExecutor(workers, mp_context=get_context("spawn")))


@contextmanager
def cluster(address: str) -> Iterator[Pool]:
    """The dask cluster whose scheduler is at the address."""
    try:
        from distributed import Client, KilledWorker
    except ImportError as missing:
        raise BadOption("--scheduler needs dask: pip install 'qops[dask]'") from missing
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as refused:
        raise BadOption(f"--scheduler: no dask scheduler answers at {address}: {refused}") from refused
    with client:
        count = len(client.scheduler_info()["workers"])
        if not count:
            raise BadOption(f"--scheduler: the cluster at {address} has no workers")
        name = f"dask, {count} worker" + "s" * (count > 1)
        yield Pool(name, lambda: client.get_executor(pure=False), (*Pool._field_defaults["died"], KilledWorker))


def run(pool: Pool, work: Callable[..., T], pieces: Sequence[tuple[Any, ...]], tell: Tell) -> Done:
    """Do all pieces; `tell` hears after each how many are done.

    Where a worker dies, the pieces that are missing, and no others, go to a new executor. An error of the work itself
    is raised at once, and what has not begun is dropped.
    """
    done: dict[int, T] = {}
    ended: list[float] = []
    broken = 0
    while len(done) < len(pieces):
        before = len(done)
        for i, result in _finished(pool, work, {i: p for i, p in enumerate(pieces) if i not in done}):
            done[i] = result
            ended.append(perf_counter())
            tell(len(done), len(pieces))
        broken = 0 if len(done) > before else broken + 1
        if broken == PATIENCE:
            left = len(pieces) - len(done)
            raise RuntimeError(f"{pool.name}: the workers died {PATIENCE} times in a row; {left} pieces are left")
    rate = (len(ended) - 1) / (ended[-1] - ended[0]) if len(ended) > 1 else 0.0
    return Done([done[i] for i in range(len(pieces))], rate)


def _finished(pool: Pool, work: Callable[..., T], pieces: dict[int, tuple[Any, ...]]) -> Iterator[tuple[int, T]]:
    """Number and result of each piece as it ends; nothing of those whose worker died."""
    with pool.open() as executor:
        futures = {}
        try:
            futures = {executor.submit(work, *piece): i for i, piece in pieces.items()}
            for future in as_completed(futures):
                try:
                    result = future.result()
                except pool.died:
                    continue
                yield futures[future], result
        except pool.died:  # already while pieces are handed in
            return
        finally:
            for future in futures:
                future.cancel()

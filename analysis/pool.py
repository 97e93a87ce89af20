"""Where sweeps run: processes of this machine, or a dask cluster."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import NamedTuple

from analysis.options import BadOption


class Pool(NamedTuple):
    """How to open an executor; None: this process itself."""

    name: str
    open: Callable[[], Executor] | None


def processes(workers: int) -> Pool:
    """So many processes of this machine; they start afresh, as a fork of threads may hang."""
    if workers == 1:
        return Pool("this process", None)
    return Pool(f"{workers} processes", lambda: ProcessPoolExecutor(workers, mp_context=get_context("spawn")))


@contextmanager
def cluster(address: str) -> Iterator[Pool]:
    """The dask cluster whose scheduler is at the address; it does again what a worker that died had begun."""
    try:
        from distributed import Client
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
        yield Pool(f"dask, {count} worker" + "s" * (count > 1), lambda: client.get_executor(pure=False))

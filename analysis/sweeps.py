"""Sweeps: the processes of this machine or the dask cluster that they run on, and the file that their rows go to."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from analysis.options import BadOption
from qops import Sweep


class Pool(NamedTuple):
    """How to open an executor; None: this process itself."""

    name: str
    open: Callable[[], Executor] | None


def place(options: Namespace) -> AbstractContextManager[Pool]:
    """Where sweeps run: on a cluster or processes."""
    return cluster(options.scheduler) if options.scheduler else nullcontext(processes(options.workers))


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
        yield Pool(f"dask, {count} worker" + "s" * (count > 1), lambda: _Calls(client))


class _Calls(Executor):
    """Calls on a dask cluster. dask's own executor fails if the worker of a result dies while the result is fetched."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Begin a call; what is cancelled before its end is cancelled on the cluster."""
        promise: Future[Any] = Future()
        there = self.client.submit(call, *args, pure=False, **kwargs)
        promise.add_done_callback(lambda done: there.cancel() if done.cancelled() else None)
        there.add_done_callback(partial(_pass_on, promise))
        return promise


def _pass_on(promise: Future[Any], there: Any) -> None:
    """Fetch a result, which the cluster makes again if it was lost meanwhile."""
    if not promise.set_running_or_notify_cancel():
        return
    try:
        promise.set_result(there.result())
    except BaseException as error:
        promise.set_exception(error)


def check(file: Path) -> Path:
    """Give the file, or raise BadOption if it cannot be written, before hours of work are done for it."""
    if file.suffix not in (".csv", ".parquet"):
        raise BadOption(f"--sweep {file}: the name must end in .csv or .parquet")
    if file.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise BadOption(f"--sweep {file}: .parquet needs pyarrow: pip install pyarrow, or choose a name in .csv")
    return file


def write(file: Path, found: Sweep) -> None:
    """Write a table with a column for each number."""
    check(file).parent.mkdir(parents=True, exist_ok=True)
    if file.suffix == ".csv":
        found.to_csv(file)
        return
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(found.to_columns()), file)

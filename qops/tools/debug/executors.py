"""Where the layers of a walk run: in this process, or on a dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from qops.checks import integer

__all__ = ["Cluster", "Here", "client_of"]

_AHEAD = 16  # layers that are under way in a cluster before the first of them is waited for


class Here:
    """Runs each task at once in this process; the same interface as `Cluster`."""

    ahead = 0

    def hold(self, value: Any) -> Any:
        """Give a value as tasks take it."""
        return value

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Run a task on values that are held, or that other tasks give."""
        return function(*arguments)

    def result(self, held: Any) -> Any:
        """Give the value that is held."""
        return held


class Cluster:
    """Runs tasks on a dask cluster, each when what it reads is there; results stay with the workers."""

    ahead = _AHEAD

    def __init__(self, client: Any) -> None:
        self._client = client

    def hold(self, value: Any) -> Any:
        """Send a value to the workers."""
        (held,) = self._client.scatter([value], hash=False)  # a list, as elements of other values would be sent apart
        return held

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Hand in a task."""
        return self._client.submit(function, *arguments, pure=False)

    def result(self, held: Any) -> Any:
        """Wait for a value, and fetch it."""
        return held.result()


@contextmanager
def client_of(jobs: int | None) -> Iterator[Any]:
    """Open a dask cluster of so many processes of this machine, and close it in the end.

    Parameters
    ----------
    jobs : int or None
        How many processes; None and 1 give no cluster.

    Yields
    ------
    distributed.Client or None

    Raises
    ------
    ModuleNotFoundError
        dask is not installed.
    ValueError
        Less than one process.
    """
    count = 1 if jobs is None else integer(jobs, "jobs", 1, 1024)
    if count == 1:
        yield None
        return
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError as why:
        raise ModuleNotFoundError(f"jobs: needs the package {why.name}: pip install 'qops[dask]'") from why
    with distributed.Client(n_workers=count, threads_per_worker=1, dashboard_address=None) as client:
        yield client

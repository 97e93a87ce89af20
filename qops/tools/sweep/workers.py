"""Pieces of work on any executor; if a function opens it, the pieces of a worker that died are done again."""

import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, as_completed
from contextlib import suppress
from typing import Any, TypeVar

from qops._kernels.arrays.refusal import bad_type
from qops.checks import shown

__all__ = ["Open", "check_sent", "run"]

P = TypeVar("P")
T = TypeVar("T")
Open = Callable[[], Executor]
_DIED = (BrokenExecutor, CancelledError)
_PATIENCE = 3  # executors in a row that may break before any piece is finished


def run(
    work: Callable[[P], T], pieces: Sequence[P], executor: Executor | Open | None, tell: Callable[[int], None]
) -> list[T]:
    """Do all pieces, here if there is no executor, and give the results in the order of the pieces.

    Parameters
    ----------
    work : callable
        Takes a piece and gives its result. An error of it is raised at once, and what has not begun is dropped.
    pieces : sequence
        What is to be done.
    executor : Executor, or a function that opens one, or None
        Where a worker of an executor that was opened here dies, the pieces that are missing go to a new one.
    tell : callable
        Hears after each piece how many are done.

    Returns
    -------
    list

    Raises
    ------
    RuntimeError
        The executor broke, or three in a row did before any piece was finished.
    TypeError
        The function opens no executor.
    """
    if executor is None:
        return list(_told(map(work, pieces), tell))
    done: dict[int, T] = {}
    if isinstance(executor, Executor):
        _fill(done, executor, work, pieces, tell)
        return _in_order(done)
    broken = 0
    while len(done) < len(pieces):
        before = len(done)
        made = executor()
        if not isinstance(made, Executor):
            raise bad_type(
                "executor", f"expected what opens a concurrent.futures.Executor, it opened {type(made).__name__}"
            )
        with suppress(*_DIED), made as opened:
            _fill(done, opened, work, pieces, tell)
        broken = 0 if len(done) > before else broken + 1
        if broken == _PATIENCE:
            left = len(pieces) - len(done)
            raise RuntimeError(f"executor: its workers died {_PATIENCE} times in a row; {left} pieces are left")
    return _in_order(done)


def _in_order(done: dict[int, T]) -> list[T]:
    return [done[i] for i in sorted(done)]


def _told(results: Iterable[T], tell: Callable[[int], None]) -> Iterable[T]:
    for count, result in enumerate(results, 1):
        tell(count)
        yield result


def _fill(
    done: dict[int, T],
    executor: Executor,
    work: Callable[[P], T],
    pieces: Sequence[P],
    tell: Callable[[int], None],
) -> None:
    """Do what is not done; what others finished is kept where a worker died."""
    futures: dict[Future[T], int] = {}
    died: BaseException | None = None
    try:
        for i, piece in enumerate(pieces):
            if i not in done:
                futures[executor.submit(work, piece)] = i
        for future in as_completed(futures):
            try:
                done[futures[future]] = future.result()
            except _DIED as why:
                died = why
                continue
            tell(len(done))
    finally:
        for future in futures:
            future.cancel()
    if died:
        raise died


def check_sent(function: Callable[..., Any], name: str) -> None:
    """Refuse a function that cannot be sent to other processes.

    Parameters
    ----------
    function : callable
        What they are to call.
    name : str
        The argument that it was.

    Raises
    ------
    TypeError
        A lambda, or a function inside of another one.
    """
    try:
        pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError):
        advice = "name it at the top of a module, or take a ThreadPoolExecutor"
        raise bad_type(
            name, f"{getattr(function, '__name__', shown(function))} cannot be sent to other processes: {advice}"
        ) from None

"""Threads for kernels that run without the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import lru_cache


@lru_cache
def _pool() -> ThreadPoolExecutor:
    """One for all: more threads than processors make nothing quicker, so parts wait for each other instead."""
    return ThreadPoolExecutor(os.cpu_count(), "qops")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has the pool, but not its threads


def run_parts(parts: Sequence[Callable[[], None]]) -> None:
    """Call every part, the first in this thread; raise what any of them raised, when none is running any more."""
    if len(parts) == 1:
        parts[0]()
        return
    others: list[Future[None]] = []
    try:
        for part in parts[1:]:
            others.append(Future())
            try:
                _pool().submit(_call, part, others[-1])
            except RuntimeError:  # no thread can be started, or Python is about to exit
                _pool.cache_clear()  # that pool has taken the part, and would hold it until a thread comes
                if others[-1].cancel():  # else one has begun it
                    others.pop()
                    part()
        parts[0]()
        for other in others:
            other.result()
    finally:  # also if this thread was interrupted: parts that went on would write to memory of the caller
        wait([other for other in others if not other.cancel()])


def _call(part: Callable[[], None], done: Future[None]) -> None:
    """Call a part, unless it was cancelled."""
    if done.set_running_or_notify_cancel():
        try:
            part()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)

"""Threads for kernels that run without the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
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
    others = []
    try:
        for part in parts[1:]:
            try:
                others.append(_pool().submit(part))
            except RuntimeError:  # Python is about to exit and starts no more threads
                part()
        parts[0]()
        for other in others:
            other.result()
    finally:  # also if this thread was interrupted: parts that went on would write to memory of the caller
        for other in others:
            other.cancel()
        wait(others)

"""Threads for kernels that run without the GIL."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache


@lru_cache
def _pool(num_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(num_threads, "qops")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has the pool, but not its threads


def run_parts(parts: Sequence[Callable[[], None]]) -> None:
    """Call every part, each in its own thread if there are more than one; raise what any of them raised."""
    if len(parts) == 1:
        parts[0]()
    else:
        list(_pool(len(parts)).map(lambda part: part(), parts))

"""The ceiling of everything that reads and writes memory: libc's memmove."""

import ctypes

import numpy as np

from benchmarks.case import Candidate, Rate, blank


def memcpy(moved: int) -> Candidate:
    """Copy so much that `moved` bytes are read and written together."""
    n = max(1, moved // 2)
    source, target = blank(n, np.uint8), blank(n, np.uint8)
    source[:] = np.arange(n) % 251
    to, start, size = ctypes.c_void_p(target.ctypes.data), ctypes.c_void_p(source.ctypes.data), ctypes.c_size_t(n)
    move = ctypes.memmove
    return Candidate(lambda: move(to, start, size), lambda: target - source, 0)


BYTES = Rate("gb_per_s", "share_of_memcpy", 1e9, "GB/s", memcpy)

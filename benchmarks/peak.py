"""The ceiling of all products of 8-bit integers: the multiplying instruction alone, run again and again."""

import ctypes
import os
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.case import Candidate, Rate

AT_LEAST = 200_000_000
"""Operations a call, so that the call itself costs nothing: a matrix unit does them in 40 microseconds."""


@cache
def library() -> ctypes.CDLL:
    """Compile peak.c, which lies beside this file, and load it."""
    with TemporaryDirectory() as folder:
        target = Path(folder) / "peak.so"
        compiler = os.environ.get("CC", "cc").split()
        source = Path(__file__).with_suffix(".c")
        subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", str(target), str(source)], check=True)
        found = ctypes.CDLL(str(target))
    found.peak_name.restype = ctypes.c_char_p
    found.peak_operations.restype = ctypes.c_int64
    found.peak_run.argtypes = (ctypes.c_int, ctypes.c_int64)
    return found


def name(saturating: bool = False) -> str:
    """Name the instruction."""
    return library().peak_name(saturating).decode()


def peak(operations: int, saturating: bool = False) -> Candidate:
    """Give a candidate that does so many operations, two for each multiplication, or a multiple of them."""
    times = -(-AT_LEAST // max(1, operations))
    turns = max(1, round(operations * times / library().peak_operations(saturating)))
    run = library().peak_run
    return Candidate(lambda: run(saturating, turns), lambda: np.zeros(1), 0, times)


EXACT = Rate("gops", "share_of_peak", 1e9, "GOP/s", peak)
SATURATING = Rate("gops", "share_of_peak", 1e9, "GOP/s", lambda operations: peak(operations, saturating=True))

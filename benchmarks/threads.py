"""How much element-wise work two threads do in the time of one: ``python -m benchmarks.threads``.

Each thread has arrays of its own and calls the op again and again. Samples of one and of two threads take turns, all
ops in every round, and the shortest of each counts, because other work of the machine can only make them longer. What
the machine has to give shows the copy of as many bytes by libc. Every result is checked, before and after.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Barrier
from time import perf_counter_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray

import qops
from benchmarks.__main__ import count
from benchmarks.case import Candidate, Case, WrongResult, check, shared
from benchmarks.cases import CASES
from benchmarks.measure import SEED, placed
from benchmarks.memcpy import BYTES, memcpy
from benchmarks.timing import sample

ALL = {case.name: case for case in CASES if case.rate is BYTES}
USUAL = ("quantized_add_8p8to8", "quantized_add_8p8to32", "quantized_mul_8x8to8", "quantize", "dequantize",
         "requantize_32to8", "multiply_shift")  # fmt: skip
SAMPLE_NS = 5_000_000
"""Of one thread: far above the microseconds in which two threads start together."""


@dataclass(frozen=True)
class Work:
    """What two threads do, each in arrays of its own, and what both must give; a sample is so many `calls`."""

    name: str
    both: tuple[Candidate, Candidate]
    reference: NDArray[Any]
    calls: int


def work(name: str, make: Callable[[], Candidate], reference: NDArray[Any]) -> Work:
    """Make the candidates, and check them."""
    both = make(), make()
    for candidate in both:
        check(name, candidate, reference)
    return Work(name, both, reference, max(1, int(SAMPLE_NS / sample(both[0].run, 3))))


def work_of(case: Case, n: int) -> Work:
    """Make two candidates of an op that share no array."""

    def own() -> Candidate:
        shared(1, np.uint8)  # the buffer of the last candidate is then no longer the one that is shared
        return case.qops(**{name: placed(x) for name, x in inputs.items()})

    inputs = case.inputs(np.random.default_rng(SEED), n)
    return work(case.name, own, case.reference(**inputs))


def together(pool: ThreadPoolExecutor, candidates: Sequence[Candidate], calls: int) -> int:
    """Nanoseconds from the first start to the last end, a thread each, after some calls that fill its CPU's caches."""
    start = Barrier(len(candidates))

    def call(candidate: Candidate) -> tuple[int, int]:
        run = candidate.run
        for _ in range(2 + calls // 10):
            run()
        start.wait()
        begun = perf_counter_ns()
        for _ in range(calls):
            run()
        return begun, perf_counter_ns()

    begun, ended = zip(*pool.map(call, candidates), strict=True)
    return max(ended) - min(begun)


def gains(works: Sequence[Work], rounds: int) -> list[tuple[float, float]]:
    """Microseconds of one call in one thread, and the work of two threads in that time, of each."""
    with ThreadPoolExecutor(2) as pool:
        samples = [[[together(pool, w.both[:k], w.calls) for k in (1, 2)] for w in works] for _ in range(rounds)]
    for w in works:
        for candidate in w.both:
            if np.abs(np.subtract(candidate.result(), w.reference, dtype=float)).max() > candidate.within:
                raise WrongResult(f"{w.name}: two threads give another result than one")
    shortest = np.min(samples, axis=0)
    return [(one / w.calls / 1000, 2 * one / two) for w, (one, two) in zip(works, shortest, strict=True)]


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each op."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    p.add_argument("--ops", nargs="+", choices=ALL, default=USUAL, metavar="OP", help="ops to time, such as quantize")
    p.add_argument("--size", type=count, default=1_000_000, metavar="N", help="elements; default: 1e6")
    p.add_argument("--rounds", type=int, default=100, help="samples of each op; default: %(default)s")
    args = p.parse_args(words)
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, GIL {'on' if lock else 'off'}, tier {qops.isa_tier()}, n = {args.size}")
    moved = {name: ALL[name].work(args.size) for name in args.ops}
    copies = {n: work(f"copy of {n}", lambda n=n: memcpy(n), np.zeros(max(1, n // 2))) for n in {*moved.values()}}
    found = gains([*(work_of(ALL[name], args.size) for name in args.ops), *copies.values()], args.rounds)
    copied = dict(zip(copies, found[len(args.ops) :], strict=True))
    print(f"{'':<24}{'one thread':>14}{'work of two':>14}{'copy in one':>14}{'in two':>9}")
    for name, (us, times) in zip(args.ops, found, strict=False):
        copy_us, copy_times = copied[moved[name]]
        print(f"{name:<24}{us:11.3f} us{times:14.2f}{copy_us:11.3f} us{copy_times:9.2f}")


if __name__ == "__main__":
    main()

"""How much element-wise work two threads do in the time of one: ``python -m benchmarks.threads``.

Each thread has arrays of its own and calls the op again and again. Samples of one and of two threads take turns, and
the shortest of each counts, because other work of the machine can only make them longer. Every result is checked,
before and after.
"""

import argparse
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import perf_counter_ns

import numpy as np

import qops
from benchmarks.__main__ import size
from benchmarks.case import Candidate, Case, WrongResult, check, shared
from benchmarks.cases import CASES
from benchmarks.measure import SEED, placed
from benchmarks.memcpy import BYTES
from benchmarks.timing import sample

ALL = {case.name: case for case in CASES if case.rate is BYTES}
USUAL = ("quantized_add_8p8to8", "quantized_add_8p8to32", "quantized_mul_8x8to8", "quantize", "dequantize",
         "requantize_32to8", "multiply_shift")  # fmt: skip
SAMPLE_NS = 5_000_000
"""Of one thread: far above the microseconds in which two threads start together."""


def own(case: Case, n: int) -> Candidate:
    """Make a candidate whose arrays no other one has, and check it."""
    shared(1, np.uint8)  # the buffer of the last candidate is then no longer the one that is shared
    inputs = {name: placed(x) for name, x in case.inputs(np.random.default_rng(SEED), n).items()}
    candidate = case.qops(**inputs)
    check(case.name, candidate, case.reference(**inputs))
    return candidate


def together(pool: ThreadPoolExecutor, candidates: Sequence[Candidate], calls: int) -> int:
    """Nanoseconds from the first start to the last end, a thread each."""
    start = Barrier(len(candidates))

    def work(candidate: Candidate) -> tuple[int, int]:
        run = candidate.run
        start.wait()
        begun = perf_counter_ns()
        for _ in range(calls):
            run()
        return begun, perf_counter_ns()

    begun, ended = zip(*pool.map(work, candidates), strict=True)
    return max(ended) - min(begun)


def gain(case: Case, n: int, rounds: int) -> tuple[float, float]:
    """Microseconds of one call in one thread, and the work of two threads in that time."""
    both = own(case, n), own(case, n)
    calls = max(1, int(SAMPLE_NS / sample(both[0].run, 3)))
    with ThreadPoolExecutor(2) as pool:
        pairs = [(together(pool, both[:1], calls), together(pool, both, calls)) for _ in range(rounds)]
    inputs = case.inputs(np.random.default_rng(SEED), n)
    for candidate in both:
        if np.abs(np.subtract(candidate.result(), case.reference(**inputs), dtype=float)).max() > candidate.within:
            raise WrongResult(f"{case.name}: two threads give another result than one")
    one, two = map(min, zip(*pairs, strict=True))
    return one / calls / 1000, 2 * one / two


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each op."""
    p = argparse.ArgumentParser(prog="python -m benchmarks.threads", description=__doc__)
    p.add_argument("--ops", nargs="+", choices=ALL, default=USUAL, metavar="OP", help="ops to time, such as quantize")
    p.add_argument("--size", type=size, default=1_000_000, metavar="N", help="elements; default: 1e6")
    p.add_argument("--rounds", type=int, default=100, help="samples of each op; default: %(default)s")
    args = p.parse_args(words)
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {sys.version.split()[0]}, GIL {'on' if lock else 'off'}, tier {qops.isa_tier()}, n = {args.size}")
    for name in args.ops:
        us, times = gain(ALL[name], args.size, args.rounds)
        print(f"{name:<24}{us:11.3f} us in one thread, {times:5.2f} times the work in two", flush=True)


if __name__ == "__main__":
    main()

"""Medians and quartiles of interleaved samples, on one CPU."""

import os
from collections.abc import Callable, Mapping
from random import Random
from statistics import quantiles
from time import perf_counter_ns
from typing import NamedTuple

SAMPLE_NS = 200_000
"""A sample is as many calls as take about this long: far above the clock's step, far below the machine's moods."""


class Time(NamedTuple):
    """Microseconds of a call: the median of its samples, and the quartiles below and above it."""

    median: float
    low: float
    high: float


def pin(cpu: int | None = None) -> int | None:
    """Keep this process on one CPU, by default the last it may use; None where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    chosen = max(os.sched_getaffinity(0)) if cpu is None else cpu
    os.sched_setaffinity(0, {chosen})
    return chosen


def sample(run: Callable[[], object], calls: int) -> float:
    """Nanoseconds a call, after as many untimed calls, which bring the candidate's own data back into the caches."""
    repeat = range(calls)
    for _ in range(max(2, calls)):
        run()
    start = perf_counter_ns()
    for _ in repeat:
        run()
    return (perf_counter_ns() - start) / calls


def calls_per_sample(run: Callable[[], object]) -> int:
    """Count how many calls take about SAMPLE_NS."""
    once = min(sample(run, 1) for _ in range(3))
    return max(1, int(SAMPLE_NS / max(once, 1)))


def microseconds(runs: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Time]:
    """Time a call of each: every round takes one sample of each, in an order of its own.

    The order changes, because each candidate finds the caches, above all the last one, as the one before left them.
    """
    calls = {name: calls_per_sample(run) for name, run in runs.items()}
    samples: dict[str, list[float]] = {name: [] for name in runs}
    shuffled = Random(0)
    for _ in range(rounds):
        for name in shuffled.sample(list(runs), len(runs)):
            samples[name].append(sample(runs[name], calls[name]))
    return {name: time_of(found) for name, found in samples.items()}


def time_of(samples: list[float]) -> Time:
    """Sum up samples in nanoseconds."""
    low, middle, high = quantiles(samples, method="inclusive") if len(samples) > 1 else samples * 3
    return Time(middle / 1000, low / 1000, high / 1000)

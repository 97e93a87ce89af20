"""Every kernel on every tier of SIMD lanes that this CPU has, against its plain loop, to the bit."""

import time

import numpy as np
import pytest
from tier_cases import NAMED, RANGES

from qops._kernels.core import tiers as isa

LENGTHS = [*range(201), *range(4096, 4096 + 66), *range(4177, 4340, 3)]  # the latter where other bodies start, and end
BIG = (70_001, 2 * 2**20 + 77, 8 * 2**20 + 33)  # outputs on both sides of 8 MiB
BEST = isa.name()
TIERS = isa.available()[1:] or isa.available()  # on a CPU without lanes: that the plain loop repeats itself


def results(tier, call):
    """What the call gives on a tier, its arrays copied as bytes."""
    isa.use(tier)
    try:
        parts = call()
    finally:
        isa.use(BEST)
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in parts]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", NAMED)
def test_every_length_and_alignment_gives_the_bits_of_the_plain_loop(name, tier):
    for n in LENGTHS:
        rng = np.random.default_rng([n, len(name)])
        for _ in range(3):
            call = NAMED[name](rng, n)
            assert results(tier, call) == results("plain", call), f"{n} elements"


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", NAMED)
def test_big_arrays_give_the_bits_of_the_plain_loop(name, tier):
    rng = np.random.default_rng(len(name))
    for n in BIG:
        call = NAMED[name](rng, n)
        assert results(tier, call) == results("plain", call), f"{n} elements"


@pytest.mark.parametrize("name", NAMED)
def test_nothing_beyond_the_output_is_written(name):
    for n in LENGTHS:
        rng = np.random.default_rng([n, 1])
        call = NAMED[name](rng, n)
        for tier in isa.available():
            results(tier, call)
            for part in (part for part in call() if isinstance(part, np.ndarray)):
                start = (part.ctypes.data - part.base.ctypes.data) // part.itemsize
                assert not part.base[:start].any()
                assert not part.base[start + n :].any()


def seconds(tier, call):
    """The least time of five calls on a tier."""
    isa.use(tier)
    try:
        starts = [(time.thread_time(), call(), time.thread_time()) for _ in range(5)]
    finally:
        isa.use(BEST)
    return min(end - start for start, _, end in starts)


@pytest.mark.parametrize("name", [name for name in NAMED if name.startswith(("nnlib", "tensorflow"))])
def test_the_lanes_run(name):
    """A wrong condition that leaves all to the plain loop changes no bit, but these are 5 to 30 times as fast."""
    calls = [NAMED[name](np.random.default_rng(seed), 100_000) for seed in range(4)]
    gains = [seconds("plain", call) / seconds(BEST, call) for call in calls]
    assert max(gains) > 1.7 or BEST == "plain", gains


@pytest.mark.parametrize("name", [name for name, case in NAMED.items() if case not in RANGES])
def test_the_cases_tell_results_apart(name):
    """A case whose results are all alike would prove nothing."""
    rng = np.random.default_rng(5)
    assert max(len(np.unique(NAMED[name](rng, 500)()[0])) for _ in range(8)) > 20

"""Every kernel on every tier of SIMD lanes that this CPU has, against its plain loop, to the bit.

On a CPU without lanes the plain loop is compared with itself: QOPS_EXPECT=avx512 (or another tier) fails there.
"""

import os

import numpy as np
import pytest
import tier_cases
import tier_cases_codes
import tier_cases_nnlib
import tier_cases_product
import tier_cases_rules
import tier_cases_uniform
from tier_cases import RANGES

from qops._kernels.machine import tiers as isa

NAMED = (
    tier_cases.NAMED
    | tier_cases_codes.NAMED
    | tier_cases_nnlib.NAMED
    | tier_cases_product.NAMED
    | tier_cases_rules.NAMED
    | tier_cases_uniform.NAMED
)
LENGTHS = [*range(201), *range(4096, 4096 + 66), *range(4177, 4340, 3)]  # the latter where other bodies start, and end
BIG = 70_001  # some blocks of every loop that works in blocks, and enough elements to release the GIL
DRAWS = int(os.environ.get("QOPS_DRAWS", "3"))
BEST = isa.name()
LOOPS_ON_AVX2 = ["shifted_half_even", "nnlib_scaled"]
READ_ONLY = [name for name, case in NAMED.items() if case in RANGES]
IN_PLACE = [name for name in NAMED if name.startswith("step_")]
WHOLE_CALLS = [  # refuse an `out` within an input, or read many elements before they write on any tier
    "quantized",
    "dequantized",
    "requantized",
    "requantized_at_steps",
    "tensorflow_requantized",
    "uniform added",
    "uniform requantized int8",
    "uniform requantized int32",
    "looked_up",
    "nnlib_recoded_into_a_hull",
    *(name for name in NAMED if name.startswith("pair ")),
]
WRITING = sorted({*NAMED} - {*READ_ONLY, *IN_PLACE, *WHOLE_CALLS})
ONLY_PRODUCTS = ("avxvnni", "amx")  # which are in tests/product
TIERS = [name for name in isa.available()[1:] if name not in ONLY_PRODUCTS] or ["plain"]


def parts_of(tier, call):
    """What the call gives on a tier."""
    isa.use(tier)
    try:
        return [*call()]
    finally:
        isa.use(BEST)


def arrays_in(parts):
    return [part for part in parts if isinstance(part, np.ndarray)]


def as_bytes(parts):
    """The parts; arrays with all that lies around them in their buffers."""
    return [buffer_of(part).tobytes() if isinstance(part, np.ndarray) else part for part in parts]


def buffer_of(array):
    return array if array.base is None else array.base


def results(tier, call):
    """What the call gives on a tier, its arrays as bytes, with all that lies around them in their buffers."""
    return as_bytes(parts_of(tier, call))


def written_beyond(output, n):
    """Whether the memory around an output of n elements, which was all zeros, has changed."""
    memory, start = output.base.tobytes(), output.ctypes.data - output.base.ctypes.data
    around = memory[:start] + memory[start + n * output.itemsize :]
    return around.count(0) != len(around)


def test_the_tier_that_is_expected_is_there():
    assert os.environ.get("QOPS_EXPECT", "plain") in isa.available()


@pytest.fixture
def overlapping(monkeypatch):
    """Give a function that makes a case whose output begins so many bytes behind an input, in one random memory."""
    buffer = np.zeros((1 << 14) + 64, np.uint8)
    memory = buffer[-buffer.ctypes.data % 64 :][: 1 << 14]  # the output is aligned: no vector is done twice

    def lying(at):
        return lambda rng, n, dtype, **_: memory[at:][: n * np.dtype(dtype).itemsize].view(dtype)

    def made(name, seed, ahead):
        monkeypatch.setattr(tier_cases, "unaligned", lying(1024))
        monkeypatch.setattr(tier_cases, "drawn", lying(1024 - ahead))
        rng = np.random.default_rng(seed)
        memory[:] = rng.integers(0, 256, memory.size, np.uint8)
        return NAMED[name](rng, 500)

    return made


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", WRITING)
def test_lanes_do_the_work(name, tier, overlapping):
    """A loop that writes into what it reads later tells how it goes through the elements.

    The plain loop reads each element when the one before is written; lanes read many, and write then. So results differ
    for some memory, if lanes ran. Public ops refuse such an `out`. (A counter of calls would tell it too, but kernels
    have no state, and a build that counts would not be the one that users get.)
    """
    tried = [(seed, ahead) for seed in range(32) for ahead in (4, 8, 20, 512, 1000)]
    lanes_ran = any(
        results(tier, overlapping(name, *memory)) != results("plain", overlapping(name, *memory)) for memory in tried
    )
    has_lanes = tier != "plain" and not (tier == "avx2" and name in LOOPS_ON_AVX2)
    assert lanes_ran == has_lanes


@pytest.mark.long
@pytest.mark.parametrize("name", NAMED)
def test_every_length_and_alignment_gives_the_bits_of_the_plain_loop_and_nothing_beyond(name):
    for n in LENGTHS:
        rng = np.random.default_rng([n, len(name)])
        for _ in range(DRAWS):
            call = NAMED[name](rng, n)
            parts = parts_of("plain", call)
            assert not any(written_beyond(part, n) for part in arrays_in(parts)), f"{n} elements"
            plain = as_bytes(parts)
            for tier in TIERS:
                assert results(tier, call) == plain, f"{n} elements, {tier}"


@pytest.mark.parametrize("name", NAMED)
def test_big_arrays_give_the_bits_of_the_plain_loop(name):
    call = NAMED[name](np.random.default_rng(len(name)), BIG)
    plain = results("plain", call)
    assert [tier for tier in TIERS if results(tier, call) != plain] == []


@pytest.mark.parametrize("name", [name for name, case in NAMED.items() if case not in RANGES])
def test_the_cases_tell_results_apart(name):
    """A case whose results are all alike would prove nothing."""
    rng = np.random.default_rng(5)
    assert any(len(np.unique(next(iter(NAMED[name](rng, 500)())))) > 20 for _ in range(32))

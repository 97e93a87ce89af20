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
BIG = (70_001, 2 * 2**20 + 77, 8 * 2**20 + 33)  # outputs on both sides of 8 MiB
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


def results(tier, call, n=None):
    """What the call gives on a tier, its arrays as bytes; around an output of n elements all must still be 0."""
    isa.use(tier)
    try:
        parts = call()
    finally:
        isa.use(BEST)
    if n is not None:
        outputs = [part for part in parts if isinstance(part, np.ndarray)]
        assert not any(written_beyond(output, n) for output in outputs), f"{n} elements, {tier}"
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in parts]


def written_beyond(output, n):
    """Whether the memory around an output of n elements, which was all zeros, has changed."""
    at = (output.ctypes.data - output.base.ctypes.data) // output.itemsize
    return output.base[:at].any() or output.base[at + n :].any()


def test_the_tier_that_is_expected_is_there():
    assert os.environ.get("QOPS_EXPECT", "plain") in isa.available()


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("name", WRITING)
def test_lanes_do_the_work(name, tier, rng, monkeypatch):
    """An output that begins within an input, a little behind its start: a loop reads what it has written just before.

    Lanes read many elements before they write, so what comes out differs. Public ops refuse such an `out`.
    """
    buffer = np.zeros((1 << 14) + 64, np.uint8)
    memory = buffer[-buffer.ctypes.data % 64 :]  # the output is aligned: no vector is done twice

    def lying(at):
        return lambda rng, n, dtype, **_: memory[at:][: n * np.dtype(dtype).itemsize].view(dtype)

    differing = 0
    for seed in range(8):
        for ahead in (4, 8, 20, 512, 1000):
            monkeypatch.setattr(tier_cases, "unaligned", lying(1024))
            monkeypatch.setattr(tier_cases, "drawn", lying(1024 - ahead))
            memory[:] = rng.integers(0, 256, memory.size, np.uint8)
            call, before = NAMED[name](np.random.default_rng(seed), 500), memory.copy()
            plain = results("plain", call)
            memory[:] = before
            differing += results(tier, call) != plain
    without = tier == "plain" or (tier == "avx2" and name in LOOPS_ON_AVX2)
    assert bool(differing) != without


@pytest.mark.parametrize("name", NAMED)
def test_every_length_and_alignment_gives_the_bits_of_the_plain_loop_and_nothing_beyond(name):
    for n in LENGTHS:
        rng = np.random.default_rng([n, len(name)])
        for _ in range(DRAWS):
            call = NAMED[name](rng, n)
            plain = results("plain", call, n)
            for tier in TIERS:
                assert results(tier, call, n) == plain, f"{n} elements, {tier}"


@pytest.mark.parametrize("name", NAMED)
def test_big_arrays_give_the_bits_of_the_plain_loop(name):
    rng = np.random.default_rng(len(name))
    for n in BIG:
        call = NAMED[name](rng, n)
        plain = results("plain", call)
        assert [tier for tier in TIERS if results(tier, call) != plain] == [], f"{n} elements"


@pytest.mark.parametrize("name", [name for name, case in NAMED.items() if case not in RANGES])
def test_the_cases_tell_results_apart(name):
    """A case whose results are all alike would prove nothing."""
    rng = np.random.default_rng(5)
    assert max(len(np.unique(next(iter(NAMED[name](rng, 500)())))) for _ in range(8)) > 20

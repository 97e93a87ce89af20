"""Every kernel on every tier of SIMD lanes that this CPU has, against its plain loop, to the bit.

On a CPU without lanes the plain loop is compared with itself: QOPS_EXPECT=avx512 (or another tier) fails there.
"""

import os
import sys
from functools import partial
from pathlib import Path

import numpy as np
import ops
import pytest
import tier_cases
import tier_cases_codes
import tier_cases_nnlib
import tier_cases_product
import tier_cases_rules
import tier_cases_uniform
from bodies import CAN_COUNT, bodies, counted
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
LOOPS_ON_AVX2 = ["shifted_half_even", "nnlib_scaled"]  # AVX2 has no bodies for these
LANES = {"avx2": "avx2", "avxvnni": "avx2", "avx512": "avx512", "vnni": "avx512", "amx": "avx512", "vbmi": "avx512"}
LANES |= dict.fromkeys(["neon", "dotprod", "i8mm"], "neon")
"""The tier of lanes in which each tier goes through elements."""
HAS_VBMI = sys.platform == "linux" and "avx512vbmi" in Path("/proc/cpuinfo").read_text()


def bodies_of(tier):
    """What tells tiers apart that run other bodies: their lanes, and whether they look bytes up by VBMI.

    Tiers of the same bodies differ in products only.
    """
    return LANES.get(tier), HAS_VBMI and tier in ("vnni", "amx")


TIERS = [*{bodies_of(name): name for name in isa.available()[1:]}.values()] or ["plain"]
needs_counts = pytest.mark.skipif(not CAN_COUNT, reason="breakpoints are set as on Linux on x86-64")


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


def written_beyond(output):
    """Whether the memory around an output, which was all zeros, has changed."""
    return np.count_nonzero(output.base.view(np.uint8)) != np.count_nonzero(output.view(np.uint8))


def test_the_tier_that_is_expected_is_there():
    assert os.environ.get("QOPS_EXPECT", "plain") in isa.available()


@pytest.fixture(scope="module")
def done():
    """The bodies that run in each case, of 500 elements, on each tier, and how many elements they do."""
    calls = [partial(four_calls, name) for name in NAMED]
    found = {tier: counted_on(tier, calls) for tier in isa.available()}
    return {(name, tier): bodies for tier in found for name, bodies in zip(NAMED, found[tier], strict=True)}


def four_calls(name):
    for word in "abcd":
        NAMED[name](tier_cases.Source(word), 500)()


def counted_on(tier, calls):
    return [dict(bodies) for bodies in parts_of(tier, lambda: counted(calls))]


def good_calls():
    for name in ops.OPS:
        ops.call(name)


@needs_counts
@pytest.mark.parametrize("name", NAMED)
def test_lanes_do_the_work(name, done):
    for tier in isa.available():
        has_lanes = tier != "plain" and not (LANES[tier] == "avx2" and name in LOOPS_ON_AVX2)
        bodies = done[name, tier]
        assert {LANES[body.tier] for body in bodies} == ({LANES[tier]} if has_lanes else set()), tier
        assert any(elements > 0 for elements in bodies.values()) == has_lanes, tier
        assert {*bodies} == {*done[name, alike(tier)]}, f"{tier} runs other bodies than the tier that stands for it"


def alike(tier):
    """The tier of the same bodies on which every length is tried."""
    return next((name for name in TIERS if bodies_of(name) == bodies_of(tier)), tier)


@needs_counts
def test_every_body_runs(done):
    """Each body of this CPU runs in a case, in the good call of an op, or in a product, which other tests compare."""
    ran = {body for bodies in done.values() for body in bodies}
    for tier in isa.available():
        ran.update(*counted_on(tier, [good_calls, lambda: list(tier_cases_product.tiles())]))
    tiers = {*isa.available(), *(["vbmi"] if HAS_VBMI else [])}
    assert sorted({body.name for body in {*bodies().values()} - ran if body.tier in tiers}) == []


def test_tiles_give_the_bits_of_the_plain_loop():
    plain = results("plain", tier_cases_product.tiles)
    assert [tier for tier in isa.available() if results(tier, tier_cases_product.tiles) != plain] == []


@pytest.mark.long
@pytest.mark.parametrize("name", NAMED)
def test_every_length_and_alignment_gives_the_bits_of_the_plain_loop_and_nothing_beyond(name):
    rng = tier_cases.Source(name)
    for n in LENGTHS:
        for _ in range(DRAWS):
            call = NAMED[name](rng, n)
            parts = parts_of("plain", call)
            assert not any(written_beyond(part) for part in arrays_in(parts)), f"{n} elements"
            plain = as_bytes(parts)
            for tier in TIERS:
                assert results(tier, call) == plain, f"{n} elements, {tier}"


@pytest.mark.parametrize("name", NAMED)
def test_big_arrays_give_the_bits_of_the_plain_loop(name):
    call = NAMED[name](tier_cases.Source(name), BIG)
    plain = results("plain", call)
    assert [tier for tier in isa.available() if results(tier, call) != plain] == []


@pytest.mark.parametrize("name", [name for name, case in NAMED.items() if case not in RANGES])
def test_the_cases_tell_results_apart(name):
    """A case whose results are all alike would prove nothing."""
    rng = tier_cases.Source("any")
    assert any(len(np.unique(next(iter(NAMED[name](rng, 500)())))) > 20 for _ in range(32))

"""Machines: the dot products of their lanes against sequences of instructions and Python integers."""

import numpy as np
import pytest

from qops import codes, isa
from qops.isa import machines


def drawn(rng, name, shape):
    """Codes of a type, a third of them at its ends."""
    row = codes.TABLE[name]
    any_code = rng.integers(row.lowest, row.highest + 1, shape)
    return np.where(rng.random(shape) < 0.3, rng.choice([row.lowest, row.highest], shape), any_code).astype(row.dtype)


SEQUENCES = {
    "avx2": (isa.dot4_maddubs, 4),
    "psign": (isa.dot4_psign, 4),
    "vnni": (isa.vpdpbusd, 4),
    "hvx": (isa.vpdpbusd, 4),
    "amx": (isa.vpdpbusd, 4),
    "vnni_sat": (isa.vpdpbusds, 4),
    "neon": (isa.dot16_smlal, 16),
    "dotprod": (isa.sdot, 4),
    "i8mm": (isa.sdot, 4),
    "dotprod_u8": (isa.udot, 4),
    "s32": (isa.sdot, 4),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_dot_products_are_those_of_the_instructions(name, rng):
    """The sequence starts at 0 in each lane of 32 bits; the sum of its lanes wraps."""
    run, block = SEQUENCES[name]
    machine = machines.machine(name)
    a, b = (drawn(rng, kind, (300, 2 * block)) for kind in (machine.left, machine.right))
    lanes = run(np.zeros((300, 2 * (4 if block == 16 else 1)), np.int32), a, b)
    want = lanes.sum(axis=-1, dtype=np.int64).astype(np.int32)
    np.testing.assert_array_equal(machine.dot(a, b), want)
    exact = (a.astype(np.int64) * b).sum(axis=-1)
    assert (want == exact).any()
    assert (want != exact).any() == (name in {"avx2", "psign", "neon"})


@pytest.mark.parametrize("name", ["s32_16x8", "s48_16x8"])
def test_long_sums_of_16_by_8_bits_wrap_at_the_bits_of_the_accumulator(name):
    machine = machines.machine(name)
    for length in (1, 512, 513, 2**18):
        a, b = np.full(length, -32768, np.int16), np.full(length, -128, np.int8)
        exact, half = length * 2**22, 1 << machine.acc_bits - 1
        assert int(machine.dot(a, b)) == (exact + half) % (2 * half) - half


def test_a_saturating_accumulator_saturates_at_each_addition():
    a, b = np.uint8([255] * 70000), np.int8([127] * 70000)
    b[-4:] = -128
    assert int(machines.machine("vnni_sat").dot(a, b)) == 2**31 - 1 - 4 * 255 * 128
    assert int(machines.machine("vnni").dot(a, b)) == (255 * 127 * 69996 - 4 * 255 * 128 + 2**31) % 2**32 - 2**31


@pytest.mark.parametrize("length", [1, 2, 7, 15, 16, 17])
def test_codes_that_are_left_over_share_lanes_with_zeros(length, rng):
    for name in ("avx2", "neon", "i8mm"):
        machine = machines.machine(name)
        a, b = (drawn(rng, kind, (40, length)) for kind in (machine.left, machine.right))
        more = [np.concatenate([x, np.zeros((40, 16), x.dtype)], axis=1)[:, :32] for x in (a, b)]
        np.testing.assert_array_equal(machine.dot(a, b), machine.dot(*more))


def test_no_codes_give_zero():
    for machine in isa.MACHINES.values():
        a, b = (np.empty((2, 0), codes.TABLE[kind].dtype) for kind in (machine.left, machine.right))
        assert machine.dot(a, b).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: machines.machine("AVX3"), ValueError, "machine: expected one of avx2, psign, .*got 'AVX3'"),
        (
            lambda: machines.machine("avx2").dot(np.int8([1]), np.int8([1])),
            TypeError,
            "a: expected uint8 data, got int8",
        ),
        (
            lambda: machines.machine("neon").dot(np.int8([1]), np.int8([1, 2])),
            ValueError,
            r"a, b: expected the same last",
        ),
        (
            lambda: machines.machine("neon").dot(np.int8(1), np.int8(1)),
            ValueError,
            r"a, b: expected the same last axis",
        ),
    ],
)
def test_rejects_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()

"""The checks that an installed qops brings along: what they run, what they say, and that they find what is wrong."""

import numpy as np
import ops
import pytest
import selftest_cases
from host_modes import IS_ARM, MODES, flushing, rounding

from qops.__main__ import main
from qops._kernels.machine import host, tiers
from qops.tools import selftest


@pytest.mark.long
def test_packaged_cases_are_golden_cases_of_every_op_and_small():
    packaged, wanted = np.load(selftest_cases.PACKAGED), selftest_cases.samples()
    assert sorted(packaged.files) == sorted(wanted)
    for name, values in wanted.items():
        np.testing.assert_array_equal(packaged[name], values)
    assert selftest_cases.PACKAGED.stat().st_size < 300_000
    assert all(f'"of": "{op}"' in str(wanted["cases"]) for op in selftest.CALLS)


def test_calls_beside_the_plain_loops_have_the_names_of_their_ops():
    assert selftest._calls(7).keys() <= ops.OPS.keys()


@pytest.mark.long
def test_selftest_says_for_every_tier_what_it_has_checked(capsys):
    before = tiers.name()
    assert main(["selftest"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "host: rounds floating point to nearest, keeps subnormal numbers"
    assert [line.split(":")[0] for line in lines] == [tier for tier in tiers.available() for _ in range(2)]
    assert all(int(line.split()[1]) == int(line.split()[3]) > 50 for line in lines)
    assert tiers.name() == before


def test_selftest_says_what_the_host_has_set(capsys, monkeypatch):
    monkeypatch.setattr(tiers, "available", tuple)  # nothing is run
    first = "host: rounds floating point to nearest, "
    with flushing():
        assert main(["selftest"]) == 0
    assert capsys.readouterr().out == f"{first}subnormal results and subnormal operands become 0\n"
    for mode in MODES:
        with rounding(mode):
            assert main(["selftest"]) == 1
        assert capsys.readouterr().out == f"host: rounds floating point {mode}, keeps subnormal numbers\n"


@pytest.mark.skipif(IS_ARM, reason="one bit for both there")
def test_subnormal_results_and_operands_are_told_apart():
    for name in ("results", "operands"):
        with flushing(results=name == "results", operands=name == "operands"):
            assert host.flushes() == (name,)


def test_a_wrong_golden_case_and_a_wrong_tier_are_named(capsys, monkeypatch):
    monkeypatch.setitem(selftest.CALLS, "rules/litert_add", lambda i, attrs: (np.zeros_like(i["a"]),))
    every, count = selftest._calls(7), iter(range(10**6))
    monkeypatch.setattr(selftest, "LENGTHS", [7])
    monkeypatch.setattr(selftest, "_calls", lambda n: every | {"dequantize": lambda: (next(count),)})
    assert main(["selftest"]) == 1
    said = capsys.readouterr().out
    assert "  wrong: rules/litert_add litert_add-s" in said
    assert said.count("  wrong: dequantize of 7") == len(tiers.available())


@pytest.mark.parametrize("other", [np.float32([1]), np.float64([1, 2]), np.float32([1, -0.0])])
def test_bits_types_and_shapes_are_compared(other):
    assert selftest._same(np.float32([1, 0]), np.float32([1, 0]))
    assert not selftest._same(np.float32([1, 0]), other)

"""Settings of hypothesis, random numbers of each test's own, a fixture of each SIMD tier, and a guard of the tier."""

import gc
import os
import shutil
import zlib

import numpy as np
import pytest
from hypothesis import settings

from qops._kernels.machine import tiers as isa

DRAWS = int(os.environ.get("QOPS_DRAWS", "3"))
# no clock decides a test, and every run draws the same examples
settings.register_profile("qops", deadline=None, max_examples=20 * DRAWS, derandomize=True)
settings.load_profile("qops")
settings.register_profile("quick", settings.get_profile("qops"), max_examples=10)


def pytest_report_header():
    """Say what reads hex files in the tests: a strict reader always, Icarus Verilog where it is installed."""
    beside = "and iverilog" if shutil.which("iverilog") else "alone, there is no iverilog"
    return f"hex files are read by tests/support/readmemh.py {beside}"


def pytest_addoption(parser):
    parser.addoption("--quick", action="store_true", help="few items of each test, fewer examples, no long ones")
    parser.addoption("--no-dots", action="store_true", help="print nothing of a test that passed")


def pytest_configure(config):
    if config.getoption("quick"):
        settings.load_profile("quick")


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc):
    """Keep for --quick the items of each test that stand evenly among them, the first and the last too.

    Pytest has no public name for what an item is made of. To make all 18,000 items takes a tenth of the run.
    """
    yield
    if metafunc.config.getoption("quick"):
        metafunc._calls[:] = few(metafunc._calls)


def pytest_collection_modifyitems(config, items):
    """Leave the long tests out of --quick."""
    if config.getoption("quick"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


def pytest_report_teststatus(report, config):
    """With --no-dots print nothing of a test that passed. The run of all parts shows no dots; each is a system call."""
    return ("passed", "", "") if config.getoption("no_dots") and report.passed and report.when == "call" else None


def few(items):
    """Two of the items, and one in a hundred."""
    count = min(len(items), 2 + len(items) // 100)
    return [items[i * (len(items) - 1) // max(count - 1, 1)] for i in range(count)]


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Keep what is collected out of the sight of the garbage collector, which would walk through it again and again."""
    gc.disable()
    yield
    gc.collect()
    gc.freeze()
    gc.enable()


TIER = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item):
    item.stash[TIER] = isa.name()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    """Fail if the test left another tier. A fixture that does so would take longer than many tests."""
    yield
    before, after = item.stash[TIER], isa.name()
    isa.use(before)
    assert after == before, f"the test left the tier {after} behind, not {before}"


@pytest.fixture
def rng(request):
    """Random numbers that depend on the test's name alone: the same in any order, alone or with all others."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(params=isa.available())
def tier(request):
    """The name of a tier of this CPU; a test runs once for each."""
    before = isa.name()
    isa.use(request.param)
    yield request.param
    isa.use(before)

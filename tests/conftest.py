"""Settings of hypothesis, each SIMD tier in turn, and a guard: no test may leave another tier behind."""

import pytest
from hypothesis import settings

from qops._kernels.core import tiers as isa

# no clock decides a test, and every run draws the same examples
settings.register_profile("qops", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("qops")


@pytest.fixture(autouse=True)
def _same_tier_afterwards():
    before = isa.name()
    yield
    after = isa.name()
    isa.use(before)
    assert after == before, f"the test left the tier {after} behind, not {before}"


@pytest.fixture(params=isa.available())
def tier(request):
    """Each tier of this CPU in turn, by its name."""
    before = isa.name()
    isa.use(request.param)
    yield request.param
    isa.use(before)

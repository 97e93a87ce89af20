"""requantize: the output range where an end of it, or both, come from the codes."""

import numpy as np
import pytest
from cases import reals, spans
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import qops
from qops.frontdoor.requantize import BOUND_REQUANTIZE

NARROWEST = 255 * 2.0**-125


def check(t, found):
    """The range holds what is found, and 0 on a code; it is hardly wider than it must be."""
    lo, hi = min(found[0], 0.0), max(found[1], 0.0)
    assert t.min <= lo
    assert hi <= t.max
    if t.min < t.max:
        step = (t.max - t.min) / 255
        place = -t.min / step
        assert abs(place - round(place)) <= 2**-15
        assert step <= max(hi - lo, NARROWEST) / 254 * (1 + 2**-20)


@given(top=reals(1e38).map(abs), codes=hnp.arrays(np.int32, st.integers(0, 90)), signed=st.booleans())
def test_a_range_that_is_not_given_holds_all_values_and_0_on_a_code(top, codes, signed):
    t = codes, -top, top
    check(qops.requantize(t, dtype=np.int8 if signed else np.uint8), qops.requantization_range(t))


@given(ends=spans(1e38), codes=hnp.arrays(np.int8, st.integers(1, 90)))
def test_a_range_that_is_not_given_for_8_bit_codes(ends, codes):
    t = codes, *ends
    check(qops.requantize(t), qops.requantization_range(t))


def test_0_is_exact_in_a_range_that_is_not_given():
    """Of int32 codes whose values go from -1 to 2.3, which would put 0 between two codes."""
    t = qops.requantize((np.int32([-(2**28), 0, 617401549]), -8.0, 8.0))
    assert t.dequantize()[1] == 0.0
    assert qops.error(t, [-1.0, 0.0, 2.3]).max <= BOUND_REQUANTIZE
    assert qops.requantize((np.int32([0, 0]), -8.0, 8.0)) == qops.QTensor(np.uint8([0, 0]), 0.0, 0.0)
    assert qops.requantize((np.int32([]), -8.0, 8.0)).max == 0.0


@given(given_end=st.floats(2.0**-100, 2.0**100, width=32), share=st.floats(0, 2), signed=st.booleans())
def test_one_end_is_kept_and_the_other_puts_0_on_a_code(given_end, share, signed):
    """Unless the given end is nearer to 0 than a step."""
    top = float(np.float32(given_end * share))
    t = (np.int32([-(2**30), 2**30]), -top, top)
    for sign in (1, -1):
        way = {"min" if sign > 0 else "max": -sign * given_end, "dtype": "int8" if signed else "uint8"}
        found = qops.requantize(t, **way)
        kept, free = (found.min, found.max) if sign > 0 else (-found.max, -found.min)
        assert kept == -given_end
        assert top / 2 <= free
        place = given_end * 255 / (given_end + free)
        if given_end * 255 / (given_end + top / 2) >= 1:
            assert abs(place - round(place)) <= 2**-15
            assert free <= top / 2 + given_end
        else:
            assert free == top / 2


def test_an_end_that_float32_does_not_hold_is_not_moved():
    top = float(np.finfo(np.float32).max)
    t = (np.uint8([0, 255]), -top, top)
    for ends in ((), (-top, None), (None, top)):
        found = qops.requantize(t, *ends)
        assert (found.min, found.max) == (-top, top)
        assert found.data.tolist() == [0, 255]


def test_an_end_from_the_codes_is_on_its_side_of_0():
    t = (np.int32([-(2**30), 2**30]), -8.0, 8.0)
    below, above = (np.int32([-(2**30), -1]), -1.0, 1.0), (np.int32([2**30, 1]), -1.0, 1.0)
    assert qops.requantize_32to8(t, min=-1.0).min == -1.0
    assert qops.requantize_32to8(t, max=4.0).min == pytest.approx(-4.0, abs=4 / 127)
    assert (qops.requantize(below, 0.0).min, qops.requantize(below, 0.0).max) == (0.0, 0.0)
    assert (qops.requantize(above, None, 0.0).min, qops.requantize(above, None, 0.0).max) == (0.0, 0.0)
    assert qops.requantize(above, 0.0).data.tolist() == [255, 0]
    with pytest.raises(ValueError, match=r"^min, max: min 5.0 > max 4.0; one of them comes from the data"):
        qops.requantize(t, min=5.0)


def test_a_range_that_is_given_is_kept():
    t = qops.requantize((np.int32([0, 1 << 30]), -8.0, 8.0), -0.3, 0.7)
    assert (t.min, t.max) == (np.float32(-0.3), np.float32(0.7))

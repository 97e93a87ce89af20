"""`qops.nnlib.quantize_int32` against its twin."""

import numpy as np
import pytest
import reference_nnlib_ops as twin
from hypothesis import given, settings
from hypothesis import strategies as st

from qops import nnlib

ends = st.floats(-(2.0**20), 2.0**20, width=32)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(r=st.tuples(ends, ends).map(sorted), x=st.lists(st.floats(width=32), max_size=20))
def test_matches_its_twin(r, x):
    limit = max(-r[0], r[1])
    if limit < 2.0**-90:
        with pytest.raises(ValueError, match=r"^min, max: "):
            nnlib.quantize_int32(np.zeros(1, np.float32), 0.0, 0.0)
        return
    x = np.float32([*x, *(limit * np.linspace(-1, 1, 9))])
    t = nnlib.quantize_int32(x, *r)
    codes, top = twin.quantize_int32(x, *r)
    assert t.data.tolist() == codes
    assert (t.min, t.max) == (-top, top)

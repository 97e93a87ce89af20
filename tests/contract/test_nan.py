"""What only the data can show, a NaN among them, raises as well. It changes no input, and leaves `out` undefined."""

import pickle
import re

import numpy as np
import pytest
from ops import OPS, OUTPUTS, arrays, call, first_array

REALS = [(n, key) for n in OPS for key in arrays(n) if getattr(OPS[n].good[key], "dtype", np.dtype(int)).kind == "f"]


def refusal(name, **changes):
    """Why a call is refused; "" if it is not."""
    try:
        call(name, **changes)
    except (TypeError, ValueError) as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("at", [0, -1])
@pytest.mark.parametrize(("name", "key"), REALS)
def test_a_nan_in_the_data_changes_no_input(name, key, at):
    """Whether it is refused or not, with `out` or without."""
    changes = {key: OPS[name].good[key].copy()}
    changes[key].flat[at] = np.nan
    before = pickle.dumps({**OPS[name].good, **changes})
    text = refusal(name, **changes)
    assert re.match(rf"({key}\b|$)", text), text
    if name in OUTPUTS:
        assert refusal(name, **changes, out=np.full(first_array(call(name)).shape, 77, OPS[name].out)) == text
    assert pickle.dumps({**OPS[name].good, **changes}) == before


def test_a_nan_is_refused_at_all():
    assert ("quantize", "x") in REALS
    assert refusal("quantize", x=np.float32([1.0, np.nan])).startswith("x: has NaN")

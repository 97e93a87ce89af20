"""What prepared ops refuse: bad arguments when they are made, bad data and a wrong `out` when they are called."""

import pickle
import re

import numpy as np
import pytest
from bad import bad_arguments, bad_outputs
from ops import OPS, PREPARED, first_array, same
from prepared_ops import CALL, kind_of, made, parts

NAMED = pytest.mark.parametrize("name", PREPARED)
SEEN_BY_CALLS = {("rules.Requantize", "scale"), ("onnx.QuantizeLinear", "y_scale")}
"""Arguments that may be an array, whose length a call compares with the data."""


@NAMED
def test_the_constructor_refuses_bad_arguments_by_name(name):
    of, names = PREPARED[name]
    numbers, data = parts(name)
    for key, value, begins in bad_arguments(of):
        if key not in (*names, *CALL):
            is_seen_late = type(value) is np.ndarray and (name, key) in SEEN_BY_CALLS
            op = kind_of(name)(**numbers | {key: value}) if is_seen_late else None
            with pytest.raises((TypeError, ValueError)) as refused:
                op(**data) if op else kind_of(name)(**numbers | {key: value})
            assert re.match(begins, str(refused.value)), (key, value, str(refused.value))


@NAMED
def test_a_call_refuses_bad_data_by_name(name):
    of, names = PREPARED[name]
    op, data, want = made(name)
    out = np.full(first_array(want).shape, 77, OPS[of].out)
    for key, value, begins in bad_arguments(of):
        if key in (*names, *CALL):
            before = pickle.dumps((data, value, out))
            with pytest.raises((TypeError, ValueError)) as refused:
                op(**{"out": out} | data | {key: value})
            assert re.match(begins, str(refused.value)), (key, value, str(refused.value))
            assert pickle.dumps((data, value, out)) == before
    same(op(**data), want)


@NAMED
def test_a_wrong_out_is_refused_and_changes_nothing(name):
    op, data, want = made(name)
    for out in bad_outputs(np.full(first_array(want).shape, 77, OPS[PREPARED[name][0]].out)):
        before = pickle.dumps((out, data))
        with pytest.raises((TypeError, ValueError), match=r"^out\b"):
            op(**data, out=out)
        assert pickle.dumps((out, data)) == before
    same(op(**data), want)

"""Checks that the ops of nnlib share: numbers are read before any array is looked at."""

import copy

import numpy as np
import pytest
from ops import OPS, function

OTHER_TYPE = {np.dtype(np.uint8): np.int8, np.dtype(np.int32): np.float32, np.dtype(np.float32): np.int32}
OF_ANY_REALS = {  # read after the numbers, of any type
    *("nnlib.quantize", "nnlib.quantize_ref", "nnlib.quantize_int32", "nnlib.quantized_prelu_8"),
}
NNLIB = [name for name in OPS if name.startswith("nnlib.") and name not in OF_ANY_REALS]


def places(value, kind, at=()):
    """Where in a nest of tuples and lists something of that type is."""
    if isinstance(value, kind):
        yield at
    elif isinstance(value, tuple | list):
        for i, part in enumerate(value):
            yield from places(part, kind, (*at, i))


def found(value, at):
    return found(value[at[0]], at[1:]) if at else value


def put(value, at, new):
    """`value` with something new at that place."""
    if not at:
        return new
    parts = list(value)
    parts[at[0]] = put(parts[at[0]], at[1:], new)
    return type(value)(parts)


CASES = [
    pytest.param(name, number, array, id=f"{name}-{number}-{array}")
    for name in NNLIB
    for number in places(list(OPS[name].good.values()), (int, float))
    for array in places(list(OPS[name].good.values()), np.ndarray)
]


@pytest.mark.filterwarnings("ignore:Setting the dtype")  # numpy 2.5 would rather not
@pytest.mark.parametrize(("name", "number", "array"), CASES)
def test_a_number_that_retypes_an_array_is_harmless(name, number, array):
    """It does so when it is asked for its value: a loop that had looked at the array would take it for another."""
    values = copy.deepcopy(list(OPS[name].good.values()))
    data, good = found(values, array), found(values, number)

    class Number:
        def __float__(self):
            data.dtype = OTHER_TYPE.get(data.dtype, data.dtype)
            return float(good)

        def __index__(self):
            return int(float(self))

    arguments = dict(zip(OPS[name].good, put(values, number, Number()), strict=True))
    with pytest.raises(
        TypeError, match=r": expected (uint8|int32|float32|int32 or uint8) data, got (int8|float32|int32)$"
    ):
        function(name)(**arguments)


def test_cases_are_found():
    assert len(CASES) > 100
    assert {"nnlib.quantized_clamp_8", "nnlib.quantized_concat_8", "nnlib.quantized_avg_pool_8"} <= {
        case.values[0] for case in CASES
    }

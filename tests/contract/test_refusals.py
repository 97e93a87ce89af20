"""Bad input to any argument of any op raises what begins with that argument's own name, and changes nothing.

What only the data can show is in test_nan.py.
"""

import copy
import functools
import inspect
import itertools
import pickle
import re
import warnings

import bad
import numpy as np
import pytest
from cases import case
from nested import at, paths, replaced
from ops import OPS, OUTPUTS, call, first_array, function, is_tensor, same

ODD = ["x" * 10_000, -1, 1e38, [[1]], (1, 2, 3), {}, np.zeros(3), np.array("a"), range(3)]


def refused(name, key, value, begins=None):
    """The call raises ValueError or TypeError that begins with the argument's name; no argument has changed."""
    changes = {key: value}
    if name in OUTPUTS and key != "out":
        changes["out"] = np.full(shape_of(name), 77, OPS[name].out)
    before = pickle.dumps({**OPS[name].good, **changes})
    with pytest.raises((ValueError, TypeError)) as caught:  # a warning would be another error
        call(name, **changes)
    assert type(caught.value) in (ValueError, TypeError)
    assert re.match(begins or rf"{key}\b", str(caught.value)), str(caught.value)
    assert text_of(caught.value)
    assert begins or re.match(rf"{key}\b", caught.value.argument), caught.value.argument
    assert len(str(caught.value)) < 650  # the longest list has the names of all rules
    assert pickle.dumps({**OPS[name].good, **changes}) == before


@functools.cache
def shape_of(name):
    return first_array(call(name)).shape


@pytest.mark.parametrize("name", OPS)
def test_what_is_no_number_word_flag_array_or_tensor_is_refused(name):
    for key, value, begins in bad.bad_arguments(name):
        with case(key, value):
            refused(name, key, value, begins)


@pytest.mark.parametrize("name", [name for name in OPS if bad.flags(name)])
def test_flags_may_be_those_of_numpy(name):
    for key, value in itertools.product(bad.flags(name), (True, False)):
        text = refusal(name, **{key: np.bool_(value)})
        assert text == refusal(name, **{key: value})
        if not text:
            same(call(name, **{key: np.bool_(value)}), call(name, **{key: value}))


@pytest.mark.parametrize("name", OPS)
def test_errors_are_short_and_name_arguments(name):
    """Whatever a user passes in place of an argument, it is not repeated in full."""
    parameters = inspect.signature(function(name)).parameters
    for key in parameters:
        for value in ODD:
            text = refusal(name, **{key: value})  # which reads `argument` of the error
            assert len(text) < 650, key
            assert not text or {*bad.blamed_by(text)} <= {*parameters}, f"{key}: {text}"


def refusal(name, **changes):
    """Why a call is refused; "" if it is not."""
    try:
        call(name, **changes)
    except (TypeError, ValueError) as refused:
        return text_of(refused)
    return ""


def text_of(error):
    """The text of an error, which begins with the name of the argument that the error carries."""
    assert str(error).startswith(error.argument), (error.argument, str(error))
    return str(error)


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_refused(name):
    for out in bad.bad_outputs(np.full(shape_of(name), 77, OPS[name].out)):
        refused(name, "out", out)


class Retyping:
    """An integer that makes other types of arrays when it is asked for its value, as an object of a caller's may."""

    def __init__(self, value, arrays):
        self.value, self.arrays = value, arrays

    def __index__(self):
        for x in self.arrays:
            with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):  # numpy 2.5 wants views
                x.dtype = np.uint8 if x.itemsize > 1 else "V1"
        self.arrays = []
        return self.value


class RetypingReal(Retyping):
    """The same, a real number."""

    def __float__(self):
        return float(self.__index__())


def places_of_numbers(name):
    """Where a call has numbers: arguments, those left to their defaults too, and the ends of tensors."""
    good = bad.numbers(name) | OPS[name].good
    ends = [(key, end) for key, value in good.items() if is_tensor(value) for end in (1, 2)]
    return [place for place in [*((key,) for key in good), *ends] if type(at(good, place)) in (int, float)]


@pytest.mark.parametrize("name", [name for name in OPS if paths(OPS[name].good)])
def test_numbers_that_run_code_come_before_arrays(name):
    """Arrays that such a number changes are refused, or read as they were or are: memory beyond them is not."""
    want = call(name)
    for place in places_of_numbers(name):
        good = copy.deepcopy(bad.numbers(name) | OPS[name].good)
        number, arrays = at(good, place), [at(good, path) for path in paths(good)]
        kind = RetypingReal if isinstance(number, float) else Retyping
        try:
            got = call(name, **replaced(good, place, kind(number, arrays)))
        except (TypeError, ValueError):
            continue
        try:
            same(got, want)
        except AssertionError:
            same(got, call(name, **good))


class Counted:
    """A number that counts how often it is asked for its value."""

    def __init__(self, value):
        self.value, self.times = value, 0

    def __index__(self):
        self.times += 1
        return self.value

    __float__ = __index__


@pytest.mark.parametrize("name", [name for name in OPS if bad.numbers(name)])
def test_numbers_are_asked_for_their_value_once(name):
    """Some ask for plain numbers, or arrays of them, where a scale or a zero point may be an array."""
    for key, good in bad.numbers(name).items():
        value = Counted(int(good) if good == int(good) else good)
        text = refusal(name, **{key: value})
        assert value.times == 1 or text.startswith(f"{key}: expected"), f"{key}: {value.times}"

"""Bad input to any argument of any op raises what begins with that argument's own name, and changes nothing.

What only the data can show is in test_nan.py.
"""

import copy
import inspect
import math
import pickle
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import calls_of_tensorflow
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from ops import OPS, OUTPUTS, arrays, call, changed, first_array, function, is_tensor, same

NAN, INF = math.nan, math.inf
NOT_NUMBERS = {
    "text": "1",
    "bytes": b"1",
    "none": None,
    "bool": True,
    "numpy_bool": np.True_,
    "complex": 1j,
    "list": [1.0],
    "array": np.ones(2),
    "masked": np.ma.masked,
    "time": np.timedelta64(1, "s"),
}
NOT_FINITE = {"nan": NAN, "inf": INF, "minus_inf": -INF, "huge": 10**400, "huge_fraction": Fraction(10**400)}
NOT_INTEGERS = {"half": 1.5, "whole_float": 1.0, "huge": 10**400, "decimal": Decimal(1)}
NOT_ARRAYS = {
    "none": lambda x: None,
    "text": lambda x: "codes",
    "objects": lambda x: x.astype(object),
    "complex": lambda x: x.astype(complex),
    "bools": lambda x: x > 0,
    "times": lambda x: x.astype("m8[s]"),
    "records": lambda x: x.astype([("x", x.dtype)]),
    "masked": lambda x: np.ma.masked_equal(x, x.flat[0]),
}
NOT_TENSORS = {
    "none": lambda q, lo, hi: None,
    "number": lambda q, lo, hi: 5,
    "array": lambda q, lo, hi: q,
    "pair": lambda q, lo, hi: (q, lo),
    "four": lambda q, lo, hi: (q, lo, hi, hi),
    "nan": lambda q, lo, hi: (q, NAN, hi),
    "infinite": lambda q, lo, hi: (q, lo, INF),
    "beyond_float32": lambda q, lo, hi: (q, -1e39, 1e39),
    "inverted": lambda q, lo, hi: (q, 3.0, -3.0),
    **{f"{kind}_min": lambda q, lo, hi, value=value: (q, value, hi) for kind, value in NOT_NUMBERS.items()},
    **{f"{kind}_max": lambda q, lo, hi, value=value: (q, lo, value) for kind, value in NOT_NUMBERS.items()},
}
ALLOWED = {  # what the original takes too
    ("isa.hvx_vasr_rnd_sat", "shift", "huge"),  # the instruction looks at the lowest bits alone
    *((f"tensorflow.{name}", key, "inverted") for name, key in calls_of_tensorflow.RANGES_IN_ANY_ORDER),
    *(("tensorflow.quantize_v2", key, "list") for key in ("min_range", "max_range")),  # one number a slice
    *(("tensorflow.dequantize", "input", f"list_{end}") for end in ("min", "max")),
    *(
        ("tensorflow.requantization_range", "input", f"{kind}_{end}")
        for kind in ("list", "array")
        for end in ("min", "max")
    ),
    *((f"onednn.{cell}", "weights_scale", "list") for cell in ("lstm", "gru")),  # scales, of which there may be more
    *((name, "scale", "list") for name in ("explain", "rules.requantize")),  # one a channel
    *(  # ONNX: an input left out is None
        (f"onnx.{name}", f"{operand}_zero_point", "none")
        for name, operands in {
            "quantize_linear": "y",
            "dequantize_linear": "x",
            "matmul_integer": "ab",
            "conv_integer": "xw",
        }.items()
        for operand in operands
    ),
}
ODD = ["x" * 10_000, -1, 1e38, [[1]], (1, 2, 3), {}, np.zeros(3), np.array("a"), range(3)]
RANGES = re.compile("(requested_output_)?(min|max)(_range)?")


def numbers(name):
    """The good values of the arguments that are numbers, those left to their defaults among them."""
    defaults = {p.name: p.default for p in inspect.signature(function(name)).parameters.values()}
    return {key: value for key, value in (defaults | OPS[name].good).items() if type(value) in (int, float)}


def words(name):
    defaults = {p.name: p.default for p in inspect.signature(function(name)).parameters.values()}
    return {key: value for key, value in (defaults | OPS[name].good).items() if type(value) is str}


def allowed(name, key, kind):
    """Whether a bad value of that kind is a good one for this argument."""
    return (kind == "none" and inspect.signature(function(name)).parameters[key].default is None) or (
        (name, key, kind) in ALLOWED
    )


def refused(name, key, value, begins=None):
    """The call raises ValueError or TypeError that begins with the argument's name; no argument has changed."""
    changes = {key: value}
    if name in OUTPUTS and key != "out":
        changes["out"] = np.full(first_array(call(name)).shape, 77, OPS[name].out)
    before = pickle.dumps({**OPS[name].good, **changes})
    with pytest.raises((ValueError, TypeError)) as caught:  # a warning would be another error
        call(name, **changes)
    assert type(caught.value) in (ValueError, TypeError)
    assert re.match(begins or rf"{key}\b", str(caught.value)), str(caught.value)
    assert len(str(caught.value)) < 400
    assert pickle.dumps({**OPS[name].good, **changes}) == before


def number_cases():
    for name in OPS:
        for key, good in numbers(name).items():
            bad = NOT_NUMBERS | (NOT_FINITE if isinstance(good, float) else NOT_INTEGERS)
            for kind in [kind for kind in bad if not allowed(name, key, kind)]:
                yield pytest.param(name, key, bad[kind], id=f"{name}-{key}-{kind}")


@pytest.mark.parametrize(("name", "key", "value"), [*number_cases()])
def test_what_is_no_number_is_refused(name, key, value):
    refused(name, key, value, rf"((output )?range|{key})\b" if RANGES.fullmatch(key) else None)


@pytest.mark.parametrize("value", ["none of these", "", "\udc80", None, 5, b"x", ["vnni"], NAN], ids=ascii)
@pytest.mark.parametrize(("name", "key"), [(name, key) for name in OPS for key in words(name)])
def test_what_is_no_word_is_refused(name, key, value):
    refused(name, key, value)


FLAGS = [
    (name, key)
    for name in OPS
    for key, p in inspect.signature(function(name)).parameters.items()
    if p.annotation in (bool, "bool") or type(p.default) is bool
]


@pytest.mark.parametrize("value", [None, 0, 1, "", "no", [True], np.array([True]), np.zeros(3), NAN], ids=ascii)
@pytest.mark.parametrize(("name", "key"), FLAGS)
def test_what_is_no_flag_is_refused(name, key, value):
    refused(name, key, value, rf"{key}: expected a bool, got ")


@pytest.mark.parametrize(("name", "key"), FLAGS)
def test_flags_may_be_those_of_numpy(name, key):
    for value in (True, False):
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
            text = refusal(name, **{key: value})
            assert len(text) < 600, key
            blamed = re.sub(r"\[\d+\]|(?<!,) (min|max|codes)\b", "", text.partition(":")[0]).split(", ")
            assert not text or {*blamed} <= {*parameters, "range", "output range"}, f"{key}: {text}"


def refusal(name, **changes):
    """Why a call is refused; "" if it is not."""
    try:
        call(name, **changes)
    except (TypeError, ValueError) as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize(
    ("name", "key", "kind"),
    [(n, key, kind) for n in OPS for key in arrays(n) for kind in NOT_ARRAYS if not allowed(n, key, kind)],
)
def test_what_is_no_array_is_refused(name, key, kind):
    refused(name, key, changed(name, key, NOT_ARRAYS[kind]))


@pytest.mark.parametrize(
    ("name", "key", "kind"),
    [
        (name, key, kind)
        for name in OPS
        for key in arrays(name)
        for kind in NOT_TENSORS
        if is_tensor(OPS[name].good[key]) and not allowed(name, key, kind)
    ],
)
def test_what_is_no_tensor_is_refused(name, key, kind):
    refused(name, key, NOT_TENSORS[kind](*OPS[name].good[key]))


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_refused(name):
    dtype = np.dtype(OPS[name].out)
    good = np.full(first_array(call(name)).shape, 77, dtype)
    read_only = good.copy()
    read_only.flags.writeable = False
    first = [slice(0, 1)] * good.ndim
    for out in (
        good.astype(np.float64),
        good.astype(np.uint16),
        good.astype(object),
        good.tolist(),
        bytearray(good.nbytes),
        good[None],
        good.ravel()[: good.size // 2],
        read_only,
        as_strided(good[tuple(first)], good.shape, (0,) * good.ndim),
        as_strided(good, strides=(good.itemsize,) * good.ndim),
        *([good.astype(dtype.newbyteorder(">"))] if dtype.itemsize > 1 else []),
    ):
        refused(name, "out", out)


class Index:
    """An integer that runs code when it is asked for its value: it makes other types of arrays."""

    def __init__(self, value, arrays):
        self.value, self.arrays = value, arrays

    def __index__(self):
        while self.arrays:
            x = self.arrays.pop()
            with warnings.catch_warnings(category=DeprecationWarning, action="ignore"):  # numpy 2.5 wants views
                x.dtype = np.uint8 if x.itemsize > 1 else "V1"
        return self.value


class Real(Index):
    def __float__(self):
        self.__index__()
        return float(self.value)


def arrays_in(value):
    if isinstance(value, (list, tuple)):
        return [x for part in value for x in arrays_in(part)]
    return [value] if isinstance(value, np.ndarray) and value.ndim else []


def calls_with_code(name):
    """The good call on copies of its arrays, and the same with one number, each in turn, replaced by a `Real`."""
    for key, good in (OPS[name].good | numbers(name)).items():
        for end in (1, 2) if is_tensor(good) else (0,) if type(good) in (int, float) else ():
            plain = copy.deepcopy(OPS[name].good)
            parts = [*plain[key]] if end else [good]
            if type(parts[end]) in (int, float):
                kind = Real if isinstance(parts[end], float) else Index
                parts[end] = kind(parts[end], arrays_in([*plain.values()]))
                yield plain, {**plain, key: tuple(parts) if end else parts[0]}


@pytest.mark.parametrize("name", [name for name in OPS if arrays_in([*OPS[name].good.values()])])
def test_numbers_that_run_code_come_before_arrays(name):
    """Arrays that such a number changes are refused, or read as they were or are: memory beyond them is not."""
    want = call(name)
    for plain, changes in calls_with_code(name):
        try:
            got = call(name, **changes)
        except (TypeError, ValueError):
            continue
        try:
            same(got, want)
        except AssertionError:
            same(got, call(name, **plain))


class Counted(Real):
    """A number that counts how often it is asked for its value."""

    times = 0

    def __index__(self):
        self.times += 1
        return self.value

    __float__ = __index__


@pytest.mark.parametrize("name", [name for name in OPS if numbers(name)])
def test_numbers_are_asked_for_their_value_once(name):
    """Some ask for plain numbers, or arrays of them, where a scale or a zero point may be an array."""
    for key, good in numbers(name).items():
        value = Counted(int(good) if good == int(good) else good, [])
        text = refusal(name, **{key: value})
        assert value.times == 1 or text.startswith(f"{key}: expected"), f"{key}: {value.times}"

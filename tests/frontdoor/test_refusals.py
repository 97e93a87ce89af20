"""Bad input of every front-door op raises what names the argument and the value, and changes nothing."""

import math
import pickle
import re
from inspect import signature

import numpy as np
import pytest
from calls.parts import CODES, CODES_32, OTHER, REALS
from cases import case
from numpy.lib.stride_tricks import as_strided
from ops import FRONT_DOOR, OPS, first_array, function

import qops

NAN, INF = math.nan, math.inf
ARGUMENTS = {name: OPS[name].good for name in FRONT_DOOR}
ARGUMENTS["matmul"] = {**ARGUMENTS["matmul"], "b": (ARGUMENTS["matmul"]["b"][0], 0.0, 3.0)}  # one range
OUTPUTS = {name: OPS[name].out for name in FRONT_DOOR if OPS[name].out}
TENSORS = [(name, key) for name, arguments in ARGUMENTS.items() for key in arguments if key in {"a", "b", "t"}]
NUMBERS = [(name, key) for name, arguments in ARGUMENTS.items() for key in arguments if key in {"min", "max"}]
BAD_TRIPLES = {
    "nan_min": (lambda q, lo, hi: (q, NAN, hi), r"\(nan, \d.0\) is not finite"),
    "infinite_max": (lambda q, lo, hi: (q, lo, INF), r"-?\d.0, inf\)"),
    "infinite_both": (lambda q, lo, hi: (q, -INF, INF), r"\(-inf, inf\) is not finite"),
    "beyond_float32": (lambda q, lo, hi: (q, -1e39, 1e39), r"\(-1e\+39, 1e\+39\) is not finite in float32"),
    "inverted": (lambda q, lo, hi: (q, 3.0, -3.0), r"min 3.0 > max -3.0"),
    "text_min": (lambda q, lo, hi: (q, "0", hi), r"min: expected a number, got '0'"),
    "bytes_max": (lambda q, lo, hi: (q, lo, b"1"), r"max: expected a number, got b'1'"),
    "none_max": (lambda q, lo, hi: (q, lo, None), r"max: expected a number, got None"),
    "bool_max": (lambda q, lo, hi: (q, lo, True), r"max: expected a number, got True"),
    "complex_max": (lambda q, lo, hi: (q, lo, 1j), r"max: expected a number, got 1j"),
    "array_max": (lambda q, lo, hi: (q, lo, np.ones(5)), "(range per channel, this op|do not fit the data's)"),
    "huge_integer": (lambda q, lo, hi: (q, lo, 10**5000), r"max: an integer of 16610 bits is beyond every float"),
    "pair": (lambda q, lo, hi: (q, lo), r"expected a \(data, min, max\) triple, got 2 parts"),
    "bare_vector": (lambda q, lo, hi: q[0], r"expected a \(data, min, max\) triple, got ndarray"),
    "bare_array": (lambda q, lo, hi: q, r"expected a \(data, min, max\) triple, got ndarray"),
    "number": (lambda q, lo, hi: 5, r"expected a \(data, min, max\) triple, got int"),
    "none": (lambda q, lo, hi: None, r"expected a \(data, min, max\) triple, got NoneType"),
    "float_codes": (lambda q, lo, hi: (q.astype(np.float32), lo, hi), r"expected .*int.* data, got float32"),
    "int64_codes": (lambda q, lo, hi: (q.astype(np.int64), lo, hi), r"expected .*int.* data, got int64"),
    "uint32_codes": (lambda q, lo, hi: (q.astype(np.uint32), lo, hi), r"expected .*int.* data, got uint32"),
    "bool_codes": (lambda q, lo, hi: (q > 0, lo, hi), r"expected .*int.* data, got bool"),
    "object_codes": (lambda q, lo, hi: (q.astype(object), lo, hi), r"expected .*int.* data, got object"),
    "list_of_codes": (
        lambda q, lo, hi: ((q.astype(np.int64) + 2**40).tolist(), lo, hi),
        r"expected .*int.* data, got int64",
    ),
    "text_codes": (lambda q, lo, hi: ("codes", lo, hi), r"expected .*int.* data, got <U5"),
}


def refuses(name, changes, text, out=None):
    """The call raises ValueError or TypeError with `text`; no array, of the arguments or `out`, has changed."""
    arguments = {**ARGUMENTS[name], **changes}
    if out is not None:
        arguments["out"] = out
    before = pickle.dumps(arguments)
    with pytest.raises((ValueError, TypeError), match=text) as caught:
        function(name)(**arguments)
    assert type(caught.value) in (ValueError, TypeError)
    assert pickle.dumps(arguments) == before
    return caught.value


def sentinel(name):
    """An `out` whose bytes show whether it was written to."""
    return np.full((2, 3), 77, OUTPUTS[name]) if name in OUTPUTS else None


@pytest.mark.parametrize(("name", "key"), TENSORS)
def test_tensors_are_refused(name, key):
    for kind, (make, text) in BAD_TRIPLES.items():
        with case(kind):
            refuses(name, {key: make(*ARGUMENTS[name][key])}, f"^{key}.*{text}", sentinel(name))


@pytest.mark.parametrize("name", ["dequantize", "requantization_range", "requantize_32to8", "error"])
def test_int32_ranges_that_are_not_symmetric_are_refused(name):
    refuses(
        name,
        {"t": (CODES_32, -4.0, 3.0)},
        r"^t: the range \(-4.0, 3.0\) of int32 codes is not symmetric",
        sentinel(name),
    )


@pytest.mark.parametrize(
    ("name", "wrong"), [("quantized_add_8p8to8", "a"), ("quantized_add_8p8to32", "b"), ("requantize_32to8", "t")]
)
def test_codes_of_the_other_type_are_refused(name, wrong):
    other = (CODES if name == "requantize_32to8" else CODES_32, -1.0, 1.0)
    refuses(name, {wrong: other}, f"^{wrong}: expected u?int.* data, got u?int", sentinel(name))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NAN, "nan"),
        (INF, "inf"),
        (-INF, "-inf"),
        (1e39, r"1e\+39"),
        ("1", "expected a number, got '1'"),
        (True, "expected a number, got True"),
        (np.True_, "expected a number, got np.True_"),
        (np.complex128(1), "expected a number, got np.complex128"),
        (np.array("1"), "expected a number, got array"),
        (["1"], r"expected (a number, got \['1'\]|real numbers, got <U1)"),
        (np.zeros(2), "(expected a number, got array|do not fit the data's)"),
        (10**400, "an integer of 1329 bits is beyond every float"),
    ],
    ids=str,
)
@pytest.mark.parametrize(("name", "key"), NUMBERS)
def test_ends_of_ranges_are_refused(name, key, value, text):
    refuses(name, {key: value}, f"^({key}|min, max): .*{text}", sentinel(name))


@pytest.mark.parametrize("name", [name for name in FRONT_DOOR if "dtype" in signature(function(name)).parameters])
@pytest.mark.parametrize("dtype", ["codes", "float32", None, 8])
def test_a_dtype_that_codes_do_not_have_is_a_type_error(name, dtype):
    with pytest.raises(TypeError, match=r"^dtype: expected "):
        function(name)(**ARGUMENTS[name] | {"dtype": dtype})


@pytest.mark.parametrize("name", sorted({name for name, _ in NUMBERS}))
def test_inverted_ranges_are_refused(name):
    refuses(name, {"min": 5.5, "max": -5.5}, "^min, max: .*min 5.5 > max -5.5", sentinel(name))


@pytest.mark.parametrize(
    ("guess", "text"),
    [
        ((NAN, None), "guess min: nan is not a finite float32"),
        ((None, INF), "guess max: inf is not a finite float32"),
        ((NAN, 1.0), r"guess: the range \(nan, 1.0\) is not finite"),
        ((2.0, 1.0), "guess: min 2.0 > max 1.0"),
        (("1", None), "guess min: expected a number, got '1'"),
        ((0.0, "1"), "guess max: expected a number, got '1'"),
        ((1.0,), r"guess: expected \(min, max\), got \(1.0,\)"),
        ((1.0, 2.0, 3.0), r"guess: expected \(min, max\), got \(1.0, 2.0, 3.0\)"),
        (3.0, r"guess: expected \(min, max\), got 3.0"),
        ("ab", "guess min: expected a number, got 'a'"),
    ],
    ids=str,
)
def test_guesses_are_refused(guess, text):
    refuses("quantized_add_8p8to8", {"guess": guess}, text, sentinel("quantized_add_8p8to8"))


@pytest.mark.parametrize(("name", "largest"), [("quantized_add_8p8to32", 2.0**110), ("quantized_add_8p8to8", 3e38)])
def test_sums_beyond_float32_are_refused(name, largest):
    for a, b in (((-largest, 1.0), (-largest, 0.0)), ((0.0, largest), (1.0, largest))):
        refuses(name, {"a": (CODES, *a), "b": (OTHER, *b)}, r"^a, b: .*e\+3.*beyond float32", sentinel(name))


@pytest.mark.parametrize("name", ["quantized_add_8p8to32", "quantized_add_8p8to8"])
@pytest.mark.parametrize(("one", "two"), [((2, 3), (3, 2)), ((4,), (3,)), ((0,), (2,)), ((2, 1, 3), (4, 2, 2))])
def test_shapes_that_do_not_broadcast_are_refused(name, one, two):
    changes = {"a": (np.zeros(one, np.uint8), 0.0, 1.0), "b": (np.zeros(two, np.uint8), 0.0, 1.0)}
    error = refuses(name, changes, "do not broadcast")
    assert f"shapes {one} and {two}" in str(error)


def result_of(name):
    """The array that the good call gives."""
    return first_array(function(name)(**ARGUMENTS[name]))


@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_refused(name):
    dtype = np.dtype(OUTPUTS[name])
    good = np.full(result_of(name).shape, 77, dtype)
    rest, expected = good.shape[1:], re.escape(str(good.shape))
    read_only = good.copy()
    read_only.flags.writeable = False
    wrong = np.float64 if dtype != np.float32 else np.int32
    other = np.dtype(np.int8 if dtype != np.int8 else np.uint8)
    for out, text in (
        (good.astype(wrong), f"out: expected native {dtype}, got dtype\\('{np.dtype(wrong)}'\\)"),
        (good.astype(other), f"out: expected native {dtype}, got dtype\\('{other}'\\)"),
        (good.tolist(), "out: expected an ndarray, got list"),
        (bytearray(24), "out: expected an ndarray, got bytearray"),
        (read_only, "out: is read-only"),
        (as_strided(good, strides=(0, *good.strides[1:])), "out: elements share memory"),
        (as_strided(good, strides=(good.itemsize,) * good.ndim), "out: elements share memory"),
    ):
        refuses(name, {}, text, out)
    for shape in ((1, *rest), (3, *rest), (*rest, 7), (good.size,), (1, *good.shape)):
        text = rf"out: shape {re.escape(str(shape))}, expected {expected}"
        if shape != good.shape:
            refuses(name, {}, text, np.full(shape, 77, dtype))
    if dtype.itemsize > 1:
        refuses(name, {}, f"out: expected native {dtype}, got dtype\\('>", good.astype(dtype.newbyteorder(">")))


@pytest.mark.parametrize("name", ["quantized_add_8p8to8", "quantized_add_8p8to32"])
def test_outputs_must_have_the_broadcast_shape(name):
    changes = {"a": (CODES[:, :1], 0.0, 1.0), "b": (OTHER[:1], 0.0, 1.0)}
    for shape in ((2, 1), (1, 3), (3,), (3, 2)):
        out = np.full(shape, 77, OUTPUTS[name])
        refuses(name, changes, rf"out: shape \({str(shape)[1:-1]}\), expected \(2, 3\)", out)


@pytest.mark.parametrize("name", OUTPUTS)
def test_overlapping_outputs_are_refused(name):
    made, item = result_of(name), np.dtype(OUTPUTS[name])
    for key, good in ARGUMENTS[name].items():
        codes = good[0] if isinstance(good, tuple) else good
        if not isinstance(codes, np.ndarray):
            continue
        bytes_wide = max(item.itemsize, codes.itemsize)
        memory = np.zeros(2048, np.uint8)
        flat = memory[: made.size * item.itemsize].view(item), memory[: codes.nbytes].view(codes.dtype)
        pairs = [
            flat,
            (flat[0], memory[bytes_wide:][: codes.nbytes].view(codes.dtype)),
            (memory[bytes_wide:][: made.size * item.itemsize].view(item), flat[1]),
            (flat[0], flat[1][::-1]),
            (flat[0], memory[: 2 * codes.nbytes].view(codes.dtype)[::2]),
        ]
        for out, x in pairs:
            x = x.reshape(codes.shape)
            assert np.shares_memory(x, memory)
            change = {key: (x, *good[1:]) if isinstance(good, tuple) else x}
            refuses(name, change, "out: shares memory with an input", out.reshape(made.shape))


@pytest.mark.parametrize(
    ("name", "changes", "text"),
    [
        ("quantize", {"x": "text"}, "x: expected real numbers, got <U4"),
        ("quantize", {"x": [1j]}, "x: expected real numbers, got complex128"),
        ("quantize", {"x": [True]}, "x: expected real numbers, got bool"),
        ("quantize", {"x": [None]}, "x: expected real numbers, got object"),
        ("multiply_shift", {"x": [0.5]}, "x: expected integers, got float64"),
        ("multiply_shift", {"x": "5"}, "x: expected integers, got <U1"),
        ("multiply_shift", {"x": [True]}, "x: expected integers, got bool"),
        ("multiply_shift", {"factor": NAN}, "factor: nan is not finite"),
        ("multiply_shift", {"factor": -INF}, "factor: -inf is not finite"),
        ("multiply_shift", {"factor": "0.3"}, "factor: expected a number, got '0.3'"),
        ("multiply_shift", {"factor": None}, "factor: expected a number, got None"),
        ("multiply_shift", {"bits": 7.0}, "bits: expected an integer, got 7.0"),
        ("multiply_shift", {"bits": "7"}, "bits: expected an integer, got '7'"),
        ("multiply_shift", {"bits": True}, "bits: expected an integer, got True"),
        ("fixedpoint.apply_multiplier", {"x": [2**31]}, "x: int32 does not hold its values, 2147483648"),
        ("fixedpoint.apply_multiplier", {"x": REALS}, "x: expected integers, got float32"),
        ("fixedpoint.apply_multiplier", {"multiplier": 0.5}, "multiplier: expected an integer, got 0.5"),
        ("fixedpoint.apply_multiplier", {"multiplier": "1"}, "multiplier: expected an integer, got '1'"),
        ("fixedpoint.apply_multiplier", {"multiplier": 2**31}, "multiplier: 2147483648 is not within 31 bits"),
        ("fixedpoint.apply_multiplier", {"right_shift": 1.0}, "right_shift: expected an integer, got 1.0"),
        ("fixedpoint.apply_multiplier", {"right_shift": -1}, "right_shift: -1 is not in 0..62"),
        ("fixedpoint.apply_multiplier", {"rounding": "up"}, "rounding: expected one of floor, truncate"),
        ("fixedpoint.quantize_multiplier", {"factor": "1"}, "factor: expected a number, got '1'"),
        ("fixedpoint.quantize_multiplier", {"factor": NAN}, "factor: nan is not finite"),
        ("affine.max_abs", {"limit": -1.0}, "limit: -1.0 < 0"),
        ("affine.symmetric", {"limit": "1"}, "limit: expected a number, got '1'"),
        ("affine.exact", {"max": 1.625}, r"^min, max: in \(-1.0, 1.625\) 0 is at code 97.1429, not on a code"),
        ("error", {"reference": [NAN, 0.0, 0.0]}, "reference: has values that are NaN"),
        ("error", {"reference": "text"}, "reference: expected real numbers, got <U4"),
    ],
)
def test_other_arguments_are_refused(name, changes, text):
    refuses(name, changes, f"^{text}", sentinel(name))


def test_every_op_is_refused_something():
    """No op is left out of this file."""
    covered = {name for name, _ in TENSORS} | {name for name, _ in NUMBERS} | set(OUTPUTS)
    covered |= {"fixedpoint.quantize_multiplier", "affine.max_abs", "affine.symmetric"}
    covered |= {"range_of"}  # in test_observer.py
    assert covered == set(ARGUMENTS)


def test_refusals_are_the_same_through_keywords_and_positions():
    with pytest.raises(TypeError, match="a: expected a"):
        qops.quantized_add_8p8to8(5, (CODES, 0.0, 1.0))
